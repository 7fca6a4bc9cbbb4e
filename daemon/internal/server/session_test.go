package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestSessions: a prompt comes with the session of its connection, which is
// another for each, when that attends. A call of a tool may do what its role may.
func TestSessions(t *testing.T) {
	h := open(t, nil)
	ctx := context.Background()
	one, two, submits := h.as(t, rpc.RoleApprove), h.as(t, rpc.RoleApprove), h.as(t, "")
	for _, c := range []*client.Client{one, one, two} {
		if _, err := c.Act(ctx, rpc.Prompt{Project: "/p/one", Prompt: "x", Attend: true}); err != nil {
			t.Fatal(err)
		}
	}
	h.engine.tool = func(context.Context, rpc.ToolCall) (rpc.ToolDone, error) { return rpc.ToolDone{}, nil }
	for c, approved := range map[*client.Client]bool{one: true, submits: false} {
		if _, err := c.CallTool(ctx, rpc.ToolCall{Project: "/p/one", Tool: "t"}); err != nil || h.engine.approved != approved {
			t.Errorf("%v, approved: %v", err, h.engine.approved)
		}
	}
	if _, err := one.Act(ctx, rpc.Prompt{Project: "/p/one", Prompt: "x"}); err != nil {
		t.Fatal(err)
	}
	by := h.engine.sessions
	if by[0] != by[1] || by[0] == by[2] || len(by[0]) < 20 || by[3] != "" {
		t.Errorf("the sessions are %+v", by)
	}
}

// TestAttendedByThePrompt: a run is attended as long as the connection is open
// that gave the prompt and may approve.
func TestAttendedByThePrompt(t *testing.T) {
	h := open(t, nil)
	prompt := `{"jsonrpc":"2.0","id":1,"method":"act","params":{"project":"/p/one","prompt":"x","attend":true}}` + "\n"
	enter := func() (*raw, string) {
		r := h.enter(t, rpc.RoleApprove)
		r.send(prompt)
		if m := r.answer(); m.Error != nil {
			t.Fatal(m.Error)
		}
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		return r, h.engine.sessions[len(h.engine.sessions)-1]
	}
	closed, first := enter()
	half, second := enter()
	lowered, third := enter()
	for _, session := range []string{first, second, third} {
		if !h.Attended(7, session) {
			t.Error("it is not attended")
		}
	}
	for _, session := range []string{"", "x", first + "x"} {
		if h.Attended(7, session) {
			t.Errorf("session %q attends", session)
		}
	}
	must(t, closed.conn.Close())
	eventually(t, "a closed connection attends no more", func() bool { return !h.Attended(7, first) })
	must(t, half.conn.(interface{ CloseWrite() error }).CloseWrite())
	eventually(t, "one that says no more attends no more", func() bool { return !h.Attended(7, second) })
	lowered.send(hello("", rpc.RoleSubmit))
	if m := lowered.answer(); m.Error != nil {
		t.Fatal(m.Error)
	}
	if h.Attended(7, third) {
		t.Error("a connection attends that gave the role up")
	}
}

// TestAttendedByAWatch: of the run, of its project, or of all.
func TestAttendedByAWatch(t *testing.T) {
	h := open(t, nil)
	for name, c := range map[string]struct {
		watch string
		runs  map[int64]bool
	}{
		"a run":              {`{"run":"7","attend":true}`, map[int64]bool{7: true, 8: false, 9: false}},
		"a project":          {`{"project":"/p/one","attend":true}`, map[int64]bool{7: true, 8: false, 9: true, 99: false}},
		"all":                {`{"attend":true}`, map[int64]bool{7: true, 8: true}},
		"a project to come":  {`{"project":"/p/none","attend":true}`, map[int64]bool{7: false, 8: false}},
		"a watch that looks": {`{}`, map[int64]bool{7: false}},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.enter(t, rpc.RoleApprove)
			r.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":` + c.watch + "}\n")
			if m := r.answer(); m.Error != nil {
				t.Fatal(m.Error)
			}
			for run, want := range c.runs {
				if got := h.Attended(run, ""); got != want {
					t.Errorf("run %d: %v", run, got)
				}
			}
			r.send(`{"jsonrpc":"2.0","id":2,"method":"journal/unwatch","params":{"watch":1}}` + "\n")
			if m := r.answer(); m.Error != nil {
				t.Fatal(m.Error)
			}
			for run := range c.runs {
				if h.Attended(run, "") {
					t.Errorf("run %d is attended after the end of the watch", run)
				}
			}
		})
	}
}

