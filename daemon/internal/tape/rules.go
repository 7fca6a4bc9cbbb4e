package tape

import (
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// mostPattern is the most that is compared of a text which a view made, in bytes.
const mostPattern = 16 << 10

// Loosen puts rules in the place of the texts that a view made of what the run has (Message.Results): paths in them have
// the numbers of turns, and results what changes with each call. What must stand there is the rest; the text itself is kept beside.
// Fresh is what the step was made of, and must says what stands there in each run of the conversation.
func Loosen(s *cassette.Step, fresh []sdk.Message, must func() []string) {
	for i, m := range fresh {
		if m.Results == 0 || m.Role != sdk.RoleUser {
			continue
		}
		text := m.Text
		pattern, rest := "", text
		for _, part := range must() {
			if before, behind, is := strings.Cut(rest, part); is && len(pattern)+len(part) <= mostPattern {
				if pattern != "" || before != "" {
					pattern += ".*"
				}
				pattern, rest = pattern+regexp.QuoteMeta(part), behind
			}
		}
		rule := cassette.Rule{Any: true, Recorded: &text}
		if pattern != "" {
			pattern = "(?s)" + strings.TrimPrefix(pattern, ".*")
			rule = cassette.Rule{Regex: &pattern, Recorded: &text}
		}
		s.Request[i].Text = &cassette.Text{Rule: rule}
	}
}

// Must is what stands in what the model of a loop's turn is sent: the prompt in the first one, and later what tools that only read
// answered in the turn before. Entries are those of the run in their order, and exact says of a tool that it answers the same
// wherever things are as they were.
func Must(entries []sdk.Entry, l sdk.Loop, turn int, first bool, exact func(tool string) bool) (all []string) {
	if first {
		return []string{strings.TrimSpace(l.Prompt)}
	}
	last := 0
	for _, e := range entries {
		if e.Loop == l.ID && e.Turn < turn && e.Phase != sdk.PhaseNone {
			last = max(last, e.Turn)
		}
	}
	for _, e := range entries {
		if e.Loop != l.ID || e.Turn != last || e.Phase == sdk.PhaseNone {
			continue
		}
		at, err := sdk.ActionOf(e)
		if text := strings.TrimSpace(at.Body); err == nil && text != "" && at.Parent == "" && at.State == sdk.StateResolved && exact(at.Tool) {
			all = append(all, text)
		}
	}
	return all
}

// Clean is an answer without secrets.
func Clean(c sdk.Completion, clean func(string) string) sdk.Completion {
	out := c
	out.Text, out.Reasoning, out.Calls = clean(c.Text), clean(c.Reasoning), nil
	for _, call := range c.Calls {
		out.Calls = append(out.Calls, sdk.Call{ID: clean(call.ID), Tool: clean(call.Tool), Arguments: clean(call.Arguments)})
	}
	return out
}
