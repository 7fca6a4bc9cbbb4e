package main

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// story is one loop as its journal rows tell it. It reads the rows of the
// whole run and keeps those of its loop.
type story struct {
	loop    int64
	begun   bool
	started atomic.Bool // the same, for those who watch from elsewhere
	turns   int
	turn    int // the one at work
	actions []*action
	byPath  map[string]*action
	text    string // the last text of the model that came without calls
	partial string // instead of it, what came of one that was cut off
	usage   sdk.Usage
	first   time.Time
	last    time.Time
	end     *loopEnd
	waiting *sdk.Proposal // at the end: nobody answered it
}

func newStory(loop int64) *story { return &story{loop: loop, byPath: map[string]*action{}} }

// mine reports whether a row belongs to the loop. Rows that name no loop are
// those of the one at work.
func (s *story) mine(row sdk.JournalRow) bool {
	if row.Loop != 0 {
		return row.Loop == s.loop
	}
	return s.begun && s.end == nil
}

// take takes a row in and returns the action that it is about, if any.
func (s *story) take(row sdk.JournalRow) *action {
	s.begun = true
	s.started.Store(true)
	if s.first.IsZero() {
		s.first = row.Time
	}
	s.last = row.Time
	switch row.Kind {
	case sdk.KindTurnOpened:
		s.turns, s.turn = s.turns+1, row.Turn
	case sdk.KindTurnClosed:
		s.closeTurn(row.Data)
	case sdk.KindEntrySet:
		return s.entry(row)
	case sdk.KindEntryChunk:
		if a := s.byPath[row.Path]; a != nil {
			a.take(row)
			return a
		}
	case sdk.KindLoopEnded:
		end := loopEnd{}
		if json.Unmarshal(row.Data, &end) == nil {
			s.end = &end
		}
	}
	return nil
}

func (s *story) closeTurn(data json.RawMessage) {
	var closed struct {
		Usage *sdk.Usage `json:"usage"`
	}
	if json.Unmarshal(data, &closed) != nil || closed.Usage == nil {
		return
	}
	s.usage.Prompt += closed.Usage.Prompt
	s.usage.Cached += closed.Usage.Cached
	s.usage.Completion += closed.Usage.Completion
	s.usage.Reasoning += closed.Usage.Reasoning
	s.usage.Total += closed.Usage.Total
	s.usage.Cost += closed.Usage.Cost
}

func (s *story) entry(row sdk.JournalRow) *action {
	var change sdk.EntryChange
	if json.Unmarshal(row.Data, &change) != nil {
		return nil
	}
	switch sdk.SchemeOf(row.Path) {
	case "assistant":
		if !isAnswer(row) {
			return nil
		}
		s.text, s.partial = "", ""
		switch {
		case row.Body == nil || hasCalls(change.Attributes):
		case change.State == sdk.StateResolved:
			s.text = *row.Body
		default:
			s.partial = *row.Body
		}
	case "log":
		return s.action(row, change)
	}
	return nil
}

// isAnswer reports whether a row has what a model said in a turn, whole. While
// it is being written the entry streams, and what a dead daemon had of an answer
// is kept below its path.
func isAnswer(row sdk.JournalRow) bool {
	var change sdk.EntryChange
	turn, of := strings.CutPrefix(row.Path, "assistant://")
	return of && row.Kind == sdk.KindEntrySet && !strings.Contains(turn, "/") &&
		json.Unmarshal(row.Data, &change) == nil && change.State.Ended()
}

// action finds or makes the action of a row.
func (s *story) action(row sdk.JournalRow, change sdk.EntryChange) *action {
	a := s.byPath[row.Path]
	if a == nil {
		a = &action{Path: row.Path, Turn: row.Turn}
		if parts := strings.SplitN(strings.TrimPrefix(row.Path, "log://"), "/", 3); len(parts) > 1 {
			a.Tool = parts[1]
		}
		s.byPath[row.Path] = a
		s.actions = append(s.actions, a)
	}
	a.State, a.Outcome, a.Phase = change.State, change.Outcome, change.Phase
	if row.Body != nil {
		a.Body = *row.Body
	}
	a.merge(change.Attributes)
	return a
}

// waits is the action that a person has to answer now: actions are worked on in
// their order, so one behind it, or before it is its turn, is none.
func (s *story) waits() *action {
	for _, a := range s.actions {
		switch {
		case a.isError() || a.State.Ended():
		case a.State == sdk.StateProposed:
			return a
		default:
			return nil
		}
	}
	return nil
}

// calls counts the actions that are calls of tools.
func (s *story) calls() int {
	n := 0
	for _, a := range s.actions {
		if !a.isError() {
			n++
		}
	}
	return n
}

// hasCalls reads the attributes of an assistant entry.
func hasCalls(attributes json.RawMessage) bool {
	var calls struct {
		Calls []json.RawMessage `json:"calls"`
	}
	return len(attributes) > 0 && json.Unmarshal(attributes, &calls) == nil && len(calls.Calls) > 0
}

// answer is what the loop has to say: the model's last text without calls, or
// what the terminal call gave. A text that was cut off is none.
func (s *story) answer() string {
	if s.text != "" || s.end == nil || s.end.Stop != sdk.StopTerminal {
		return s.text
	}
	for _, a := range slices.Backward(s.actions) {
		if !a.isError() {
			return a.Body
		}
	}
	return ""
}
