package compact

import "github.com/bothyd/bothy/sdk"

// said is what was said until the turn of a loop, as far as its model was told of it.
type said struct {
	since map[string]bool // written since it was asked
	loop  int64
	turn  int
	loops map[int64]bool // whose prompts stay, for what stays of their turns
	turns map[int]bool   // that stay whole, for a call of which its model was not told the end
}

// before finds what was said until the turn of a loop.
func before(entries []sdk.Entry, since map[string]bool, loop int64, turn int) said {
	s := said{since: since, loop: loop, turn: turn, loops: map[int64]bool{}, turns: map[int]bool{}}
	for i := range entries {
		e := &entries[i]
		at, over := s.parts(e)
		if at > 0 && at < turn && (!over || s.isNew(e)) && !alone(e) {
			s.turns[at], s.loops[e.Loop] = true, true
		}
	}
	return s
}

// has reports whether an entry is a part of what was said. A prompt that waits behind the loop is none, and no call is of which
// the model was not told the end.
func (s said) has(e *sdk.Entry) bool {
	switch e.Scheme() {
	case "prompt":
		return e.Loop <= s.loop && !s.loops[e.Loop]
	case sdk.SummaryScheme:
		return e.Loop <= s.loop
	}
	turn, over := s.parts(e)
	return turn > 0 && turn <= s.turn && over && !s.turns[turn] && !s.isNew(e)
}

// isNew reports whether an entry is as its model did not see it. Its own prompt and answer are none of that.
func (s said) isNew(e *sdk.Entry) bool {
	return s.since[e.Path] && (e.Loop != s.loop || e.Phase != sdk.PhaseNone)
}

// parts are the turn in which something was said, done, printed or reported, and whether it is over; 0 is any other entry.
func (s said) parts(e *sdk.Entry) (turn int, over bool) {
	switch e.Scheme() {
	case "assistant":
		return sdk.TurnOf(e.Path), e.State != sdk.StateStreaming
	case "log":
		if at, is := sdk.ParseActionPath(e.Path); is {
			return at.Turn, e.Phase == sdk.PhaseNone || e.State.Ended()
		}
	case "sh", "env":
		if at, _, is := sdk.ParseOutputPath(e.Path); is {
			return at.Turn, e.State.Ended()
		}
	case "update":
		return e.Turn, true
	}
	return 0, false
}

// alone reports whether an entry is no part of a model's turn: what a person did, and what is said of no call.
func alone(e *sdk.Entry) bool {
	if e.Scheme() != "log" {
		return false
	}
	a, _ := sdk.ActionOf(*e) // what can be read of it is enough
	return e.Phase == sdk.PhaseNone || a.Person
}
