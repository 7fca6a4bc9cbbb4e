package verdict

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// recorded are the entries of turns of loop 7, a turn's calls in a text each, behind those of an earlier loop.
func recorded(turns ...string) (all []sdk.Entry) {
	add := func(loop int64, turn int, words string) {
		for i, c := range calls(words) {
			attributes, _ := json.Marshal(sdk.ActionCall{Tool: c.Name, Plugin: "p"})
			e := sdk.Entry{Path: fmt.Sprintf("log://turn_%d/%s/call_%d", turn, c.Name, i), Loop: loop, State: c.State, Outcome: c.Outcome, Phase: sdk.PhaseEnded, Attributes: attributes}
			if c.Answer != nil {
				e.Attributes = json.RawMessage(`{"tool":"sh","answer":{"answer":"reject","reason":"no"}}`)
			}
			all = append(all, e)
		}
		all = append(all, sdk.Entry{Path: sdk.ReplyPath(turn), Loop: loop, State: sdk.StateResolved})
	}
	add(6, 1, "get!")
	for i, words := range turns {
		add(7, i+2, words)
	}
	return all
}

// TestRemarks: which answers in tags are a strike, and how the model is told.
// spec: response_healing
func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer Answer
		says   string // empty is nothing
	}{
		{"V6 calls and no update", Answer{Calls: calls("get set")}, "no update"},
		{"V6 only a thought", Answer{Calls: calls("think")}, "no update"},
		{"a thought and text", Answer{Calls: calls("think think"), Text: "hi"}, ""},
		{"a thought, a call and text", Answer{Calls: calls("think get"), Text: "hi"}, "no update"},
		{"a thought and text where a result is owed", Answer{Calls: calls("think"), Text: "hi", Owes: true}, "no update"},
		{"a thought and text behind a failure and a thought", Answer{Calls: calls("think"), Text: "hi", Before: recorded("get!", "think")}, "a call failed before it"},
		{"an update", Answer{Calls: calls("get update:102")}, ""},
		{"an update that was refused", Answer{Calls: calls("get update:102!")}, ""},
		{"the end", Answer{Calls: calls("update:200")}, ""},
		{"a result in the place of one", Answer{Calls: calls("get finish_task"), Owes: true}, ""},
		{"calls, cut off", Answer{Calls: calls("get"), Finish: "length"}, "no update"},
		{"calls with a warning", Answer{Calls: calls("get"), Warned: true}, "no update"},

		{"V13 plain text, first of all", Answer{Text: "hi"}, ""},
		{"V13 behind what ended well", Answer{Text: "hi", Before: recorded("get! get", "get set")}, ""},
		{"V13 behind a failure", Answer{Text: "hi", Before: recorded("get", "get! set-")}, "a call failed before it"},
		{"V13 behind a failure and text", Answer{Text: "hi", Before: recorded("get!", "", "")}, "a call failed before it"},
		{"V13 behind a claim that was refused", Answer{Text: "hi", Before: recorded("sh# update:200!")}, "a call failed before it"},
		{"behind an exit status", Answer{Text: "hi", Before: recorded("sh# update:102")}, ""},
		{"behind what was interrupted", Answer{Text: "hi", Before: recorded("get?")}, ""},
		{"behind a no of a person's", Answer{Text: "hi", Before: recorded("sh~~")}, ""},
		{"V18 behind a failure of another loop", Answer{Text: "hi", Before: recorded("")}, ""},
		{"text with a warning", Answer{Text: "hi <get", Warned: true, Before: recorded("get!")}, ""},

		{"V16 nothing", Answer{}, "was empty"},
		{"V16 white space", Answer{Text: " \n\t"}, "was empty"},
		{"nothing but a warning", Answer{Warned: true}, ""},
		{"cut off", Answer{Finish: "length", Before: recorded("get!")}, ""},
		{"filtered", Answer{Finish: "filter"}, ""},
		{"a result is owed", Answer{Text: "hi", Owes: true, Before: recorded("get!")}, ""},
		{"a result is owed, and nothing comes", Answer{Owes: true}, ""},
	} {
		c.answer.Loop = 7
		got := Remarks(c.answer)
		if len(got) > 1 || strings.Join(got, "") == "" != (c.says == "") || !strings.Contains(strings.Join(got, ""), c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
}

// TestPluginsCallsAreNotTheModels: a call that a plugin made, or whose answer changes by itself, makes no plain text a strike.
func TestPluginsCallsAreNotTheModels(t *testing.T) {
	for attributes, want := range map[string]int{`{"tool":"get","parent":"log://turn_2/x/y"}`: 0, `{"tool":"get","live":true}`: 0, `{"tool":"get"}`: 1} {
		before := recorded("get!")
		before[len(before)-2].Attributes = json.RawMessage(attributes)
		if got := Remarks(Answer{Text: "hi", Before: before, Loop: 7}); len(got) != want {
			t.Errorf("%s: %q", attributes, got)
		}
	}
}

// TestCorrections: the last one says that it is.
func TestCorrections(t *testing.T) {
	for _, team := range []bool{false, true} {
		first, last := Correction(1, team), Correction(MostPlain-1, team)
		if !strings.Contains(first, sdk.ToolFinish) || strings.Contains(first, "not finished") || !strings.Contains(last, "not finished") {
			t.Errorf("%t: %q, %q", team, first, last)
		}
	}
}
