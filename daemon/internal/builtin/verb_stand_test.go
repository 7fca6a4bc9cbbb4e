package builtin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// standing are the verbs as a turn has them, over no store.
func standing(writer ...sdk.Writer) turn {
	var use sdk.EntryUse
	if len(writer) > 0 {
		use.Writer = writer[0]
	}
	var all turn
	for _, spec := range verbSpecs {
		all = append(all, verbTurn{verbTool{NewVerbs(nil, Patterns, func(text string) string { return text }), spec}, use})
	}
	return all
}

// TestFile holds which calls stand for one of the files plugin, in the form of the verb and of the tool.
func TestFile(t *testing.T) {
	for _, c := range []struct{ verb, arguments, want string }{
		{"set", `{"path":"a","body":"x"}`, `write_file {"content":"x","path":"a"}`},
		{"set", `{"path":"a","body":null}`, ``},
		{"set", `{"path":"a","visibility":"visible"}`, ``},
		{"set", `{"path":"a*","body":"x","pattern":true}`, ``},
		{"set", `{"path":"a*","body":"x","pattern":false}`, `write_file {"content":"x","path":"a*"}`},
		{"set", `{"path":"known://a","body":"x"}`, ``},
		{"set", `{"path":"known://a","content":"x"}`, ``},
		{"set", `{"path":"file://a","body":"x"}`, ``},
		{"set", `{"path":"a","content":"x"}`, `write_file {"path":"a","content":"x"}`},
		{"set", `{"PATH":"a","body":"x"}`, ``},
		{"set", `{"path":"a","BODY":"x"}`, ``},
		{"set", `{"path":"a","body":"x","Append":true}`, `write_file !`},
		{"set", `{"path":["a"],"body":"x"}`, ``},
		{"set", `{"path":"a","body":7}`, `write_file !`},
		{"set", `{"path":"a","body":"x","path":"b"}`, `write_file !`},
		{"set", `["a"]`, ``},
		{"set", ``, ``},
		{"set", `{"path":"a","body":"<<APPEND\nx\nAPPEND"}`, `write_file {"content":"\u003c\u003cAPPEND\nx\nAPPEND","path":"a"}`},
		{"set", `{"path":"a","old_text":"x","new_text":"y"}`, `edit_file {"path":"a","old_text":"x","new_text":"y"}`},
		{"rm", `{"path":"a"}`, `delete_path {"path":"a"}`},
		{"rm", `{"path":"a(b)"}`, `delete_path {"path":"a(b)"}`},
		{"rm", `{"path":"a/*"}`, ``},
		{"rm", `{"path":"a","recursive":true}`, `delete_path {"path":"a","recursive":true}`},
		{"rm", `{"path":"a","filter":"x"}`, `delete_path !`},
		{"rm", `{"path":""}`, ``},
		{"cp", `{"path":"a","to":"b"}`, `copy_path {"destination":"b","overwrite":true,"source":"a"}`},
		{"cp", `{"path":"a"}`, `copy_path !`},
		{"cp", `{"path":"a","to":"known://b"}`, ``},
		{"cp", `{"path":"known://a","to":"b"}`, `write_file !`},
		{"cp", `{"path":"known://a","to":"b","body":"x"}`, `write_file {"content":"x","path":"b"}`},
		{"cp", `{"path":"b","content":"x"}`, `write_file {"path":"b","content":"x"}`},
		{"cp", `{"source":"a","destination":"b"}`, `copy_path {"source":"a","destination":"b"}`},
		{"mv", `{"path":"a","to":"b"}`, `move_path {"destination":"b","overwrite":true,"source":"a"}`},
		{"mv", `{"path":"a"}`, `move_path !`},
		{"mv", `{"path":"a","visibility":"archived"}`, ``},
		{"cp", `{"path":"src/*","visibility":"archived"}`, ``},
		{"mv", `{"path":"a","to":"b","visibility":"archived"}`, `move_path !`},
		{"mv", `{"path":"a","to":"known://b"}`, `move_path !`},
		{"mv", `{"path":"KNOWN://a","to":"b","body":""}`, `write_file {"content":"","path":"b"} known://a`},
		{"mv", `{"path":"known://a","to":"known://b"}`, ``},
		{"mv", `{"source":"a","destination":"b"}`, `move_path {"source":"a","destination":"b"}`},
		{"get", `{"path":"a"}`, ``},
		{"update", `{"body":"x"}`, ``},
		{"nothing", `{"path":"a"}`, ``},
	} {
		f, is, err := standing().File(c.verb, json.RawMessage(c.arguments))
		got := ""
		switch {
		case is && err != nil:
			got = f.Tool + " !"
		case is:
			got = strings.TrimSpace(f.Tool + " " + string(f.Arguments) + " " + f.Moves)
		}
		if got != c.want || is && f.Plugin != filesPlugin {
			t.Errorf("%s %s stands for %q (%v), want %q", c.verb, c.arguments, got, err, c.want)
		}
	}
}

