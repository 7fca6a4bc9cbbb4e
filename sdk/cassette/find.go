package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Difference is the first place where a request is not the cassette's.
type Difference struct {
	Where    string // such as "message 3 (tool) of bash"
	Expected string
	Got      string
}

// Error shows the difference on three lines.
func (d *Difference) Error() string {
	return fmt.Sprintf("%s differs\n  expected: %s\n  got:      %s", d.Where, d.Expected, d.Got)
}

// Find returns the step that answers a request of which the cassette is the whole
// conversation. Which one it is follows from the request alone, so that a restart loses no
// place: by the number of assistant messages in it, and where there is none by its turn.
// System messages, tool definitions, ids and reasoning are not compared.
func (c *Cassette) Find(req sdk.Request) (Step, *Difference) {
	said := slices.ContainsFunc(req.Messages, func(m sdk.Message) bool { return m.Role == sdk.RoleAssistant })
	if !said && req.Turn > 1 {
		s, d := c.Next(req.Turn-1, Fresh(req.Messages, false))
		if d == nil {
			return s, nil
		}
		if s, first := c.find(req); first == nil { // the turns before it had no model
			return s, nil
		}
		return Step{}, d
	}
	return c.find(req)
}

// find is Find by the assistant messages.
func (c *Cassette) find(req sdk.Request) (Step, *Difference) {
	var got []sdk.Message
	turn := 0
	for _, m := range req.Messages {
		if m.Role == sdk.RoleSystem {
			continue
		}
		if m.Role == sdk.RoleAssistant {
			turn++
		}
		got = append(got, described(m))
	}
	next := 0
	for i, s := range c.Steps[:min(turn+1, len(c.Steps))] {
		for _, e := range s.Request {
			if d := compare(e, got, next); d != nil {
				return Step{}, d
			}
			next++
		}
		if i == turn {
			if next < len(got) {
				return Step{}, &Difference{Where: place(next, got[next].Role), Expected: "nothing more: it is the model's turn", Got: describe(got[next])}
			}
			return s, nil
		}
		if d := compareSaid(s.said(), got, next); d != nil {
			return Step{}, d
		}
		next++
	}
	where, rest := "the end of the conversation", "one more request"
	if next < len(got) {
		where, rest = place(next, got[next].Role), describe(got[next])
	}
	return Step{}, &Difference{Where: where, Expected: fmt.Sprintf("nothing: the cassette ends after %d steps", len(c.Steps)), Got: rest}
}

func compare(e Expected, got []sdk.Message, at int) *Difference {
	want := "a user who says something"
	switch {
	case e.Text != nil:
		want = "user: " + e.Text.String()
	case e.Role == sdk.RoleTool:
		want = "the result of " + e.Tool + ": " + e.Result.String()
	}
	if at >= len(got) {
		return &Difference{Where: place(at, e.Role), Expected: want, Got: "the end of the request"}
	}
	m := got[at]
	switch {
	case m.Role != e.Role, e.Role == sdk.RoleTool && m.Tool != e.Tool:
		return &Difference{Where: place(at, e.Role), Expected: want, Got: describe(m)}
	}
	where, rule := place(at, e.Role), e.rule()
	if e.Role == sdk.RoleTool {
		where += " of " + e.Tool
	}
	switch {
	case rule == nil || rule.accepts(m.Text):
		return nil
	case rule.Exact != nil:
		return differs(where, *rule.Exact, m.Text)
	}
	return &Difference{Where: where, Expected: rule.String(), Got: fmt.Sprintf("%q", clip(m.Text, 0))}
}

func compareSaid(want sdk.Message, got []sdk.Message, at int) *Difference {
	where := place(at, sdk.RoleAssistant)
	if at >= len(got) {
		return &Difference{Where: where, Expected: describe(want), Got: "the end of the request"}
	}
	m := got[at]
	switch {
	case m.Role != sdk.RoleAssistant:
		return &Difference{Where: where, Expected: describe(want), Got: describe(m)}
	case m.Text != want.Text:
		return differs(where, want.Text, m.Text)
	case len(m.Calls) != len(want.Calls):
		return &Difference{Where: where, Expected: fmt.Sprintf("%d calls", len(want.Calls)), Got: fmt.Sprintf("%d calls", len(m.Calls))}
	}
	for i, call := range want.Calls {
		in := fmt.Sprintf("%s, call %d", where, i+1)
		if m.Calls[i].Tool != call.Tool {
			return differs(in+", tool", call.Tool, m.Calls[i].Tool)
		}
		if !sameArguments(call.Arguments, m.Calls[i].Arguments) {
			return differs(in+", arguments", call.Arguments, m.Calls[i].Arguments)
		}
	}
	return nil
}

func place(at int, role sdk.Role) string { return fmt.Sprintf("message %d (%s)", at+1, role) }

func describe(m sdk.Message) string {
	switch {
	case m.Role == sdk.RoleTool:
		return fmt.Sprintf("the result of %s: %q", m.Tool, clip(m.Text, 0))
	case len(m.Calls) > 0:
		return fmt.Sprintf("%s: %q and %d calls, the first of %s", m.Role, clip(m.Text, 0), len(m.Calls), m.Calls[0].Tool)
	default:
		return fmt.Sprintf("%s: %q", m.Role, clip(m.Text, 0))
	}
}

// differs shows both texts around the first byte that is not the same.
func differs(where, want, got string) *Difference {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	return &Difference{Where: where, Expected: strconv.Quote(clip(want, at)), Got: strconv.Quote(clip(got, at))}
}

// clipAt bounds what an error shows of a text.
const clipAt = 240

// clip cuts a text to the part around the byte that matters.
func clip(s string, at int) string {
	from := 0
	if at > clipAt/2 {
		from = at - clipAt/2
	}
	to := min(from+clipAt, len(s))
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	out := s[min(from, to):to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}

// sameArguments compares JSON values, so that key order and blank space do not
// count; what is no JSON is compared as text.
func sameArguments(a, b string) bool {
	if a == b {
		return true
	}
	x, errA := sdk.AnyJSON([]byte(a))
	y, errB := sdk.AnyJSON([]byte(b))
	return errA == nil && errB == nil && sameValue(x, y)
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a, b)
	default:
		return a == b
	}
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errA := strconv.ParseFloat(string(a), 64)
	y, errB := strconv.ParseFloat(string(b), 64)
	if errA != nil || errB != nil || x != y {
		return false
	}
	// Beyond 2^53 a float tells neighbours apart no more; there the digits count.
	return x > -(1<<53) && x < 1<<53
}