// oneAnswer is policy as it has to be: a proposal is answered once.
type oneAnswer struct {
	fakePolicy
	answers atomic.Int32
	asked   chan struct{} // an answer has come and is not durable yet
	durable chan struct{} // closed when it may be
}

func (p *oneAnswer) Resolve(ctx context.Context, r rpc.Resolve) (rpc.Resolved, error) {
	if p.asked != nil {
		p.asked <- struct{}{}
		select {
		case <-p.durable:
		case <-ctx.Done():
			return rpc.Resolved{}, sdk.Errorf(sdk.Aborted, "the client is gone: %w", ctx.Err())
		}
	}
	if p.answers.Add(1) > 1 {
		return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "proposal %s was answered by somebody else", r.ID)
	}
	return rpc.Resolved{Proposal: sdk.Proposal{ID: r.ID, State: sdk.StateResolved}}, nil
}

// TestProposalsTwoClients: two who answer at once get one success and one
// conflict, each on its own connection.
func TestProposalsTwoClients(t *testing.T) {
	policy := &oneAnswer{}
	h := open(t, func(c *Config) { c.Policy = policy })
	clients := []*client.Client{h.as(t, rpc.RoleApprove), h.as(t, rpc.RoleAdmin)}
	for round := range 200 {
		policy.answers.Store(0)
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i, c := range clients {
			both.Go(func() {
				_, errs[i] = c.Resolve(context.Background(), rpc.Resolve{ID: fmt.Sprint(round), Hash: "h", Answer: []sdk.Answer{sdk.Accept, sdk.Reject}[i]})
			})
		}
		both.Wait()
		lost := errs[0]
		if lost == nil {
			lost = errs[1]
		}
		if (errs[0] == nil) == (errs[1] == nil) || sdk.OutcomeOf(lost) != sdk.Conflict {
			t.Fatalf("round %d: %v, %v", round, errs[0], errs[1])
		}
	}
}

// TestProposalsVanishingClient: who goes in the middle of an answer has not
// answered; another one can.
func TestProposalsVanishingClient(t *testing.T) {
	policy := &oneAnswer{asked: make(chan struct{}), durable: make(chan struct{})}
	h := open(t, func(c *Config) { c.Policy = policy })
	r := h.enter(t, rpc.RoleApprove)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"proposals/resolve","params":{"id":"p","hash":"h","answer":"accept"}}` + "\n")
	<-policy.asked
	must(t, r.conn.Close())
	eventually(t, "its connection is gone", func() bool { return h.connections() == 0 })
	if policy.answers.Load() != 0 {
		t.Fatal("it was answered all the same")
	}
	close(policy.durable)
	answered := make(chan error, 1)
	go func() {
		_, err := h.as(t, rpc.RoleApprove).Resolve(context.Background(), rpc.Resolve{ID: "p", Hash: "h", Answer: sdk.Reject})
		answered <- err
	}()
	<-policy.asked
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestProposalsRefused: who may not answer is told how one may, and the audit
// has it; nothing reached policy.
func TestProposalsRefused(t *testing.T) {
	audit, policy := &fakeAudit{}, &fakePolicy{}
	h := open(t, func(c *Config) { c.Audit, c.Policy = audit, policy })
	for _, role := range []rpc.Role{rpc.RoleObserve, rpc.RoleSubmit} {
		_, err := h.as(t, role).Resolve(context.Background(), rpc.Resolve{ID: "p", Hash: "h", Answer: sdk.Accept})
		var said *rpc.Error
		if !errors.As(err, &said) || said.Code != rpc.CodeRole || sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s: %v", role, err)
		}
	}
	if len(policy.resolved) != 0 || audit.count() != 2 || !audit.has("refused_approval", "proposals/resolve with the role submit") {
		t.Errorf("resolved %v; the audit has %v %q", policy.resolved, audit.events, audit.details)
	}
}
