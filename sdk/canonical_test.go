package sdk

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, `{}`},
		{` { } `, `{}`},
		{`{"b":1, "a" : [true,false,null , {"d":"x","c":[]}]}`, `{"a":[true,false,null,{"c":[],"d":"x"}],"b":1}`},
		{`{"n":[1.0,10,1e2,9007199254740993,-0,0.10]}`, `{"n":[1.0,10,1e2,9007199254740993,-0,0.10]}`},
		{`{"s":"\u003c\u20ac$\u000f\nA'B\"\\\b\f\t\r\/"}`, `{"s":"<€$\u000f\nA'B\"\\\b\f\t\r/"}`},
		{`{"a":"\u2028 \u007f é"}`, "{\"a\":\"\u2028 \u007f é\"}"},
		// RFC 8785, section 3.2.3: by UTF-16 code units, not by code points.
		{`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
	} {
		got, err := Canonical(json.RawMessage(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{`[]`, `"x"`, `null`, `{"a":1,"a":1}`, `{"a":{"b":1,"\u0062":2}}`, `{"a":1}{"b":2}`, `{"a":01}`, `{`, `{"a":1} x`} {
		if got, err := Canonical(json.RawMessage(bad)); err == nil || OutcomeOf(err) != Validation {
			t.Errorf("%s gave %s, %v", bad, got, err)
		}
	}
}

// FuzzCanonical: what is written is the same value, and is written again as it is.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\u0000",{"b":null}]}`, `{"\ud800":"\udfff"}`, `{"x":1e400}`, strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50)} {
		f.Add(s)
	}
	decode := func(t *testing.T, b []byte) (v any) {
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, err := Canonical(json.RawMessage(in))
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
		if strings.TrimSpace(in) != "" && !reflect.DeepEqual(decode(t, once), decode(t, []byte(in))) {
			t.Fatalf("%s is not %s", once, in)
		}
	})
}

// TestWithoutNulls: what is null is no member, of inner objects neither; elements of lists stay.
func TestWithoutNulls(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":null,"b":{"c":null,"d":1},"e":[null,{"f":null}]}`: `{"b":{"d":1},"e":[null,{"f":null}]}`,
		`{"a":null}`: `{}`,
		`[null]`:     `[null]`,
		`null`:       `null`,
	} {
		v, err := AnyJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(WithoutNulls(v)); err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestPolicyRequestHash(t *testing.T) {
	one := PolicyRequest{Tool: Tool{ToolSpec: ToolSpec{Name: "write"}, Plugin: "files"}, Arguments: json.RawMessage(`{"a":1,"b":2}`), Project: "/p"}
	same := one
	same.Arguments, same.ReadOnly, same.Mode, same.Attended = json.RawMessage(`{ "b":2,"a":1}`), true, ModeFull, true
	hash := func(a PolicyRequest) string {
		h, err := a.Hash()
		if err != nil || len(h) != 64 {
			t.Fatal(h, err)
		}
		return h
	}
	if hash(one) != hash(same) {
		t.Error("the same call has two hashes")
	}
	for name, change := range map[string]func(*PolicyRequest){
		"tool":      func(a *PolicyRequest) { a.Tool.Name = "read" },
		"plugin":    func(a *PolicyRequest) { a.Tool.Plugin = "other" },
		"arguments": func(a *PolicyRequest) { a.Arguments = json.RawMessage(`{"a":1.0,"b":2}`) },
		"project":   func(a *PolicyRequest) { a.Project = "/q" },
	} {
		other := one
		if change(&other); hash(other) == hash(one) {
			t.Errorf("another %s has the same hash", name)
		}
	}
}
