package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// session is a run that the editor has open.
type session struct {
	b       *bridge
	id      acp.SessionId
	project string // absolute path of its root
	run     int64
	made    bool // by this bridge

	ctx     context.Context
	end     context.CancelFunc
	teller  *teller
	sending sync.RWMutex // held while a prompt goes out: the journal may have it before the answer is here

	mu         sync.Mutex // guards what follows
	alias      string     // of the run
	following  bool
	endHearing context.CancelFunc
	agents     []rpc.Agent
	models     []rpc.Model
	next       chosen                 // what goes with the next prompts
	shown      chosen                 // what the editor shows
	prompts    map[int64]chan outcome // of the editor, by loop; each gets how it ended
	waits      int                    // how many of them are waited for
}

// outcome is how a prompt ended.
type outcome struct {
	reason acp.StopReason
	usage  *acp.Usage
	err    error // in the place of a reason
}

func (b *bridge) newSession(id acp.SessionId, project string, run int64, alias string) *session {
	s := &session{b: b, id: id, project: project, run: run, alias: alias, prompts: map[int64]chan outcome{}}
	s.ctx, s.end = context.WithCancel(b.ctx)
	s.teller = newTeller(s)
	return s
}

// update tells the editor something of the session. It waits for an editor that reads slowly.
func (s *session) update(u acp.SessionUpdate) {
	if err := s.b.conn.SessionUpdate(s.ctx, acp.SessionNotification{SessionId: s.id, Update: u}); err != nil && s.ctx.Err() == nil {
		s.b.log.Warn("the editor was not told", "error", err)
	}
}

// say tells the person something that is no answer of the model.
func (s *session) say(text string) { s.update(acp.UpdateAgentThoughtText("\n" + text + "\n")) }

// renamed takes note of the run's new name.
func (s *session) renamed(row sdk.JournalRow) {
	var d struct{ To string }
	if json.Unmarshal(row.Data, &d) != nil || d.To == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alias = d.To
}

// settled waits until it is known whose prompt it is that the journal tells of.
func (s *session) settled() {
	s.sending.RLock()
	defer s.sending.RUnlock()
}

// gave reports whether the editor gave a prompt.
func (s *session) gave(loop int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts[loop] != nil
}

// given takes note of a prompt of the editor, and returns where its end will be told.
func (s *session) given(loop int64) <-chan outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompts[loop] == nil {
		s.prompts[loop] = make(chan outcome, 1)
	}
	return s.prompts[loop]
}

// finish tells how a prompt ended to whoever waits; false where nobody gave it here.
func (s *session) finish(loop int64, o outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := s.prompts[loop]
	if ended == nil {
		return false
	}
	select {
	case ended <- o:
	default: // it was told
	}
	return true
}

// fail ends the waiting of all prompts: nothing more is heard of them.
func (s *session) fail(err error) {
	s.mu.Lock()
	var loops []int64
	for loop := range s.prompts {
		loops = append(loops, loop)
	}
	s.mu.Unlock()
	for _, loop := range loops {
		s.finish(loop, outcome{err: err})
	}
}

// busy reports whether a prompt of the editor is waited for.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits > 0
}

// waiting counts a prompt that is waited for, until done is called.
func (s *session) waiting() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waits--
	}
}
