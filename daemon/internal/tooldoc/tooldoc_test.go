package tooldoc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/dialect/tags"
	"github.com/bothyd/bothy/sdk"
)

// offered are the twelve as a turn has them, and a tool of a plugin.
func offered() (all []sdk.Tool) {
	for _, name := range sdk.ModelTools() {
		all = append(all, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: sdk.OwnPlugin})
	}
	return append(all, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "note", Description: "Keeps a note.", Parameters: json.RawMessage(`{"type":"object"}`), Body: "text"}, Plugin: "notes"})
}

// TestDocuments holds the form of each document: there is one for each of the twelve, in their order, with its header, two
// stories and two bounds at least, in the words of RFC 2119, and a reason beside each line.
// spec: tool_documentation
func TestDocuments(t *testing.T) {
	var names []string
	for _, d := range documents {
		names = append(names, d.tool)
		stories, rules, bound := 0, 0, false
		for _, l := range d.lines {
			if l.why == "" || l.call == nil && l.text == "" {
				t.Errorf("%s: a line without its reason or its text: %+v", d.tool, l)
			}
			if l.call != nil {
				stories++
				if rules > 0 {
					t.Errorf("%s: an example stands behind a rule", d.tool)
				}
				continue
			}
			rules++
			bound = bound || strings.Contains(l.text, "You MUST") || strings.Contains(l.text, "You SHOULD") || strings.Contains(l.text, "You MAY")
		}
		if d.is == "" || d.shape.tool != d.tool || stories < 2 || rules < 2 || !bound {
			t.Errorf("%s has %d examples and %d rules, a header %q", d.tool, stories, rules, d.is)
		}
	}
	if !slices.Equal(names, sdk.ModelTools()) {
		t.Errorf("they are %v", names)
	}
}

// TestStoriesAreRead: each example is read as the one call that it shows, without a warning, with the arguments that its other
// form has.
func TestStoriesAreRead(t *testing.T) {
	set := tags.NewSet(tags.Twelve())
	for _, d := range documents {
		for _, l := range d.lines {
			if l.call == nil {
				continue
			}
			read := tags.Read(set, l.call.write(sdk.DialectTags))
			if len(read.Calls) != 1 || len(read.Warnings) > 0 || read.Calls[0].Fault != "" || strings.TrimSpace(read.Narration) != "" {
				t.Errorf("%s is read as %+v", l.call.write(sdk.DialectTags), read)
				continue
			}
			name, arguments, _ := strings.Cut(l.call.write(sdk.DialectTools), " ")
			var want, got map[string]any
			if err := json.Unmarshal([]byte(arguments), &want); err != nil {
				t.Errorf("%s: %v", arguments, err)
			}
			if err := json.Unmarshal(read.Calls[0].JSON(), &got); err != nil {
				t.Fatal(err)
			}
			if list, is := got["options"].(string); is { // ask_user reads it
				var options []any
				_ = json.Unmarshal([]byte(list), &options)
				got["options"] = options
			}
			for name, value := range want {
				if fmt.Sprint(got[name]) != fmt.Sprint(value) {
					t.Errorf("%s: %s is %v, and %v in the other form", l.call.write(sdk.DialectTags), name, got[name], value)
				}
			}
			if name != read.Calls[0].Tool {
				t.Errorf("it is of %s", read.Calls[0].Tool)
			}
		}
	}
}

// TestText: what is not offered is not taught, others' tools come behind the twelve, and no reason reaches a model.
func TestText(t *testing.T) {
	all := Text(offered(), sdk.DialectTags)
	at := 0
	for _, name := range append(sdk.ModelTools(), "note") {
		next := strings.Index(all[at:], "\n## <"+name)
		if name == "note" {
			next = strings.Index(all[at:], "\n## note - Keeps a note.")
		}
		if next < 0 {
			t.Fatalf("%s is not taught, or not in its order", name)
		}
		at += next + 1
	}
	if !strings.Contains(all, "The text between its tags is text.") {
		t.Error("the body of another tool is not named")
	}
	for _, d := range documents {
		for _, l := range d.lines {
			if strings.Contains(all, l.why) {
				t.Errorf("a reason is told: %s", l.why)
			}
		}
	}
	few := Text(offered()[:1], sdk.DialectTags)
	if !strings.Contains(few, "## <get ") || strings.Contains(few, "## <set ") {
		t.Errorf("of one tool: %s", few)
	}
	functions := Text(offered(), sdk.DialectTools)
	if strings.Contains(functions, "</") || strings.Contains(functions, "## note") || !strings.Contains(functions, `Example: get {"path": "known://*", "filter": "auth"}`) {
		t.Errorf("as functions: %s", functions)
	}
	if Text(nil, sdk.DialectTags) != "" {
		t.Error("without tools there is a text")
	}
	foreign := []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "get", Description: "Gets."}, Plugin: "other"}}
	if got := Text(foreign, sdk.DialectTags); strings.Contains(got, "## <get") || !strings.Contains(got, "## get - Gets.") {
		t.Errorf("a plugin's of the same name: %s", got)
	}
}
