package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// sentProposal is what was sent of an entry that waits: an answer by its path is bound to that.
type sentProposal struct {
	run            int64
	path, id, hash string
	replaced       time.Time // when it took the place of another of the same path; zero when it took none
}

// crossing is how long an answer may have been on its way, or in somebody's mind, when what it is about
// was replaced.
const crossing = 2 * time.Second

// mostSent is of how many proposals a connection is known to have been sent them, the newest of all.
const mostSent = 256

// sent are the proposals that a connection was sent.
type sent struct {
	mu  sync.Mutex
	all []sentProposal // the newest last, one for each entry
}

// note takes in what was written to the connection.
func (s *sent) note(some []sentProposal) {
	if len(some) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range some {
		if i := s.find(p.run, p.path); i >= 0 {
			if p.replaced = s.all[i].replaced; s.all[i].hash != p.hash {
				p.replaced = time.Now()
			}
			s.all = slices.Delete(s.all, i, i+1)
		}
		s.all = append(s.all, p)
	}
	if n := len(s.all) - mostSent; n > 0 {
		s.all = slices.Delete(s.all, 0, n)
	}
}

// last is what was last sent of an entry.
func (s *sent) last(run int64, path string) (sentProposal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(run, path)
	if i < 0 {
		return sentProposal{}, false
	}
	return s.all[i], true
}

func (s *sent) find(run int64, path string) int {
	return slices.IndexFunc(s.all, func(x sentProposal) bool { return x.run == run && x.path == path })
}

// lastSent is what was last written to the connection of an entry. What is being written counts when
// that is done.
func (c *conn) lastSent(run int64, path string) (sentProposal, bool) {
	c.out.writes.Lock()
	defer c.out.writes.Unlock()
	return c.sent.last(run, path)
}

// proposalsIn are the proposals that the result of a method tells whole.
func proposalsIn(result any) (all []sentProposal) {
	switch x := result.(type) {
	case rpc.RunDetail:
		return proposedEvents(x.ID, x.History)
	case rpc.Entries:
		return proposedEntries(x.Entries)
	case sdk.EntryDone:
		return proposedEntries(x.Entries)
	case sdk.Proposal:
		return proposalsOf(x)
	case rpc.Resolved:
		return proposalsOf(x.Proposal)
	case rpc.JournalPage:
		for _, row := range x.Rows {
			all = append(all, proposedRow(row)...)
		}
		return all
	case rpc.Proposals:
		return proposalsOf(x.Proposals...)
	}
	return nil
}

func proposalsOf(list ...sdk.Proposal) (all []sentProposal) {
	for _, p := range list {
		if p.State == sdk.StateProposed {
			all = append(all, sentProposal{run: p.Run, path: p.Path, id: p.ID, hash: p.Hash})
		}
	}
	return all
}

// proposedEntries are those of a list that wait. One without its arguments, which stand elsewhere, tells not
// what would run.
func proposedEntries(list []sdk.Entry) (all []sentProposal) {
	for _, e := range list {
		text, own := strings.CutPrefix(e.Scope, "run:")
		run, err := strconv.ParseInt(text, 10, 64)
		if e.State != sdk.StateProposed || !own || err != nil {
			continue
		}
		if a, err := sdk.ActionOf(e); err == nil && a.Proposal != nil && len(a.Refers) == 0 {
			all = append(all, sentProposal{run: run, path: e.Path, id: a.Proposal.ID, hash: a.Proposal.Hash})
		}
	}
	return all
}

func proposedEvents(run int64, history []rpc.Event) (all []sentProposal) {
	for _, e := range history {
		p, waits := e.Attributes["proposal"].(map[string]any)
		if e.State != sdk.StateProposed || !waits || e.Attributes["refers"] != nil {
			continue
		}
		id, _ := p["id"].(string)
		hash, _ := p["hash"].(string)
		all = append(all, sentProposal{run: run, path: e.Path, id: id, hash: hash})
	}
	return all
}

// proposedRow is what a row of the journal tells of an action that waits from then on.
func proposedRow(row sdk.JournalRow) []sentProposal {
	if row.Kind != sdk.KindEntrySet || !strings.Contains(string(row.Data), `"state":"proposed"`) {
		return nil
	}
	var change sdk.EntryChange
	var at sdk.Action
	if json.Unmarshal(row.Data, &change) != nil || change.State != sdk.StateProposed || json.Unmarshal(change.Attributes, &at) != nil || at.Proposal == nil {
		return nil
	}
	return []sentProposal{{run: row.Run, path: row.Path, id: at.Proposal.ID, hash: at.Proposal.Hash}}
}

// resolveRun answers what a run proposes. The answer is to what this connection was last sent of it: who did not
// see it cannot agree to it.
func (s *Server) resolveRun(ctx context.Context, c *conn, p rpc.RunResolve) (rpc.RunResolved, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.RunResolved{}, err
	}
	to := p.Resolution
	answer, known := map[rpc.ResolveAction]sdk.Answer{rpc.ActionAccept: sdk.Accept, rpc.ActionReject: sdk.Reject, rpc.ActionError: sdk.Reject}[to.Action]
	if !known {
		return rpc.RunResolved{}, wrongParams("there is no action %.80q: there are accept, reject and error", to.Action)
	}
	shown, ok := c.lastSent(run.ID, to.Path)
	switch {
	case ok && time.Since(shown.replaced) < crossing:
		return rpc.RunResolved{}, sdk.Errorf(sdk.Conflict, "what waits at %.200s of the run %s became another just now: look at it again, and then answer", to.Path, run.Alias)
	case !ok:
		return rpc.RunResolved{}, sdk.Errorf(sdk.Conflict, "this connection was not sent what waits at %.200s of the run %s: read it first (getRun, proposals/list, getEntries, or journal/watch), and then answer", to.Path, run.Alias)
	}
	r := rpc.Resolve{ID: shown.id, Hash: shown.hash, Answer: answer}
	switch {
	case to.Action == rpc.ActionReject:
		r.Reason = to.Output
	case to.Action == rpc.ActionError:
		r.Reason = "it could not be done"
		if to.Output != "" {
			r.Reason += ": " + to.Output
		}
	}
	done, err := s.cfg.Policy.ResolveRun(ctx, c.session, r, to.Output)
	return rpc.RunResolved{Run: run.Alias, Status: done.Status, Seq: done.Seq}, err
}
