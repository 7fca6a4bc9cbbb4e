package show

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// TestNoLineIsWiderThanItsView: long names, long paths and tabs are cut or broken.
func TestNoLineIsWiderThanItsView(t *testing.T) {
	long := strings.Repeat("long_name_", 12)
	call := &sdk.Action{
		Path: "log://turn_1/" + long + "/" + long, ActionCall: sdk.ActionCall{Tool: long, Arguments: json.RawMessage(`{"path":"` + long + `"}`)}, State: sdk.StateFailed,
		Body: "a\tb\n" + long, ActionEnd: sdk.ActionEnd{Error: strings.Repeat("why\t", 30)},
	}
	short := &sdk.Action{Path: "log://turn_1/bash/ls", ActionCall: sdk.ActionCall{Tool: "bash", Arguments: json.RawMessage(`{"command":"` + long + `"}`)}, State: sdk.StateResolved}
	working := &sdk.Action{Path: "log://turn_1/bash/" + long, ActionCall: sdk.ActionCall{Tool: "漢字", Arguments: json.RawMessage(`{}`)}, State: "", Body: long}
	tabs := strings.Repeat("\tx", 30)
	for _, width := range []int{30, 40, 80} {
		v := View{Width: width, Head: 2, Tail: 2, Bytes: 1 << 40}
		for name, lines := range map[string][]Spans{
			"a call":               {Call(call, width)},
			"a short tool":         {Call(short, width)},
			"an action":            Action(call, v),
			"a result":             Result(call, v),
			"an action at work":    Action(working, v),
			"what is well":         Action(short, v),
			"a prompt":             Prompt(tabs, 12, true, width),
			"a note":               Note(tabs, width),
			"a failure":            Failure("漢\t"+tabs, width),
			"a line of its output": {BodyLine("a\t"+long, v)},
			"a question's reason":  reasons(sdk.Proposal{Tool: "x", Decision: sdk.Decision{Reason: strings.Repeat("漢字", 60)}}, width),
		} {
			for _, line := range lines {
				if text := line.String(); Width(text) > width || strings.Contains(text, "\t") {
					t.Errorf("%s in %d columns has %d: %q", name, width, Width(text), text)
				}
			}
		}
	}
}

// reasons is the line of a question that says why it is asked.
func reasons(p sdk.Proposal, width int) []Spans {
	lines, _ := Question(p, width, 3)
	return lines[len(lines)-1:]
}

// TestABlankLineOfOutput: while a call works an empty line is a line, and a result
// without text has none.
func TestABlankLineOfOutput(t *testing.T) {
	for line, want := range map[string]string{"": "  │ ", " \r": "  │  ", "a\tb": "  │ a       b", "\x1b[31mred": "  │ red"} {
		if got := BodyLine(line, View{}).String(); got != want {
			t.Errorf("%q is drawn as %q, want %q", line, got, want)
		}
	}
	if got := Body("", View{}); got != nil {
		t.Errorf("no text is drawn as %q", got)
	}
}

// TestWordsAreHarmless: what others said in them steers nothing.
func TestWordsAreHarmless(t *testing.T) {
	bad := "a\x1b[2J\u202eb\r"
	data, err := json.Marshal(map[string]any{"message": bad, "plugin": bad, "tool": bad, "from": bad, "to": 200, "root": bad})
	if err != nil {
		t.Fatal(err)
	}
	failed := &sdk.Action{State: sdk.StateFailed, Outcome: sdk.Outcome(bad), ActionEnd: sdk.ActionEnd{Error: bad}}
	answered := &sdk.ActionAnswer{Answer: sdk.Accept, By: bad + "\n", Rule: bad}
	for name, text := range map[string]string{
		"an answer":       Answered(answered),
		"an ending":       Ending(failed),
		"a note":          Row(sdk.JournalRow{Kind: sdk.KindNoteProgress, Data: data}),
		"a call's note":   Row(sdk.JournalRow{Kind: sdk.KindNoteCall, Data: data}),
		"an unknown note": Row(sdk.JournalRow{Kind: sdk.KindNote + ".x" + bad, Data: data}),
		"a new name":      Row(sdk.JournalRow{Kind: sdk.KindRunRenamed, Data: data}),
		"a project":       Row(sdk.JournalRow{Kind: sdk.KindProjectCreated, Data: data}),
		"an entry":        Row(sdk.JournalRow{Kind: sdk.KindEntryRemoved, Path: bad}),
		"its text":        Row(sdk.JournalRow{Kind: sdk.KindEntrySet, Path: "a", Data: json.RawMessage(`{}`), Body: &bad}),
		"no JSON":         Row(sdk.JournalRow{Kind: sdk.KindProjectCreated, Data: json.RawMessage(bad)}),
	} {
		if text == "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%s is %q", name, text)
		}
	}
}
