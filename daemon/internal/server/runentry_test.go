package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestRunsAreEntries (spec runs_are_entries): a verb on run://ALIAS is the call that it stands for.
// spec: runs_are_entries
func TestRunsAreEntries(t *testing.T) {
	h := open(t, nil)
	h.store.loops = []sdk.Loop{{ID: 3, Run: 7, Sequence: 1, Prompt: "earlier", ReadOnly: false, Status: 200}}
	c, ctx := h.client(t), t.Context()
	done, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "run://seven", Body: new("go"), Attributes: json.RawMessage(`{"model":"x/y","noWeb":true,"key":"k"}`)})
	if err != nil || len(h.engine.prompts) != 1 || len(done.Entries) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if p := h.engine.prompts[0]; p.Project != "/p/one" || p.Run != "seven" || p.Prompt != "go" || p.Model != "x/y" || !*p.NoWeb || p.Key != "k" || h.engine.modes[0] {
		t.Errorf("the engine got %+v, read only %v", p, h.engine.modes[0])
	}
	if e := done.Entries[0]; e.Path != "run://seven" || e.State != sdk.StateResolved || e.Body != "earlier" || !strings.Contains(string(e.Attributes), `"seq":3`) || !strings.Contains(string(e.Attributes), `"mode":"act"`) {
		t.Errorf("it is %+v %s", e, e.Attributes)
	}
	if _, err := c.SetEntry(ctx, rpc.Set{Run: "7", Path: "run://fresh", Body: new("go")}); err != nil || !h.engine.modes[1] {
		t.Errorf("a new run beside another: %v, %v", h.engine.modes, err)
	}
	for _, x := range []struct {
		p    rpc.Set
		want string
	}{
		{rpc.Set{Path: "run://seven", Attributes: json.RawMessage(`{"model":"m2"}`)}, "configure 7 with m2"},
		{rpc.Set{Path: "run://seven", State: sdk.StateCancelled, Attributes: json.RawMessage(`{"hold":true}`)}, "abort 7 and hold"},
	} {
		x.p.Project = "/p/one"
		if _, err := c.SetEntry(ctx, x.p); err != nil || !slices.Contains(h.engine.deeds(), x.want) {
			t.Errorf("%+v: %v, %v", x.p, h.engine.deeds(), err)
		}
	}
	if done, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "run://fresh", Attributes: json.RawMessage(`{"agent":"a"}`)}); err != nil || !strings.Contains(done.Text, "run://fresh is made") {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "run://seven", State: sdk.StateCancelled}); err != nil || !slices.Equal(h.engine.aborted, []int64{7}) {
		t.Errorf("%v, %v", h.engine.aborted, err)
	}
	if done, err := c.MoveEntry(ctx, rpc.Move{Project: "/p/one", Path: "run://seven", To: "run://better"}); err != nil || !slices.Contains(h.engine.deeds(), "rename 7 to better") || !strings.Contains(done.Text, "run://better") {
		t.Errorf("%+v, %v, %v", done, h.engine.deeds(), err)
	}
	if got, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: "run://seven"}); err != nil || got.Text != "run://seven 200\nearlier" || got.Entries[0].Scope != "project:1" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: "run://**"}); err != nil || got.Text != "run://seven 200\nrun://8 200" || len(got.Entries) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, ask := range map[string]func() error{
		"no project": func() error { _, err := c.GetEntry(ctx, rpc.Get{Path: "run://seven"}); return err },
		"no run": func() error {
			_, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "known://a", Body: new("x")})
			return err
		},
		"an empty body": func() error {
			_, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "run://seven", Body: new(" ")})
			return err
		},
		"a filter": func() error {
			_, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: "run://*", Filter: "x"})
			return err
		},
		"rm": func() error { _, err := c.RemoveEntry(ctx, rpc.Remove{Run: "7", Path: "run://seven"}); return err },
		"a file that becomes a run": func() error {
			_, err := c.MoveEntry(ctx, rpc.Move{Project: "/p/one", Path: "a", To: "run://seven"})
			return err
		},
	} {
		if err := ask(); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"run://nobody", "run://no*"} {
		if _, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: path}); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestInject queues as the last prompt was given.
