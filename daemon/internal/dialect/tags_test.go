package dialect

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func own(name, parameters string) sdk.Tool {
	return sdk.Tool{Plugin: sdk.OwnPlugin, ToolSpec: sdk.ToolSpec{Name: name, Parameters: json.RawMessage(parameters)}}
}

func plugged(name, parameters string) sdk.Tool {
	return sdk.Tool{Plugin: "p", ToolSpec: sdk.ToolSpec{Name: name, Parameters: json.RawMessage(parameters)}}
}

// offeredTags are tools of both kinds.
var offeredTags = []sdk.Tool{
	own("get", `{"type":"object","properties":{"path":{"type":"string"}}}`),
	own("set", `{"type":"object","properties":{"path":{"type":"string"}}}`),
	own("update", `{"type":"object","properties":{"body":{"type":"string"}}}`),
	plugged("lines", `{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"},"deep":{"type":"boolean"}},"required":["path"]}`),
	plugged("two", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array"},"c":{"type":"string"}},"required":["a","b","c"]}`),
	{Plugin: "bash", ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command", Body: "command", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"dir":{"type":"string"}},"required":["command"]}`)}},
}

func TestTagsRead(t *testing.T) {
	for _, c := range []struct {
		name, text, finish string
		calls              []string // of each the tool and its arguments, or its fault
		warnings           int
		narration          string
	}{
		{"one of the twelve", `I look. <get path="a.go"/>`, "stop", []string{`get {"path":"a.go"}`}, 0, "I look. "},
		{"one without its status", `<update>going</update>`, "stop", []string{`update {"body":"going","status":102}`}, 0, ""},
		{"a plugin's, by its schema", `<lines path="a" from="3" deep/>`, "stop", []string{`lines {"deep":true,"from":3,"path":"a"}`}, 0, ""},
		{"a body of a plugin's is its only text", `<lines from="3">a.go</lines>`, "stop", []string{`lines {"from":3,"path":"a.go"}`}, 0, ""},
		{"or an object", "<two>{\"a\":\"x\",\"b\":[1]}</two>", "stop", []string{`two {"a":"x","b":[1]}`}, 0, ""},
		{"a command with a here document", "<bash dir=\"d\">cat <<EOF\n</bash>\nEOF\nls</bash>", "stop", []string{`bash {"command":"cat <<EOF\n</bash>\nEOF\nls","dir":"d"}`}, 0, ""},
		{"entities of attributes, and none of bodies", `<set path="a&amp;b">x &lt; y</set>`, "stop", []string{`set {"body":"x &lt; y","path":"a&b"}`}, 0, ""},
		{"what is not offered", `So <rm path="a"/>`, "stop", nil, 1, "So "},
		{"text alone", "It is done.", "stop", nil, 0, "It is done."},
		{"one that the end cut", `<set path="a">half of i`, "length", []string{`set: the answer was cut off within <set>`}, 1, ""},
		{"one of another program that the end cut", `<function=get><parameter=path>a</parameter>`, "length", []string{`get: the answer was cut off within <get>`}, 1, ""},
		{"one that only lacks its end", `<set path="a">all of it`, "stop", []string{`set {"body":"all of it","path":"a"}`}, 1, ""},
		{"one that is whole before the cut", `<get path="a"/> and th`, "length", []string{`get {"path":"a"}`}, 0, " and th"},
		{"a body that would be empty", `<set path="k.md"><get path="x"/>`, "stop", []string{"set: <set> has no body", `get {"path":"x"}`}, 1, ""},
		{"an array", `<two a="x" b='[1,{"c":null}]'/>`, "stop", []string{`two {"a":"x","b":[1,{"c":null}]}`}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Tags{}.Read(Tags{}.Whole(sdk.Completion{Text: c.text, Finish: c.finish}), offeredTags)
			if len(r.Calls) != len(c.calls) || len(r.Warnings) != c.warnings || c.narration != "" && !strings.Contains(r.Narration, strings.TrimSpace(c.narration)) {
				t.Fatalf("%+v", r)
			}
			for i, call := range r.Calls {
				got := call.Tool + " " + string(call.Arguments)
				if call.Fault != "" {
					got = call.Tool + ": " + call.Fault
				}
				if call.Fault == "" && got != c.calls[i] || call.Fault != "" && !strings.HasPrefix(got, c.calls[i]) {
					t.Errorf("call %d is %s, want %s", i, got, c.calls[i])
				}
				if (call.Arguments == nil) != (call.Fault != "") || call.ID != []string{"call_1", "call_2"}[i] || c.text[call.At.Start:call.At.End] != call.Raw {
					t.Errorf("call %d: %+v", i, call)
				}
			}
		})
	}
}

func TestTagsCapCalls(t *testing.T) {
	r := Tags{}.Read(sdk.Completion{Text: strings.Repeat(`<get path="a"/>`, MaxCalls+7)}, offeredTags)
	if len(r.Calls) != MaxCalls || len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "7 calls were left out") {
		t.Errorf("%d calls, %q", len(r.Calls), r.Warnings)
	}
}

// What a server took out of the text stands in it again, and is read as if it had stayed.
func TestTagsTakenOut(t *testing.T) {
	whole := Tags{}.Whole(sdk.Completion{Text: "I look.\xff", Finish: "calls", Calls: []sdk.Call{
		{ID: "x", Tool: "get", Arguments: `{"path":"a \"b\".go"}`}, {ID: "y", Tool: "nosuch", Arguments: `{}`}, {ID: "z", Tool: "set", Arguments: `{"path":`},
	}})
	if whole.Calls != nil || whole.Finish != "stop" || !strings.HasPrefix(whole.Text, "I look.\uFFFD\n<tool_call>{") {
		t.Fatalf("%+v", whole)
	}
	r := Tags{}.Read(whole, offeredTags)
	if len(r.Calls) == 0 || r.Calls[0].Tool != "get" || string(r.Calls[0].Arguments) != `{"path":"a \"b\".go"}` || len(r.Calls) > 1 && r.Calls[1].Fault == "" {
		t.Errorf("%+v", r)
	}
	if len(r.Warnings) == 0 || !r.Lost {
		t.Errorf("nothing is said of what is no call: %+v", r)
	}
	alone := Tags{}.Whole(sdk.Completion{Text: `<update status="200">done</update>`, Calls: []sdk.Call{{Tool: "nosuch", Arguments: `{}`}}})
	if r := (Tags{}).Read(alone, twelveOffered); len(r.Calls) != 1 || !r.Lost {
		t.Errorf("a call of no tool is not lost: %+v", r)
	}
	if again := (Tags{}).Whole(whole); !reflect.DeepEqual(again, whole) {
		t.Errorf("it is another when it is taken again: %+v", again)
	}
}

func TestTagsWatch(t *testing.T) {
	w := Tags{}.Watch(offeredTags)
	var text string
	var begun []sdk.Forming
	for _, piece := range []string{"So: ", `<set path="`, strings.Repeat("long/", 100), `">bo`, "dy</set> and ", `<lines path="b"`, "/> on"} {
		more, calls := w(piece, false)
		text, begun = text+more, append(begun, calls...)
	}
	more, calls := w("", true)
	text, begun = text+more, append(begun, calls...)
	want := []sdk.Forming{{Tool: "set", Target: strings.Repeat("long/", 40)}, {Tool: "lines", Target: "b"}}
	if text != "So:  and  on" || !reflect.DeepEqual(begun, want) {
		t.Errorf("shown %q and %+v", text, begun)
	}
	if (Tools{}).Watch(offeredTags) != nil {
		t.Error("native calls are watched in the text")
	}
}
