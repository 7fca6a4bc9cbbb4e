package tape

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// action is the entry of a call of a loop's turn.
func action(loop int64, turn int, tool, body string, more ...func(*sdk.Entry)) sdk.Entry {
	at, _ := json.Marshal(sdk.Action{ActionCall: sdk.ActionCall{Tool: tool}})
	e := sdk.Entry{Path: "log://turn_1/" + tool + "/x", Loop: loop, Turn: turn, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Body: body, Attributes: at}
	for _, change := range more {
		change(&e)
	}
	return e
}

// TestWhatMustStandInWhatAViewMade is the prompt, and then what the turn before read.
func TestWhatMustStandInWhatAViewMade(t *testing.T) {
	entries := []sdk.Entry{
		{Path: "prompt://1", Loop: 7, Turn: 3, Body: "go"}, action(7, 2, "get", "older"), action(7, 3, "get", " one\n"), action(7, 3, "sh", "12:00"),
		action(7, 3, "get", "", func(e *sdk.Entry) { e.Attributes = json.RawMessage(`{"tool":"get","parent":"log://turn_3/x/y"}`) }),
		action(7, 3, "get", "refused", func(e *sdk.Entry) { e.State = sdk.StateFailed }), action(7, 3, "get", "two (2)"), action(8, 3, "get", "another loop"), action(7, 5, "get", "now"),
	}
	exact := func(tool string) bool { return tool == "get" }
	loop := sdk.Loop{ID: 7, Prompt: "Do it. \n"}
	if got := strings.Join(Must(entries, loop, 5, false, exact), "|"); got != "one|two (2)" {
		t.Errorf("%q must stand there", got)
	}
	if got := strings.Join(Must(entries, loop, 2, true, exact), "|"); got != "Do it." {
		t.Errorf("%q must stand in the first", got)
	}
}

// TestTextsOfAViewAreComparedInWhatStaysTheSame, and strictly as a whole.
func TestTextsOfAViewAreComparedInWhatStaysTheSame(t *testing.T) {
	results := "[get: log://turn_3/get/a]\none\n[sh: log://turn_3/sh/b]\n12:00\n[get: log://turn_3/get/c]\ntwo (2)"
	for _, c := range []struct {
		name, text string
		must       []string
		rule       string
		plays      []string
		differs    []string
	}{
		{"results", results, []string{"one", "two (2)"}, `one.*two \(2\)`, []string{results, strings.ReplaceAll(strings.ReplaceAll(results, "turn_3", "turn_9"), "12:00", "13:00")}, []string{strings.Replace(results, "(2)", "(3)", 1), "two (2) one"}},
		{"what is not there", results, []string{"shortened", "two (2)"}, `two \(2\)`, []string{"two (2)"}, []string{"two"}},
		{"nothing that stays the same", results, nil, "", []string{"whatever"}, nil},
		{"too long", strings.Repeat("x", mostPattern+1), []string{strings.Repeat("x", mostPattern+1)}, "", []string{"y"}, nil},
	} {
		fresh := []sdk.Message{{Role: sdk.RoleUser, Text: c.text, Results: 2}, {Role: sdk.RoleUser, Text: "and?"}}
		step := cassette.NewStep(fresh, sdk.Completion{Text: "done"}, nil)
		Loosen(&step, fresh, func() []string { return c.must })
		if rule := step.Request[0].Text.Regex; (rule == nil) != (c.rule == "") || rule != nil && *rule != "(?s)"+c.rule {
			t.Errorf("%s: the rule is %+v", c.name, step.Request[0].Text)
		}
		raw, err := cassette.Cassette{Model: "m", Steps: []cassette.Step{step}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		loose, strict := decoded(t, raw), decoded(t, raw)
		if err := strict.Strict(); err != nil {
			t.Fatal(err)
		}
		for text, plays := range both(c.plays, c.differs) {
			got := []sdk.Message{{Role: sdk.RoleUser, Text: text}, fresh[1]}
			if _, d := loose.Next(0, got); (d == nil) != plays {
				t.Errorf("%s: %q: %v", c.name, text, d)
			}
			if _, d := strict.Next(0, got); (d == nil) != (text == c.text) {
				t.Errorf("%s: %q strictly: %v", c.name, text, d)
			}
		}
		if _, d := loose.Next(0, []sdk.Message{fresh[0], {Role: sdk.RoleUser, Text: "or?"}}); d == nil {
			t.Errorf("%s: what a person says is not compared", c.name)
		}
	}
}

func decoded(t *testing.T, raw []byte) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func both(plays, differs []string) map[string]bool {
	all := map[string]bool{}
	for _, text := range plays {
		all[text] = true
	}
	for _, text := range differs {
		all[text] = false
	}
	return all
}
