package guard

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestCallsCompare(t *testing.T) {
	recorded := func(attributes string) digest {
		return recordedCall(sdk.Recording{Tool: "t", Attributes: []byte(attributes)}).sum
	}
	committed := func(attributes string, wrote ...sdk.Call) digest {
		a, err := sdk.ActionOf(sdk.Entry{Attributes: []byte(attributes)})
		if err != nil {
			t.Fatal(err)
		}
		return earlierCall(a, func() sdk.Completion { return sdk.Completion{Calls: wrote} }).sum
	}
	one := recorded(`{"tool":"t","arguments":{"a":1,"b":{"c":2,"d":3}},"index":0}`)
	for name, other := range map[string]digest{
		"the order of keys":     recorded(`{"tool":"t","arguments":{"b":{"d":3,"c":2},"a":1},"index":7}`),
		"a member that is null": recorded(`{"tool":"t","arguments":{"a":1,"b":{"c":2,"d":3,"e":null},"f":null}}`),
		"text that holds it":    recorded(`{"tool":"t","arguments":"{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"}`),
		"the entry":             committed(`{"tool":"t","call_id":"x","arguments":{"a":1,"b":{"c":2,"d":3}}}`),
		"a changed entry":       committed(`{"tool":"t","call_id":"x","arguments":{"a":9},"changed":"{\"a\":9}"}`, sdk.Call{ID: "y", Arguments: "{}"}, sdk.Call{ID: "x", Arguments: `{"b":{"c":2,"d":3},"a":1}`}),
	} {
		if one != other {
			t.Errorf("%s makes a difference", name)
		}
	}
	if recorded(`{"tool":"p__t","plugin":"p","arguments":{}}`) != recorded(`{"tool":"t","plugin":"p","arguments":{}}`) {
		t.Error("a tool's other name makes a difference")
	}
	for name, pair := range map[string][2]string{
		"another value":  {`{"tool":"t","arguments":{"a":1}}`, `{"tool":"t","arguments":{"a":1.5}}`},
		"a long number":  {`{"tool":"t","arguments":{"a":10000000000000001}}`, `{"tool":"t","arguments":{"a":10000000000000002}}`},
		"another plugin": {`{"tool":"p__t","plugin":"p","arguments":{}}`, `{"tool":"q__t","plugin":"q","arguments":{}}`},
		"another tool":   {`{"tool":"t","arguments":{}}`, `{"tool":"u","arguments":{}}`},
		"broken text":    {`{"tool":"t","arguments":"{\"a"}`, `{"tool":"t","arguments":"{\"b"}`},
	} {
		if recorded(pair[0]) == recorded(pair[1]) {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// TestEveryGuardHasItsRule finds a field of sdk.Guards that no rule reads.
func TestEveryGuardHasItsRule(t *testing.T) {
	text, err := os.ReadFile("guard.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[sdk.Guards]()) {
		if !strings.Contains(string(text), "r."+f.Name) {
			t.Errorf("guard.go makes no rule of sdk.Guards.%s", f.Name)
		}
	}
}

// TestFingerprints: what a model tells by update and think hides no pattern of turns; what it does makes one, and so does a
// tool of a plugin that has such a name.
func TestFingerprints(t *testing.T) {
	of := func(calls ...string) digest {
		var all []madeCall
		for _, attributes := range calls {
			all = append(all, recordedCall(sdk.Recording{Attributes: []byte(attributes)}))
		}
		return fingerprint(all)
	}
	const (
		get    = `{"tool":"get","plugin":"bothy","arguments":{"path":"a"}}`
		update = `{"tool":"update","plugin":"bothy","arguments":{"body":"one","status":102}}`
	)
	for name, pair := range map[string][2]digest{
		"another word of update":      {of(get, update), of(get, `{"tool":"update","plugin":"bothy","arguments":{"status":102,"body":"two"}}`)},
		"update by its other name":    {of(update), of(`{"tool":"bothy__update","plugin":"bothy","arguments":{"status":102}}`)},
		"another thought":             {of(`{"tool":"think","plugin":"bothy","arguments":{"body":"hm"}}`), of(`{"tool":"think","plugin":"bothy","arguments":{"body":"well"}}`)},
		"the order, with other words": {of(update, get), of(get, `{"tool":"update","plugin":"bothy","arguments":{"status":102,"body":""}}`)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s makes another turn", name)
		}
	}
	for name, pair := range map[string][2]digest{
		"another status":           {of(update), of(`{"tool":"update","plugin":"bothy","arguments":{"body":"one","status":422}}`)},
		"a body that is written":   {of(`{"tool":"set","plugin":"bothy","arguments":{"path":"a","body":"x"}}`), of(`{"tool":"set","plugin":"bothy","arguments":{"path":"a","body":"y"}}`)},
		"one thought more":         {of(get), of(get, `{"tool":"think","plugin":"bothy","arguments":{"body":"hm"}}`)},
		"a plugin's own update":    {of(`{"tool":"update","plugin":"p","arguments":{"body":"x"}}`), of(`{"tool":"update","plugin":"p","arguments":{"body":"y"}}`)},
		"a plugin's own think":     {of(`{"tool":"think","plugin":"p","arguments":{"body":"x"}}`), of(`{"tool":"think","plugin":"bothy","arguments":{"body":"x"}}`)},
		"a thought that is broken": {of(`{"tool":"think","plugin":"bothy","arguments":"{\"body"}`), of(`{"tool":"think","plugin":"bothy","arguments":"{\"bod"}`)},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s makes no other turn", name)
		}
	}
	if a, b := recordedCall(sdk.Recording{Attributes: []byte(update)}), recordedCall(sdk.Recording{Attributes: []byte(strings.Replace(update, "one", "two", 1))}); a.sum == b.sum {
		t.Error("to the guards that look at calls they are the same")
	}
}
