package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestWrites: what was said until the turn is archived and counted, and nothing else of the run is touched.
func TestWrites(t *testing.T) {
	skill := json.RawMessage(`{"call_id":"1","plugin":"` + sdk.OwnPlugin + `","tool":"use_skill","metadata":{"skill":"tidy"}}`)
	entries := []sdk.Entry{
		{Path: "prompt://1", Loop: 4}, {Path: "assistant://1", Loop: 4, Turn: 1, State: sdk.StateResolved},
		{Path: "log://turn_1/use_skill/tidy", Loop: 4, Turn: 1, State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: skill},
		{Path: "sh://turn_1/make_1", Loop: 4, Turn: 1, State: sdk.StateFailed},
		{Path: "update://turn_1", Loop: 4, Turn: 1, State: sdk.StateResolved},
		{Path: "log://turn_1/error/dialect_1", Loop: 4, Turn: 1, State: sdk.StateFailed},
		{Path: "summary://1", Loop: 3, Turn: 0}, {Path: "prompt://0", Loop: 3, Visibility: sdk.Archived},
		{Path: "prompt://2", Loop: 5}, {Path: "assistant://2", Loop: 5, Turn: 2, State: sdk.StateResolved}, // its own
		{Path: "prompt://3", Loop: 6}, {Path: "log://turn_3/person/x", Turn: 3, State: sdk.StateResolved, Phase: sdk.PhaseEnded}, // behind it
		{Path: "known://a"}, {Path: "plan://1"}, {Path: "unknown://b"}, {Path: "a.go"}, {Path: sdk.ManifestPath}, {Path: "image://x"}, {Path: sdk.SystemTextPath("x")},
	}
	writes := Writes(entries, map[string]bool{"prompt://2": true, "assistant://2": true}, sdk.Loop{ID: 5, Sequence: 2}, 2, " \n in short\n")
	for _, w := range writes[1:] {
		if w.Visibility != sdk.Archived || w.Body != nil || w.Remove || !w.Look {
			t.Errorf("%+v", w)
		}
	}
	want := "[prompt://1 assistant://1 log://turn_1/use_skill/tidy sh://turn_1/make_1 update://turn_1 log://turn_1/error/dialect_1 summary://1 prompt://2 assistant://2]"
	if got := paths(writes); got != want {
		t.Errorf("archived are %s", got)
	}
	var s sdk.Summary
	if err := json.Unmarshal(writes[0].Attributes, &s); err != nil || writes[0].Path != "summary://2" || *writes[0].Body != "in short" {
		t.Errorf("%+v, %v", writes[0], err)
	}
	if s.Loop != 5 || s.Turn != 2 || s.Prompts != 1 || s.Answers != 1 || s.Calls != 1 || !slices.Equal(s.Skills, []string{"tidy"}) {
		t.Errorf("%+v", s)
	}
}

// paths are those that writes behind the first archive.
func paths(writes []sdk.Write) string {
	var all []string
	for _, w := range writes[1:] {
		all = append(all, w.Path)
	}
	return fmt.Sprint(all)
}

// TestWhatASummaryWasNotToldOf stays: a turn with a call that has not ended, or did so since, stays whole, with its prompt.
func TestWhatASummaryWasNotToldOf(t *testing.T) {
	person := json.RawMessage(`{"person":true,"tool":"bash"}`)
	entries := []sdk.Entry{
		{Path: "prompt://1", Loop: 4}, {Path: "assistant://1", Loop: 4, Turn: 1}, {Path: "log://turn_1/sh/ls", Loop: 4, Turn: 1, State: sdk.StateResolved, Phase: sdk.PhaseEnded},
		{Path: "prompt://2", Loop: 5}, {Path: "assistant://2", Loop: 5, Turn: 2},
		{Path: "log://turn_2/sh/make", Loop: 5, Turn: 2, State: sdk.StateResolved, Phase: sdk.PhaseEnded}, {Path: "sh://turn_2/make_1", Loop: 5, Turn: 2, State: sdk.StateResolved},
		{Path: "assistant://3", Loop: 5, Turn: 3}, {Path: "log://turn_3/bash/run", Loop: 5, Turn: 3, State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: person},
		{Path: "prompt://3", Loop: 6}, {Path: "assistant://4", Loop: 6, Turn: 4}, {Path: "log://turn_4/error/overflow", Loop: 6, Turn: 4, State: sdk.StateFailed},
	}
	all := "[prompt://1 assistant://1 log://turn_1/sh/ls prompt://2 assistant://2 log://turn_2/sh/make sh://turn_2/make_1 assistant://3 log://turn_3/bash/run prompt://3 assistant://4 log://turn_4/error/overflow]"
	streams := func(path string) func(*sdk.Entry) {
		return func(e *sdk.Entry) {
			if e.Path == path {
				e.State = sdk.StateStreaming
			}
		}
	}
	for name, c := range map[string]struct {
		since  string
		change func(*sdk.Entry)
		stay   []string
	}{
		"all was told":             {},
		"its own":                  {since: "prompt://3 assistant://4 log://turn_4/error/overflow"},
		"a call ended since":       {since: "log://turn_1/sh/ls", stay: []string{"prompt://1", "assistant://1", "log://turn_1/sh/ls"}},
		"a call has not ended":     {change: streams("log://turn_1/sh/ls"), stay: []string{"prompt://1", "assistant://1", "log://turn_1/sh/ls"}},
		"it prints":                {change: streams("sh://turn_2/make_1"), stay: []string{"prompt://2", "assistant://2", "log://turn_2/sh/make", "sh://turn_2/make_1"}},
		"it printed since":         {since: "sh://turn_2/make_1", stay: []string{"prompt://2", "assistant://2", "log://turn_2/sh/make", "sh://turn_2/make_1"}},
		"a person's ended since":   {since: "log://turn_3/bash/run", stay: []string{"log://turn_3/bash/run"}},
		"a person's has not ended": {change: streams("log://turn_3/bash/run"), stay: []string{"log://turn_3/bash/run"}},
	} {
		t.Run(name, func(t *testing.T) {
			of, since := slices.Clone(entries), map[string]bool{}
			for i := range of {
				if c.change != nil {
					c.change(&of[i])
				}
			}
			for _, path := range strings.Fields(c.since) {
				since[path] = true
			}
			want := all
			for _, path := range c.stay {
				want = strings.Replace(strings.Replace(want, path+" ", "", 1), " "+path+"]", "]", 1)
			}
			if got := paths(Writes(of, since, sdk.Loop{ID: 6, Sequence: 3}, 4, "in short")); got != want {
				t.Errorf("archived are\n%s, want\n%s", got, want)
			}
		})
	}
}

