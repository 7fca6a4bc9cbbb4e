package show

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// of stands between a run and the one that its work was delegated to.
const of = " > "

// Asker is the run that a proposal is of, behind those that delegated its work.
func Asker(p sdk.Proposal) string {
	return ExactLine(strings.Join(append(append([]string(nil), p.Chain...), p.Alias), of))
}

// reason is why a proposal is asked, and of a child for whom.
func reason(p sdk.Proposal) string {
	if len(p.Chain) == 0 {
		return ExactLine(p.Decision.Reason)
	}
	return Asker(p) + ": " + ExactLine(p.Decision.Reason)
}

// Below is an action of delegated work on a line: the runs that lead to it, the call, and in a character what became
// of it. Chain are the calls by which the work came there.
func Below(chain []timeline.Call, a *sdk.Action, width int) Spans {
	lead := Span{Dim, "  " + Chain(chain) + " "}
	if path, is := sdk.ParseActionPath(a.Path); is && path.IsError() {
		text := Line(strings.TrimSpace(a.Body))
		if width > 0 {
			text = Cut(text, max(width-Width(lead.Text)-2, 10))
		}
		if path.IsCorrection() {
			return Spans{lead, {Dim, "~ "}, {Dim, text}}
		}
		return Spans{lead, {Bad, "! "}, {Plain, text}}
	}
	room := 0
	if width > 0 {
		room = max(width-Width(lead.Text), 10)
	}
	return append(Spans{lead}, call(mark(a), a, room)...)
}

// Chain names the runs that work was delegated to, one after the other.
func Chain(chain []timeline.Call) string {
	var names []string
	for _, c := range chain {
		names = append(names, Line(c.Action.Child.Alias))
	}
	return strings.Join(names, of)
}

// Work says in a few words how far delegated work has come, folded: who does it, where, how many calls it made, and
// what it does now. Loop is nil where nothing of it was read.
func Work(child sdk.ActionChild, loop *timeline.Loop) string {
	text := Line(child.Agent) + " in " + Line(child.Alias)
	if loop == nil {
		return text
	}
	calls, now := 0, ""
	for _, a := range loop.Actions() {
		if a.IsError() {
			continue
		}
		calls++
		if a.State == sdk.StateProposed {
			now = "waits for you"
		} else if !a.State.Ended() && now == "" {
			now = Line(a.Tool) + " " + Shorten(Arguments(a.Arguments), 60)
		}
	}
	if calls > 0 {
		text += ", " + Plural(calls, "call")
	}
	if loop.End == nil && now != "" {
		text += ": " + strings.TrimSpace(now)
	}
	return text
}