// spec: runs_are_entries
func TestInject(t *testing.T) {
	h := open(t, nil)
	h.store.loops = []sdk.Loop{{ID: 3, Run: 7, Sequence: 1, Status: 200}, {ID: 4, Run: 9, Sequence: 1, ReadOnly: true, Status: 200}, {ID: 5, Run: 9, Sequence: 2, Stop: sdk.StopTaken}}
	c := h.client(t)
	for i, x := range []struct {
		run      string
		readOnly bool
	}{{"7", false}, {"9", true}} {
		a, err := c.Inject(t.Context(), rpc.Inject{Run: x.run, Message: "and then?", Key: "k"})
		if err != nil || a.Run != "seven" || h.engine.modes[i] != x.readOnly || h.engine.prompts[i].Prompt != "and then?" || h.engine.prompts[i].Project != "/p/one" || h.engine.prompts[i].Key != "k" {
			t.Errorf("%s: %+v, %v; the engine got %+v", x.run, a, err, h.engine.prompts)
		}
	}
	for name, p := range map[string]rpc.Inject{"no such run": {Run: "99", Message: "x"}, "no message": {Run: "7", Message: " "}, "tool calls": {Run: "10", Message: "x"}} {
		if _, err := c.Inject(t.Context(), p); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// proposedAction is an action that waits, as the store has it.
func proposedAction(run int64, path, hash string) sdk.Entry {
	at, _ := json.Marshal(map[string]any{"tool": "write", "arguments": map[string]string{"path": "f"}, "proposal": map[string]any{"id": "1a2b3c4d", "hash": hash}})
	return sdk.Entry{Path: path, State: sdk.StateProposed, Attributes: at, Scope: fmt.Sprintf("run:%d", run), Turn: 1}
}

const waits = "log://turn_1/write/f"

// TestWhatWidensNeedsApprove: what a call needs is decided by its effect, in whichever words it is said. Nothing that a
// client writes without the role answers a proposal, starts a run with more, or widens one.
// spec: wrong_accepting
func TestWhatWidensNeedsApprove(t *testing.T) {
	policy := &fakePolicy{}
	h := open(t, func(c *Config) { c.Policy = policy })
	h.store.entries = []sdk.Entry{proposedAction(7, waits, "h1")}
	body, state := new("go"), sdk.StateResolved
	set := func(attributes string, body *string) rpc.Set {
		return rpc.Set{Project: "/p/one", Path: "run://seven", Body: body, Attributes: json.RawMessage(attributes)}
	}
	for name, x := range map[string]struct {
		method string
		params any
		need   rpc.Role
	}{
		"a prompt":                  {"set", set(`{}`, body), rpc.RoleSubmit},
		"a narrow mode":             {"set", set(`{"permission_mode":"interactive"}`, body), rpc.RoleSubmit},
		"options":                   {"set", set(`{"noWeb":true}`, nil), rpc.RoleSubmit},
		"an abort":                  {"set", rpc.Set{Project: "/p/one", Path: "run://seven", State: sdk.StateCancelled}, rpc.RoleSubmit},
		"a name":                    {"mv", rpc.Move{Project: "/p/one", Path: "run://seven", To: "run://x"}, rpc.RoleSubmit},
		"run/inject":                {"run/inject", rpc.Inject{Run: "7", Message: "x"}, rpc.RoleSubmit},
		"reading by get":            {"get", rpc.Get{Project: "/p/one", Path: "run://seven"}, rpc.RoleSubmit},
		"yolo nested":               {"set", set(`{"yolo":true}`, body), rpc.RoleApprove},
		"full mode nested":          {"set", set(`{"permission_mode":"full"}`, body), rpc.RoleApprove},
		"a replay nested":           {"set", set(`{"replay":"/etc/passwd"}`, body), rpc.RoleApprove},
		"attending nested":          {"set", set(`{"attend":true}`, body), rpc.RoleApprove},
		"yolo of startRun":          {"startRun", rpc.StartRun{Project: "/p/one", Run: "new", Yolo: true}, rpc.RoleApprove},
		"yolo of a new run, nested": {"set", rpc.Set{Project: "/p/one", Path: "run://new", Attributes: json.RawMessage(`{"yolo":true}`)}, rpc.RoleApprove},
		"an answer by a state":      {"set", rpc.Set{Run: "7", Path: waits, State: state}, rpc.RoleApprove},
		"a no by a state":           {"set", rpc.Set{Run: "7", Path: waits, State: sdk.StateCancelled}, rpc.RoleApprove},
		"run/resolve":               {"run/resolve", rpc.RunResolve{Run: "7", Resolution: rpc.Resolution{Path: waits, Action: rpc.ActionAccept}}, rpc.RoleApprove},
	} {
		for _, role := range []rpc.Role{rpc.RoleObserve, rpc.RoleSubmit, rpc.RoleApprove, rpc.RoleAdmin} {
			c := &client.Client{Socket: h.path, Role: role}
			if _, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7"}); err != nil { // it has seen what waits
				t.Fatal(err)
			}
			before := len(h.engine.deeds()) + len(h.engine.prompts) + len(h.engine.aborted) + len(policy.resolved)
			err := c.Call(t.Context(), x.method, x.params, nil)
			_ = c.Close()
			if may := role.Allows(x.need); may != (err == nil) || !may && !refused(err) {
				t.Errorf("%s as %s: %v", name, role, err)
			}
			after := len(h.engine.deeds()) + len(h.engine.prompts) + len(h.engine.aborted) + len(policy.resolved)
			if after != before && !role.Allows(x.need) {
				t.Errorf("%s as %s was done", name, role)
			}
		}
	}
}

// TestChannelsAndRuns: a channel has runs of its own projects and of channels alone, by these words too, and answers
// nothing.
func TestChannelsAndRuns(t *testing.T) {
	h := openChannel(t, "/p/one")
	h.store.entries = []sdk.Entry{proposedAction(7, waits, "h1")}
	h.store.runs = append(h.store.runs, sdk.Run{ID: 12, Project: 1, Alias: "a-persons", Status: 200})
	c, ctx := h.channel(t), t.Context()
	body := new("go")
	if _, err := c.SetEntry(ctx, rpc.Set{Project: "/p/one", Path: "run://seven", Body: body, Attributes: json.RawMessage(`{"from":{"person":"ada"}}`)}); err != nil || len(h.engine.prompts) != 1 {
		t.Errorf("its own: %v", err)
	}
	if got, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: "run://*"}); err != nil || strings.Contains(got.Text, "persons") || !strings.Contains(got.Text, "seven") {
		t.Errorf("it is told %+v, %v", got, err)
	}
	before := len(h.engine.deeds()) + len(h.engine.aborted) + len(h.engine.prompts)
	for name, p := range map[string]any{
		"of nobody":                rpc.Set{Project: "/p/one", Path: "run://seven", Body: body},
		"of a stranger":            rpc.Set{Project: "/p/one", Path: "run://seven", Body: body, Attributes: json.RawMessage(`{"from":{"person":"eve"}}`)},
		"another project":          rpc.Set{Project: "/p/two", Path: "run://seven", Body: body},
		"a run of another project": rpc.Set{Run: "8", Path: "run://seven", Body: body},
		"no project":               rpc.Set{Path: "run://seven", Body: body},
		"its end":                  rpc.Set{Project: "/p/one", Path: "run://a-persons", State: sdk.StateCancelled},
		"its options":              rpc.Set{Project: "/p/one", Path: "run://a-persons", Attributes: json.RawMessage(`{"noWeb":true}`)},
		"yolo":                     rpc.Set{Project: "/p/one", Path: "run://seven", Body: body, Attributes: json.RawMessage(`{"from":{"person":"ada"},"yolo":true}`)},
		"full mode":                rpc.Set{Project: "/p/one", Path: "run://new", Body: body, Attributes: json.RawMessage(`{"from":{"person":"ada"},"permission_mode":"full"}`)},
		"an answer":                rpc.Set{Run: "7", Path: waits, State: sdk.StateResolved},
	} {
		h.calm()
		if err := c.Call(ctx, rpc.MethodSet, p, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := c.MoveEntry(ctx, rpc.Move{Project: "/p/one", Path: "run://a-persons", To: "run://mine"}); err == nil {
		t.Error("the name of a person's run: taken")
	}
	if _, err := c.GetEntry(ctx, rpc.Get{Project: "/p/one", Path: "run://a-persons"}); err == nil {
		t.Error("a person's run: read")
	}
	if after := len(h.engine.deeds()) + len(h.engine.aborted) + len(h.engine.prompts); after != before {
		t.Errorf("the engine did %v", h.engine.deeds())
	}
}

// TestRunResolve (spec resolution): the answer is to what this connection was last sent.
// spec: resolution
func TestRunResolve(t *testing.T) {
	policy := &fakePolicy{open: []sdk.Proposal{{ID: "1a2b3c4d", Hash: "h1", Run: 7, Path: waits, State: sdk.StateProposed}}}
	h := open(t, func(c *Config) { c.Policy = policy })
	h.store.entries = []sdk.Entry{proposedAction(7, waits, "h1")}
	answer := func(c *client.Client, action rpc.ResolveAction, output string) (rpc.RunResolved, error) {
		return c.ResolveRun(t.Context(), rpc.RunResolve{Run: "7", Resolution: rpc.Resolution{Path: waits, Action: action, Output: output}})
	}
	blind := h.client(t)
	if _, err := answer(blind, rpc.ActionAccept, ""); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("what was not sent: %v", err)
	}
	raw := h.enter(t, rpc.RoleApprove)
	raw.send(`[{"jsonrpc":"2.0","id":1,"method":"getRun","params":{"run":"7"}},{"jsonrpc":"2.0","id":2,"method":"run/resolve","params":{"run":"7","resolution":{"path":"` + waits + `","action":"accept"}}}]` + "\n")
	if line, err := raw.in.ReadString('\n'); err != nil || !strings.Contains(line, `"id":2,"error"`) {
		t.Errorf("an answer that was given before anything was sent: %s, %v", line, err)
	}
	for name, see := range map[string]func(c *client.Client) error{
		"getRun": func(c *client.Client) error { _, err := c.Run(t.Context(), rpc.RunRef{Run: "7"}); return err },
		"getEntries": func(c *client.Client) error {
			_, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7"})
			return err
		},
		"proposals/list": func(c *client.Client) error {
			return c.Call(t.Context(), rpc.MethodProposals, rpc.ProposalsParams{}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := h.client(t)
			if err := see(c); err != nil {
				t.Fatal(err)
			}
			if got, err := answer(c, rpc.ActionAccept, "42"); err != nil || got != (rpc.RunResolved{Run: "seven", Status: sdk.StatusRunning, Seq: 5}) {
				t.Errorf("%+v, %v", got, err)
			}
			if r := policy.resolved[len(policy.resolved)-1]; r.ID != "1a2b3c4d" || r.Hash != "h1" || r.Answer != sdk.Accept || policy.outputs[len(policy.outputs)-1] != "42" {
				t.Errorf("policy was asked %+v, %q", r, policy.outputs)
			}
		})
	}
	data, _ := json.Marshal(sdk.EntryChange{State: sdk.StateProposed, Attributes: h.store.entries[0].Attributes})
	for name, states := range map[string]string{"rows": "", "run/state": `,"states":"whole"`, "run/proposal": `,"states":"increments"`} {
		r := h.enter(t, rpc.RoleApprove)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"run":"7"` + states + `}}` + "\n")
		r.answer()
		h.store.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Project: 1, Run: 7, Turn: 1, Path: waits, Data: data})
		for told := ""; told != rpc.NoteRow && told != rpc.NoteState && told != rpc.NoteProposal; {
			m, err := r.next()
			if err != nil {
				t.Fatal(name, err)
			}
			told = m.Method
		}
		r.send(`{"jsonrpc":"2.0","id":2,"method":"run/resolve","params":{"run":"7","resolution":{"path":"` + waits + `","action":"accept"}}}` + "\n")
		if m := r.answer(); m.Error != nil {
			t.Errorf("%s: %v", name, m.Error)
		}
	}
	c := h.client(t)
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7"}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		action rpc.ResolveAction
		output string
		reason string
	}{{rpc.ActionReject, "", ""}, {rpc.ActionReject, "not that one", "not that one"}, {rpc.ActionError, "", "it could not be done"}, {rpc.ActionError, "no disk", "it could not be done: no disk"}} {
		if _, err := answer(c, x.action, x.output); err != nil {
			t.Error(err)
		}
		if r := policy.resolved[len(policy.resolved)-1]; r.Answer != sdk.Reject || r.Reason != x.reason {
			t.Errorf("%s %q: %+v", x.action, x.output, r)
		}
	}
	if _, err := answer(c, "maybe", ""); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("no action: %v", err)
	}
	done, err := c.SetEntry(t.Context(), rpc.Set{Run: "7", Path: waits, State: sdk.StateResolved, Body: new("43")})
	if err != nil || policy.outputs[len(policy.outputs)-1] != "43" || len(done.Entries) != 1 {
		t.Errorf("by a state: %+v, %v", done, err)
	}
	if _, err := c.SetEntry(t.Context(), rpc.Set{Run: "7", Path: waits, State: sdk.StateResolved, Summary: "x"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a state and more: %v", err)
	}

	h.store.entries = []sdk.Entry{proposedAction(7, waits, "h2")} // somebody else has edited it
	if _, err := answer(c, rpc.ActionAccept, ""); err != nil || policy.resolved[len(policy.resolved)-1].Hash != "h1" {
		t.Errorf("what it was sent is what it answers: %+v, %v", policy.resolved, err)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7"}); err != nil {
		t.Fatal(err)
	}
	if _, err := answer(c, rpc.ActionAccept, ""); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("an answer that crossed what it is about: %v", err)
	}
}

// TestSentProposals: of each entry the newest, and of no more than so many.
func TestSentProposals(t *testing.T) {
	var s sent
	for i := range mostSent + 10 {
		s.note([]sentProposal{{run: 1, path: fmt.Sprint(i), hash: "a"}})
	}
	if _, known := s.last(1, "9"); known || len(s.all) != mostSent {
		t.Errorf("it has %d", len(s.all))
	}
	s.note([]sentProposal{{run: 1, path: "20", hash: "b"}})
	if p, known := s.last(1, "20"); !known || p.hash != "b" || p.replaced.IsZero() {
		t.Errorf("%+v", p)
	}
	if p, known := s.last(1, "21"); !known || !p.replaced.IsZero() {
		t.Errorf("%+v", p)
	}
	if _, known := s.last(2, "21"); known {
		t.Error("of another run")
	}
}
