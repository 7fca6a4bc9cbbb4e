package server

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// states is a watch that tells how its runs are in place of the rows that say it. It keeps of each
// run what was not told yet: who reads slowly is told less often, and never of less than how the
// run is then, and of each end of a loop.
type states struct {
	w      *watch
	parts  bool // of history and unknowns only what changed
	begins bool // with what waits for a person
	order  []int64
	of     map[int64]*untold
	names  map[int64]string
}

// checkStates refuses a word that is no form of run/state; empty is none.
func checkStates(s rpc.States) error {
	if s != "" && s != rpc.StatesWhole && s != rpc.StatesIncrements {
		return wrongParams("states is %q: it is whole or increments", s)
	}
	return nil
}

// untold is what changed in a run since its state was told.
type untold struct {
	turn    int
	ended   bool // a turn was closed
	history []rpc.Event
	unknown []rpc.Unknown
	summary string
}

func newStates(w *watch, as rpc.States) *states {
	return &states{w: w, parts: as == rpc.StatesIncrements, of: map[int64]*untold{}, names: map[int64]string{}}
}

// take takes in a row; false says that the client is gone.
func (x *states) take(row sdk.JournalRow) bool {
	if row.Run == 0 {
		return true
	}
	switch row.Kind {
	case sdk.KindRunRenamed, sdk.KindRunDeleted:
		delete(x.names, row.Run)
	case sdk.KindTurnOpened:
		x.changed(row)
		return x.progress(row, "thinking")
	case sdk.KindTurnClosed:
		x.changed(row).ended = true
	case sdk.KindNoteRetry:
		return x.progress(row, "retrying") && x.say(row, "warn")
	case sdk.KindNoteFallback, sdk.KindNoteWarning:
		return x.say(row, "warn")
	case sdk.KindNoteProgress:
		return x.render(row)
	case sdk.KindEntrySet:
		return x.entry(row)
	case sdk.KindRunStatus, sdk.KindEntryRemoved:
		x.changed(row)
	case sdk.KindLoopEnded:
		var end sdk.LoopEnd
		_ = json.Unmarshal(row.Data, &end) // without it the run says how it is
		x.changed(row).ended = true
		return x.tell(row.Run, shown(end.Status))
	}
	return true
}

// shown is what a run shows of the end of a loop.
func shown(status int) int {
	switch status {
	case sdk.StatusAborted, sdk.StatusFailed, 0:
		return status
	}
	return sdk.StatusOK
}

func (x *states) changed(row sdk.JournalRow) *untold {
	u := x.of[row.Run]
	if u == nil {
		u = &untold{}
		x.of[row.Run] = u
		x.order = append(x.order, row.Run)
	}
	u.turn = max(u.turn, row.Turn)
	return u
}

// entry takes in what became of an entry.
func (x *states) entry(row sdk.JournalRow) bool {
	var change sdk.EntryChange
	if json.Unmarshal(row.Data, &change) != nil || change.Look {
		return true
	}
	e := sdk.Entry{Path: row.Path, State: change.State, Outcome: change.Outcome, Attributes: change.Attributes, Turn: row.Turn}
	switch {
	case row.Body != nil:
		e.Body = *row.Body
	case x.parts && row.BodyHash != "":
		e.Body, e.Left = x.body(row)
	}
	u := x.changed(row)
	tellEntry(e, &u.history, &u.unknown)
	_, reply := sdk.ParseReplyPath(row.Path)
	_, action := sdk.ParseActionPath(row.Path)
	switch {
	case reply:
		if change.State == sdk.StateResolved && e.Body != "" {
			u.summary, _ = cut(e.Body, historyBody)
		}
		return x.progress(row, "processing")
	case action && change.State == sdk.StateProposed:
		return x.proposed(row.Run, row.Path)
	case action && change.State == sdk.StateCancelled && change.Phase == sdk.PhaseEnded:
		return x.cancelled(row, string(change.Outcome))
	case action && change.Phase == sdk.PhaseEnded && bytes.Contains(row.Data, []byte(sdk.MetadataCancelled)):
		a, err := sdk.ActionOf(e)
		if reason, is := a.Metadata[sdk.MetadataCancelled].(string); is && err == nil {
			return x.cancelled(row, reason)
		}
	}
	return true
}

// body is what the body of an entry begins with as it is now, and what is left of it, where it is too long for a row.
func (x *states) body(row sdk.JournalRow) (string, int) {
	found, err := x.w.c.s.cfg.Store.Entries(x.w.ctx, sdk.EntryQuery{Run: row.Run, Path: row.Path, Longest: historyBody})
	if err != nil || len(found) == 0 {
		return "", 0 // it has gone
	}
	return found[0].Body, found[0].Left
}

func (x *states) cancelled(row sdk.JournalRow, reason string) bool {
	name, ok := x.name(row.Run)
	return !ok || x.send(rpc.NoteStreamCancelled, rpc.StreamCancelled{Run: name, Path: row.Path, Reason: reason})
}

