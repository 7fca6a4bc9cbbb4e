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
	lends   *lending
	sending sync.RWMutex // held while a prompt goes out: the journal may have it before the answer is here

	mu        sync.Mutex // guards what follows
	alias     string     // of the run
	following bool
	agents    []rpc.Agent
	models    []rpc.Model
	next      chosen           // what goes with the next prompts
	shown     chosen           // what the editor shows
	prompts   map[int64]*given // by loop
	waits     int              // how many of the editor's are waited for
}

// given is a prompt that somebody gave.
type given struct {
	own   bool          // the editor did
	ended chan struct{} // closed when it has
	outcome
}

// outcome is how a prompt ended.
type outcome struct {
	reason acp.StopReason
	usage  *acp.Usage
	err    error // in the place of a reason
}

func (b *bridge) newSession(id acp.SessionId, project string, run int64, alias string) *session {
	s := &session{b: b, id: id, project: project, run: run, alias: alias, prompts: map[int64]*given{}, lends: &lending{}}
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
	return s.prompts[loop] != nil && s.prompts[loop].own
}

// noted is what is known of a prompt, from now on. It needs s.mu.
func (s *session) noted(loop int64) *given {
	p := s.prompts[loop]
	if p == nil {
		p = &given{ended: make(chan struct{})}
		s.prompts[loop] = p
	}
	return p
}

// own takes note of a prompt of the editor, which may have ended before: who sends one again under
// its key gets what became of it.
func (s *session) own(loop int64) *given {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.noted(loop)
	p.own = true
	return p
}

// finish takes note of how a prompt ended, and reports whether the editor gave it.
func (s *session) finish(loop int64, o outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.noted(loop)
	p.outcome = o
	close(p.ended)
	return p.own
}

// lose ends the waiting for all prompts of which nothing more is heard. When the run is followed
// again they can be waited for anew.
func (s *session) lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for loop, p := range s.prompts {
		select {
		case <-p.ended:
		default:
			p.err = err
			close(p.ended)
			s.prompts[loop] = &given{own: p.own, ended: make(chan struct{})}
		}
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
