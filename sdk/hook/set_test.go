package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func keep[T any](_ context.Context, v T) (T, error) { return v, nil }
func hear[T any](context.Context, T) error          { return nil }

func TestSetErr(t *testing.T) {
	for name, c := range map[string]struct {
		set  Set
		want []string // none: nothing is wrong
	}{
		"right":          {Set{On("run.created", hear[sdk.RunEvent]), Filter("entry.recording", keep[sdk.Recording]).Priority(0).Closed()}, nil},
		"raw":            {Set{On("run.created", hear[json.RawMessage]), Filter("instructions.tool_docs", keep[map[string]string])}, nil},
		"misspelled":     {Set{On("run.creatde", hear[sdk.RunEvent])}, []string{`there is no hook "run.creatde"; the nearest name is "run.created"`}},
		"camelCase":      {Set{Filter("turn.beforeDispatch", keep[sdk.Prompt])}, []string{`the nearest name is "turn.before_dispatch"`}},
		"of clients":     {Set{On("ui.notify", hear[sdk.Notice]), Filter("rpc.request", keep[sdk.SocketRequest]).Closed()}, nil},
		"an event":       {Set{Filter("run.created", keep[sdk.RunEvent])}, []string{"run.created: it is an event: make it with hook.On"}},
		"a filter":       {Set{On("entry.recording", hear[sdk.Recording])}, []string{"entry.recording: it is a filter: make it with hook.Filter"}},
		"another type":   {Set{Filter("entry.recording", keep[sdk.Prompt])}, []string{"it carries sdk.Recording, and the function takes sdk.Prompt"}},
		"a closed event": {Set{On("run.created", hear[sdk.RunEvent]).Closed()}, []string{"cannot fail closed"}},
		"twice":          {Set{On("run.reset", hear[sdk.RunEvent]), On("run.reset", hear[sdk.RunEvent])}, []string{"run.reset: it is subscribed to twice"}},
		"all at once":    {Set{On("a", hear[sdk.RunEvent]), On("b", hear[sdk.RunEvent])}, []string{`no hook "a"`, `no hook "b"`}},
	} {
		err := c.set.Err()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range c.want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", name, err, w)
			}
		}
	}
}

func TestSetSubscriptions(t *testing.T) {
	subs := Set{
		On("run.created", hear[sdk.RunEvent]),
		Filter("entry.recording", keep[sdk.Recording]).Priority(0).Closed(),
		Filter("llm.messages", keep[sdk.Prompt]).Priority(-3),
	}.Subscriptions()
	want := []sdk.Subscription{
		{Name: "run.created", Priority: sdk.DefaultPriority},
		{Name: "entry.recording", Priority: 0, Failure: sdk.FailClosed},
		{Name: "llm.messages", Priority: -3},
	}
	for i, w := range want {
		if subs[i] != w {
			t.Errorf("%+v, want %+v", subs[i], w)
		}
	}
}

func TestSetHears(t *testing.T) {
	var heard sdk.RunEvent
	set := Set{
		On("run.created", func(_ context.Context, e sdk.RunEvent) error { heard = e; return errors.New("no room") }),
		Filter("entry.recording", func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			if r.Tool == "rm" {
				r.State, r.Outcome = sdk.StateFailed, sdk.Permission
			}
			return r, nil
		}),
	}
	if err := set.Event(t.Context(), "run.created", json.RawMessage(`{"project":"/p","later":1}`)); err == nil || heard.Project != "/p" {
		t.Errorf("%+v %v", heard, err)
	}
	if err := set.Event(t.Context(), "run.created", json.RawMessage(`[1]`)); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a payload of another type: %v", err)
	}
	if err := set.Event(t.Context(), "entry.recording", json.RawMessage(`{}`)); err != nil {
		t.Errorf("a filter is no event: %v", err)
	}
	for _, c := range [][2]string{
		{`{"tool":"set","run":12345678901234567890123}`, ""}, // does not fit the type
		{`{"tool":"set", "later": {"b":1}}`, `{"tool":"set", "later": {"b":1}}`},
		{`{"tool":"rm","run":7,"later":{"b":1.50},"attributes":{"x":"<>"}}`,
			`{"attributes":{"x":"<>"},"later":{"b":1.50},"outcome":"permission","run":7,"state":"failed","tool":"rm"}`},
	} {
		out, err := set.Filter(t.Context(), "entry.recording", json.RawMessage(c[0]))
		if c[1] == "" && err == nil || c[1] != "" && (err != nil || !within(t, c[1], string(out))) {
			t.Errorf("%s became %s (%v)", c[0], out, err)
		}
	}
	if out, err := set.Filter(t.Context(), "no.such_filter", json.RawMessage(`[1, 2]`)); err != nil || string(out) != `[1, 2]` {
		t.Errorf("an unknown filter: %s %v", out, err)
	}
}