// TestRule: only a text that is whole and called nothing is a summary.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		answer   sdk.Completion
		failures int
		status   int
	}{
		{sdk.Completion{Text: "in short", Finish: "stop"}, 0, sdk.StatusOK},
		{sdk.Completion{Text: "in short"}, 0, sdk.StatusOK},
		{sdk.Completion{Text: "\t\n"}, 0, sdk.StatusFailed},
		{sdk.Completion{Text: "in sh", Finish: "length"}, 0, sdk.StatusFailed},
		{sdk.Completion{Text: "in sh", Finish: "filter"}, 0, sdk.StatusFailed},
		{sdk.Completion{Text: "in short", Finish: "calls"}, 0, sdk.StatusFailed},
		{sdk.Completion{Text: "in short", Finish: "stop"}, 1, sdk.StatusFailed},
	} {
		if r := Rule(c.answer, c.failures); r.Status != c.status || r.Continue || r.Stop == "" || r.Reason == "" {
			t.Errorf("%+v with %d failures: %+v", c.answer, c.failures, r)
		}
	}
}

// TestFlat: no call and no result is left as such, and no text, name or argument is lost.
func TestFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages []sdk.Message
		var said []string
		text := func() string {
			said = append(said, fmt.Sprintf("<%d>", len(said)))
			return said[len(said)-1]
		}
		for range rapid.IntRange(0, 6).Draw(t, "messages") {
			switch rapid.IntRange(0, 1).Draw(t, "kind") {
			case 0:
				messages = append(messages, sdk.Message{Role: sdk.RoleUser, Text: text(), Media: []sdk.Medium{{URI: text()}}})
			case 1:
				m := sdk.Message{Role: sdk.RoleAssistant, Reasoning: "thought", Extra: json.RawMessage(`{}`)}
				if rapid.Bool().Draw(t, "speaks") {
					m.Text = text()
				}
				calls := rapid.IntRange(0, 3).Draw(t, "calls")
				for range calls {
					m.Calls = append(m.Calls, sdk.Call{ID: "x", Tool: text(), Arguments: text()})
				}
				messages = append(messages, m)
				for _, c := range m.Calls {
					messages = append(messages, sdk.Message{Role: sdk.RoleTool, Tool: c.Tool, Text: text()})
				}
			}
		}
		asks := sdk.Message{Role: sdk.RoleUser, Text: text()}
		before := fmt.Sprintf("%+v", messages)
		flat := Flat(append(messages, asks))
		if fmt.Sprintf("%+v", messages) != before {
			t.Error("it changed what it was given")
		}
		whole := ""
		for i, m := range flat {
			if m.Role == sdk.RoleTool || len(m.Calls) > 0 || m.Extra != nil || m.Reasoning != "" {
				t.Errorf("%+v", m)
			}
			whole += m.Text
			for _, x := range m.Media {
				whole += x.URI
			}
			if i > 0 && i < len(flat)-1 && m.Role == sdk.RoleUser && flat[i-1].Role == sdk.RoleUser {
				t.Error("two messages of the user stand together")
			}
		}
		for _, s := range said {
			if !strings.Contains(whole, s) {
				t.Errorf("%s is lost", s)
			}
		}
		if last := flat[len(flat)-1]; last.Text != asks.Text {
			t.Errorf("the last message is %q", last.Text)
		}
	})
}
