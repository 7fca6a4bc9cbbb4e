package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
	"github.com/bothyd/bothy/sdk/tool"
)

type window struct {
	From int `json:"from" minimum:"0" default:"1"`
	To   int `json:"to,omitempty"`
}

type tags struct {
	Level string   `json:"level" enum:"low,high" default:"low" jsonschema:"how loud"`
	Count *int     `json:"count" minimum:"1" maximum:"50" default:"10"`
	Ratio float64  `json:"ratio,omitempty" maximum:"0.5"`
	Since string   `json:"since" format:"date" example:"2024-02-29"`
	Tags  []string `json:"tags" enum:"red,green,blue" default:"red,blue"`
	Sizes []int    `json:"sizes,omitempty" minimum:"3"`
	Loud  bool     `json:"loud" default:"true"`
	At    window   `json:"at,omitzero"`
}

func show(_ context.Context, in tags, _ tool.Call) (sdk.ToolResult, error) {
	return tool.Text(strings.TrimSpace(fmt.Sprintln(in.Level, *in.Count, in.Ratio, in.Since, in.Tags, in.Sizes, in.Loud, in.At))), nil
}

// TestTags: what tags say is in the schema, holds for calls, and is there where an
// argument was left out.
func TestTags(t *testing.T) {
	set := tool.Set{tool.New("show", "Shows.", sdk.Annotations{}, show)}
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{` +
		`"level":{"type":"string","description":"how loud","enum":["low","high"],"default":"low"},` +
		`"count":{"type":"integer","minimum":1,"maximum":50,"default":10},` +
		`"ratio":{"type":"number","maximum":0.5},` +
		`"since":{"type":"string","examples":["2024-02-29"],"format":"date"},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["red","green","blue"]},"default":["red","blue"]},` +
		`"sizes":{"type":"array","items":{"type":"integer","minimum":3}},` +
		`"loud":{"type":"boolean","default":true},` +
		`"at":{"type":"object","properties":{"from":{"type":"integer","minimum":0,"default":1},"to":{"type":"integer"}},"additionalProperties":false}},` +
		`"required":["since"],"additionalProperties":false}`
	text := set.Tools()[0].Parameters
	if string(text) != want {
		t.Errorf("the schema is\n%s\nwant\n%s", text, want)
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"since":"2024-01-01"}`, "low 10 0 2024-01-01 [red blue] [] true {1 0}"},
		{`{"since":"x","level":"high","count":1,"ratio":0.25,"tags":[],"sizes":[3,4],"loud":false,"at":{"to":5}}`, "high 1 0.25 x [] [3 4] false {1 5}"},
		{`{"since":"x","level":"mid"}`, ""},
		{`{"since":"x","count":0}`, ""},
		{`{"since":"x","count":51}`, ""},
		{`{"since":"x","ratio":0.6}`, ""},
		{`{"since":"x","tags":["grey"]}`, ""},
		{`{"since":"x","sizes":[2]}`, ""},
		{`{"since":"x","at":{"from":-1}}`, ""},
	} {
		if _, err := compiled.Validate(json.RawMessage(c.arguments)); (err == nil) != (c.want != "") {
			t.Errorf("%s: %v", c.arguments, err)
		}
		if c.want == "" {
			continue
		}
		r, err := set.Invoke(t.Context(), sdk.Invocation{Tool: "show", Arguments: json.RawMessage(c.arguments)}, nil)
		if err != nil || r.Output != c.want {
			t.Errorf("%s: %v, %q, want %q", c.arguments, err, r.Output, c.want)
		}
	}
}

func made[In any]() error {
	return tool.Set{tool.Plain("x", "X.", func(context.Context, In) (string, error) { return "", nil })}.Err()
}

// TestTagsOfOthers: a struct that other packages read as well, and a field that is none
// of the arguments, are no mistakes.
func TestTagsOfOthers(t *testing.T) {
	if err := made[struct {
		A    int `json:"a" yaml:"a" db:"a"`
		Own  int `json:"-"`
		mine int
		window
	}](); err != nil {
		t.Error(err)
	}
}

func TestWrongTags(t *testing.T) {
	for want, err := range map[string]error{
		`field A: minimum "low"`: made[struct {
			A int `json:"a" minimum:"low"`
		}](),
		`field B: a string has no minimum`: made[struct {
			B string `json:"b" minimum:"1"`
		}](),
		`field C: format "date": only texts have one`: made[struct {
			C int `json:"c" format:"date"`
		}](),
		`field H: the tag "minimun" says nothing here: there are json, jsonschema, enum`: made[struct {
			H int `json:"h" minimun:"5"`
		}](),
		`field I: the tag "desc" says nothing here`: made[struct {
			I int `json:"i" desc:"x"`
		}](),
		`field J: its minimum 5 is above its maximum 1`: made[struct {
			J int `json:"j" minimum:"5" maximum:"1"`
		}](),
		`field k: it has the tag minimum and is no argument`: made[struct {
			k int `minimum:"1"`
		}](),
		`field L: its default: 9 is greater than 5`: made[struct {
			L int `json:"l" maximum:"5" default:"9"`
		}](),
		`field M: its default: property "[]": `: made[struct {
			M []int `json:"m" maximum:"5" default:"[9]"`
		}](),
		`field D: `: made[struct {
			D string `json:"d" enum:"x,y" default:"z"`
		}](),
		`field E: `: made[struct {
			E int `json:"e" maximum:"3" example:"4"`
		}](),
		`field F: a default in a []tool_test.window has no one place`: made[struct {
			F []window `json:"f"`
		}](),
		`field G: "many" is no integer`: made[struct {
			G int `json:"g" enum:"1,many"`
		}](),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