// within reports whether every member of want is in got, byte for byte.
func within(t *testing.T, want, got string) bool {
	t.Helper()
	var w, g map[string]json.RawMessage
	if json.Unmarshal([]byte(want), &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		t.Fatalf("no objects: %s, %s", want, got)
	}
	for name := range w {
		if string(w[name]) != string(g[name]) {
			return false
		}
	}
	return true
}

func TestMerge(t *testing.T) {
	for name, c := range map[string][4]string{
		"nothing changed":   {`{"b": 1, "a":2}`, `{"a":2}`, `{"a":2}`, `{"b": 1, "a":2}`},
		"a change":          {`{"a":1,"x":1}`, `{"a":1}`, `{"a":2}`, `{"a":2,"x":1}`},
		"one taken away":    {`{"a":1,"x":1}`, `{"a":1}`, `{}`, `{"x":1}`},
		"one added":         {`{"x":1}`, `{}`, `{"a":1}`, `{"a":1,"x":1}`},
		"one that is empty": {`{"a":"","b":1}`, `{"b":1}`, `{"b":2}`, `{"a":"","b":2}`},
		"empty, then not":   {`{"a":""}`, `{}`, `{"a":"v"}`, `{"a":"v"}`},
		"within":            {`{"o":{"a":1,"x":1}}`, `{"o":{"a":1}}`, `{"o":{"a":2}}`, `{"o":{"a":2,"x":1}}`},
		"another kind":      {`{"o":{"a":1}}`, `{"o":{"a":1}}`, `{"o":[1]}`, `{"o":[1]}`},
		"appended":          {`[{"a":1,"x":1}]`, `[{"a":1}]`, `[{"a":1},{"a":2}]`, `[{"a":1,"x":1},{"a":2}]`},
		"put first":         {`[{"a":1,"x":1}]`, `[{"a":1}]`, `[{"a":0},{"a":1}]`, `[{"a":0},{"a":1,"x":1}]`},
		"taken out":         {`[{"a":1,"x":1},{"a":2,"x":2},{"a":3,"x":3}]`, `[{"a":1},{"a":2},{"a":3}]`, `[{"a":1},{"a":3}]`, `[{"a":1,"x":1},{"a":3,"x":3}]`},
		"one in the middle": {`[{"a":1,"x":1},{"a":2,"x":2}]`, `[{"a":1},{"a":2}]`, `[{"a":1},{"a":5}]`, `[{"a":1,"x":1},{"a":5,"x":2}]`},
		"long numbers":      {`{"n":12345678901234567890,"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":2,"n":12345678901234567890}`},
	} {
		got, err := merge(json.RawMessage(c[0]), json.RawMessage(c[1]), json.RawMessage(c[2]))
		if err != nil || string(got) != c[3] {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c[3])
		}
	}
}

// TestMergeKeepsAndTakes: whatever a filter makes of a value that its type
// knows wholly, that is the result; and what the type knows nothing of stays.
func TestMergeKeepsAndTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := tree(3).Draw(t, "before"), tree(3).Draw(t, "after")
		b, errB := json.Marshal(before)
		a, errA := json.Marshal(after)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		got, err := merge(b, b, a)
		if err != nil || !sameJSON(got, a) {
			t.Fatalf("%s to %s gave %s (%v)", b, a, got, err)
		}
		whole, _ := json.Marshal(map[string]any{"v": before, "later": after})
		vb, _ := json.Marshal(map[string]any{"v": before})
		va, _ := json.Marshal(map[string]any{"v": after})
		got, err = merge(whole, vb, va)
		var out map[string]json.RawMessage
		if err != nil || json.Unmarshal(got, &out) != nil || !sameJSON(out["v"], a) || !sameJSON(out["later"], a) {
			t.Fatalf("%s gave %s (%v)", whole, got, err)
		}
	})
}

func tree(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch k := rapid.IntRange(0, 4).Draw(t, "kind"); {
		case k == 0 && depth > 0:
			return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), tree(depth-1), 0, 3).Draw(t, "object")
		case k == 1 && depth > 0:
			return rapid.SliceOfN(tree(depth-1), 0, 4).Draw(t, "array")
		case k == 2:
			return rapid.SampledFrom([]string{"", "<&>", "é"}).Draw(t, "text")
		case k == 3:
			return nil
		}
		return rapid.Int().Draw(t, "number")
	})
}

func sameJSON(a, b []byte) bool {
	whole, err := merge(a, a, b)
	if err != nil {
		return false
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && len(whole) > 0 && canonical(x) == canonical(y)
}

func canonical(v any) string {
	b, _ := json.Marshal(v) // it was read from JSON
	return string(b)
}