// waiting tells what waits for a person in the project of the watch, a channel of what its own runs propose.
func (x *states) waiting() bool {
	all, err := x.w.c.s.cfg.Policy.Proposals(x.w.ctx)
	if err == nil {
		all, err = kept(all, func(p sdk.Proposal) (bool, error) { return x.w.c.sees(x.w.ctx, p.Run) })
	}
	if err != nil {
		x.w.c.s.log.Error("a client cannot be told what waits for a person", "error", err)
		return x.w.ctx.Err() == nil
	}
	for _, p := range all {
		if p.Project == x.w.root && !x.proposed(p.Run, p.Path) {
			return false
		}
	}
	return true
}

// proposed tells an entry that waits, as a whole: its row has only what changed.
func (x *states) proposed(run int64, path string) bool {
	name, ok := x.name(run)
	if !ok {
		return true
	}
	entries, err := x.w.c.s.cfg.Store.Entries(x.w.ctx, sdk.EntryQuery{Run: run, Path: path})
	if err != nil || len(entries) == 0 || entries[0].State != sdk.StateProposed {
		return x.w.ctx.Err() == nil // it is gone, or answered
	}
	chain, err := x.w.c.s.cfg.Store.Delegators(x.w.ctx, run)
	if err != nil {
		return x.w.ctx.Err() == nil
	}
	e := event(entries[0])
	return x.send(rpc.NoteProposal, rpc.Proposed{Run: name, Chain: sdk.Aliases(chain), Proposed: []rpc.ProposedEntry{{Path: e.Path, Body: e.Body, Attributes: e.Attributes, Turn: e.Turn}}}, proposedEntries(entries)...)
}

func (x *states) progress(row sdk.JournalRow, status string) bool {
	name, ok := x.name(row.Run)
	return !ok || x.send(rpc.NoteProgress, rpc.Progress{Run: name, Turn: row.Turn, Status: status})
}

// say tells what a note says.
func (x *states) say(row sdk.JournalRow, level string) bool {
	name, ok := x.name(row.Run)
	text := message(row)
	return !ok || text == "" || x.send(rpc.NoteNotify, rpc.Notify{Run: name, Text: text, Level: level})
}

func (x *states) render(row sdk.JournalRow) bool {
	name, ok := x.name(row.Run)
	text := message(row)
	return !ok || text == "" || x.send(rpc.NoteRender, rpc.Render{Run: name, Text: text})
}

func message(row sdk.JournalRow) string {
	var data struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(row.Data, &data) // a note of another shape says nothing here
	return data.Message
}

// flush tells the runs that changed.
func (x *states) flush() bool {
	for len(x.order) > 0 {
		if !x.tell(x.order[0], 0) {
			return false
		}
	}
	return true
}

// tell tells the state of a run; status, when not 0, is that of a loop that ended.
func (x *states) tell(run int64, status int) bool {
	u := x.of[run]
	delete(x.of, run)
	for i, id := range x.order {
		if id == run {
			x.order = append(x.order[:i], x.order[i+1:]...)
			break
		}
	}
	found, err := x.w.c.s.cfg.Store.Run(x.w.ctx, run)
	if err != nil {
		return x.w.ctx.Err() == nil // it was deleted
	}
	var state rpc.RunState
	if x.parts {
		state = newState(found)
		state.History, state.Unknowns, state.Summary = orEmpty(u.history), orEmpty(u.unknown), u.summary
		if u.ended {
			var whole rpc.RunState
			whole, err = x.w.c.s.state(x.w.ctx, found)
			state.Telemetry, state.Summary = whole.Telemetry, whole.Summary
		}
	} else if state, err = x.w.c.s.state(x.w.ctx, found); !u.ended {
		state.Telemetry = nil
	}
	if err != nil {
		return x.w.ctx.Err() == nil
	}
	if status != 0 {
		state.Status = status
	}
	return x.send(rpc.NoteState, state, proposedEvents(run, state.History)...)
}

// name is the alias of a run; false when there is none any more.
func (x *states) name(run int64) (string, bool) {
	name, known := x.names[run]
	if !known {
		found, err := x.w.c.s.cfg.Store.Run(x.w.ctx, run)
		if err != nil {
			return "", false
		}
		name = found.Alias
		x.names[run] = name
	}
	return name, true
}

// send waits for room for as long as the client is there. shown are the proposals that it tells of.
func (x *states) send(method string, params any, shown ...sentProposal) bool {
	text, err := encodeNote(method, params)
	if err != nil {
		x.w.c.s.log.Error("a notification cannot be sent", "method", method, "error", err)
		return true
	}
	for !x.w.ring.take(x.w.ctx, len(text), time.Minute) {
		if x.w.ctx.Err() != nil {
			return false
		}
	}
	x.w.c.out.put(text, func() {
		x.w.c.sent.note(shown)
		x.w.ring.free(len(text))
	})
	return true
}
