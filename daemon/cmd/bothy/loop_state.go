package main

import (
	"sync/atomic"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// loopState is the loop that is followed, as far as its rows were read.
type loopState struct {
	*timeline.Loop               // empty until its first row
	tree           timeline.Tree // the run and its children
	started        atomic.Bool   // a row of it was read, for those who watch from elsewhere
	waiting        *sdk.Proposal // at the end: nobody answered it
}

func newLoopState(id int64) *loopState { return &loopState{Loop: &timeline.Loop{ID: id}} }

// take takes in a row of the run or of a child, and reports whether the loop is what it is about.
func (s *loopState) take(row sdk.JournalRow) (timeline.Change, bool) {
	c := s.tree.Take(row)
	if c.Loop == nil || c.Loop.ID != s.ID {
		return c, false
	}
	s.Loop = c.Loop
	s.started.Store(true)
	return c, true
}

// Waits is what a person has to answer now, of the loop or of work that it delegated.
func (s *loopState) Waits() *timeline.Action { return s.tree.Waits(s.Loop) }

// Waiting are all that a person has to answer now, of the loop and of work that it delegated.
func (s *loopState) Waiting() []*timeline.Action { return s.tree.Waiting(s.Loop) }

// chain are the calls by which the work came that a change is about; false when it did not come from the loop.
func (s *loopState) chain(c timeline.Change) ([]timeline.Call, bool) {
	return s.tree.Chain(c.Loop, s.Loop)
}

// exit is the exit code of a loop that has ended.
func exitOf(end sdk.LoopEnd) int { return sdk.StopExit(end.Stop, end.Status) }