// TestNamesOfArguments holds that an argument counts by its very name alone, under which policy looks for it.
func TestNamesOfArguments(t *testing.T) {
	for _, arguments := range []string{`{"PATH":"known://a","body":"x"}`, `{"path":"known://a","Body":"x"}`, `{"path":"known://a","body":"x","verb":"rm"}`, `{"path":"known://a","to":"b","body":"x"}`} {
		r := standing().Plan(t.Context(), []sdk.Invocation{{Tool: "set", Arguments: json.RawMessage(arguments)}})[0]
		if r.Success || r.Outcome != sdk.Validation || !strings.Contains(r.Error, "set takes no") {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
}

// FuzzFile holds that what a verb stands for names no entry, has no argument that its tool does not know, and is the same in its
// own form.
func FuzzFile(f *testing.F) {
	for _, arguments := range []string{`{"path":"a","body":"x"}`, `{"path":"a","to":"b"}`, `{"path":"known://a","to":"b","body":"x"}`, `{"source":"a","destination":"b","overwrite":true}`, `{"path":"a","content":"x"}`} {
		for _, verb := range sdk.Verbs() {
			f.Add(string(verb), arguments)
		}
	}
	known := map[string][]string{
		"write_file": {"content", "path"}, "edit_file": {"new_text", "old_text", "path"}, "delete_path": {"path"},
		"move_path": {"destination", "overwrite", "source"}, "copy_path": {"destination", "overwrite", "source"},
	}
	f.Fuzz(func(t *testing.T, verb, arguments string) {
		all := standing()
		c, is, err := all.File(verb, json.RawMessage(arguments))
		if !is || err != nil {
			return
		}
		if known[c.Tool] == nil {
			t.Fatalf("there is no tool %q", c.Tool)
		}
		if string(c.Arguments) == arguments && c.Moves == "" { // in the tool's form, which the tool validates
			return
		}
		var made map[string]any
		if err := json.Unmarshal(c.Arguments, &made); err != nil {
			t.Fatal(err)
		}
		for name, value := range made {
			if !slices.Contains(known[c.Tool], name) {
				t.Errorf("%s takes no %s", c.Tool, name)
			}
			if text, _ := value.(string); name != "content" && name != "overwrite" && !isFile(text) {
				t.Errorf("%s of %s is no file: %q", name, c.Tool, text)
			}
		}
		if again, is, err := all.File(verb, c.Arguments); c.Tool != "delete_path" && (!is || err != nil || again.Tool != c.Tool || string(again.Arguments) != string(c.Arguments)) {
			t.Errorf("in its own form it is %+v, %v", again, err)
		}
	})
}

// TestWhatGoesToFilesIsBounded: what the calls of one answer take to files has a bound together, and each looks at none of what
// those before it search.
func TestWhatGoesToFilesIsBounded(t *testing.T) {
	b := newBench(t)
	b.must(set("known://a", "a"))
	b.must(set("known://big", strings.Repeat("x", 3<<20)))
	searched := 0
	verbs := NewVerbs(b.s, func() Parse {
		parse := Patterns()
		return func(text string) (Pattern, bool, error) {
			if text == "costly" {
				return searching(func() { searched++ }), false, nil
			}
			return parse(text)
		}
	}, func(text string) string { return text })
	var all turn
	for _, spec := range verbSpecs {
		all = append(all, verbTurn{verbTool{verbs, spec}, b.use})
	}
	fill := func(before []sdk.Invocation, arguments string) (json.RawMessage, error) {
		return all.Fill(t.Context(), before, sdk.Invocation{Tool: "cp", Arguments: json.RawMessage(arguments)})
	}
	b.must(set("known://huge", strings.Repeat("x", mostFilled+1)))
	if _, err := fill(nil, `{"path":"known://huge","to":"f"}`); sdk.OutcomeOf(err) != sdk.Overflow || strings.Contains(err.Error(), "next") {
		t.Errorf("one alone: %v", err)
	}
	var before []sdk.Invocation
	for n := range 3 {
		filled, err := fill(before, `{"path":"known://big","to":"f"}`)
		if want := map[bool]sdk.Outcome{true: sdk.Overflow}[n == 2]; sdk.OutcomeOf(err) != want && (err != nil || want != "") {
			t.Fatalf("copy %d: %v", n+1, err)
		}
		before = append(before, sdk.Invocation{Tool: "cp", Arguments: filled})
	}
	for _, c := range []struct {
		tool, arguments string
		changes         bool
	}{
		{"get", `{"path":"known://**","filter":"costly"}`, false}, {"rm", `{"path":"known://b*","filter":"costly"}`, false},
		{"rm", `{"path":"known://**","filter":"costly"}`, true}, {"set", `{"path":"known://*","summary":"s"}`, true}, {"set", `{"path":"known://*","visibility":"archived"}`, false},
		{"set", `{"path":"known://*","body":"x"}`, false}, {"set", `{"path":"KNOWN://a","body":"x"}`, true}, {"set", `{"path":"known://*","body":"x","pattern":true}`, true},
		{"cp", `{"path":"known://a","to":"known://c"}`, false}, {"cp", `{"path":"known://big","to":"known://a"}`, true}, {"mv", `{"path":"known://a","to":"known://c"}`, true},
		{"mv", `{"path":"known://a","visibility":"summarized"}`, false}, {"mv", `{"path":"known://a","to":"g","body":"a"}`, true}, {"update", `{"body":"x"}`, false},
	} {
		filled, err := fill([]sdk.Invocation{{Tool: c.tool, Arguments: json.RawMessage(c.arguments)}}, `{"path":"known://a","to":"f"}`)
		if c.changes && sdk.OutcomeOf(err) != sdk.Conflict || !c.changes && (err != nil || !strings.Contains(string(filled), `"body":"a"`)) {
			t.Errorf("%s %s: %s, %v", c.tool, c.arguments, filled, err)
		}
	}
	if searched > 0 {
		t.Errorf("%d bodies were searched", searched)
	}
}
