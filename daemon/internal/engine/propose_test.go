package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// asking is a policy for tests: what writes is proposed, but where a rule of the
// test says otherwise.
type asking struct {
	mu    sync.Mutex
	rules func(sdk.PolicyRequest) sdk.Decision
	asked []sdk.PolicyRequest
}

func (p *asking) Decide(a sdk.PolicyRequest) sdk.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
	if p.rules != nil {
		if d := p.rules(a); d.Verdict != "" {
			return d
		}
	}
	switch {
	case a.Tool.Annotations.ReadOnly, a.Mode == sdk.ModeFull:
		return sdk.Decision{Verdict: sdk.Allow, Rule: "read", Reason: "it is allowed"}
	case a.Mode == sdk.ModeRestricted && !a.Attended:
		return sdk.Decision{Verdict: sdk.Deny, Rule: "side_effects", Reason: "nobody is there to ask"}
	}
	return sdk.Decision{Verdict: sdk.Propose, Rule: "side_effects", Source: "built-in", Reason: "it changes something"}
}

func (p *asking) set(rules func(sdk.PolicyRequest) sdk.Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = rules
}

func (p *asking) all() []sdk.PolicyRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]sdk.PolicyRequest(nil), p.asked...)
}

// askingHouse is a house whose agents ask, and that stands.
type askingHouse struct {
	*house
	policy *asking
	access *fakeAccess
}

type fakeAccess struct {
	mu    sync.Mutex
	reach sdk.Reach
	asked sdk.Tool // about which Reach was asked last
	view  sdk.Prepared
	known bool
}

// Reach says of a tool's binary what the tool says.
func (w *fakeAccess) Reach(call sdk.PolicyRequest, _ string) sdk.Reach {
	tool := call.Tool
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = tool
	r := w.reach
	r.Digest = cmp.Or(tool.Digest, r.Digest)
	return r
}

func (w *fakeAccess) View(string) (sdk.Prepared, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view, w.known
}

// found is what was found out about commands in the project.
func (w *fakeAccess) found(p sdk.Prepared) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view, w.known = p, true
}

func (w *fakeAccess) Arguments(call sdk.PolicyRequest) json.RawMessage {
	arguments := call.Arguments
	if local := bytes.ReplaceAll(arguments, []byte(`"/workspace/`), []byte(`"`)); !bytes.Equal(local, arguments) {
		return local
	}
	return nil
}

func (w *fakeAccess) Worked(sdk.PolicyRequest) []string { return nil }

func (w *fakeAccess) Protection(string) sdk.Protection { return sdk.Protection{} }

func (w *fakeAccess) Network(string) bool { return w.Reach(sdk.PolicyRequest{}, "").Network }

func (w *fakeAccess) set(change func(*sdk.Reach)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.reach)
}

func prepareAsking(t testing.TB, steps ...step) *askingHouse {
	return asksIn(prepareHouse(t, steps...))
}

// asksIn makes a house one in which a person is asked.
func asksIn(inner *house) *askingHouse {
	h := &askingHouse{house: inner, policy: &asking{}, access: &fakeAccess{reach: sdk.Reach{Digest: "d1", Mounts: []string{"/workspace"}}}}
	h.config.Policy, h.config.Access, h.config.Mode = h.policy, h.access, nil
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeInteractive}
	return h
}

func newAsking(t testing.TB, steps ...step) *askingHouse {
	h := prepareAsking(t, steps...)
	h.start()
	return h
}

// proposed waits until something waits for a person, and returns it.
func (h *askingHouse) proposed() sdk.Proposal {
	h.t.Helper()
	var p sdk.Proposal
	h.until("something is proposed", func() bool {
		open, err := h.engine.Proposals(context.Background())
		if err != nil {
			h.t.Fatal(err)
		}
		if len(open) > 0 {
			p = open[0]
		}
		return len(open) > 0
	})
	return p
}

func (h *askingHouse) answer(p sdk.Proposal, answer sdk.Answer) rpc.Resolved {
	h.t.Helper()
	return h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: answer})
}

func (h *askingHouse) resolve(r rpc.Resolve) rpc.Resolved {
	h.t.Helper()
	done, err := h.engine.Resolve(context.Background(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return done
}

// ran are the calls that were really made, with their arguments.
func (h *house) ran() string {
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	var all []string
	for _, c := range h.tools.made {
		all = append(all, c.Tool+string(c.Arguments))
	}
	return strings.Join(all, " ")
}

func says(text string, then step) step {
	return func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Text: text}); err != nil {
			return err
		}
		return then(ctx, r, send, retry)
	}
}

// spec: resolution
func TestAcceptedProposal(t *testing.T) {
	for _, down := range []bool{false, true} {
		t.Run(fmt.Sprintf("down %v", down), func(t *testing.T) {
			h := newAsking(t, says("I may do this: approved.", calls(call{"read", `{}`}, call{"write", `{"path":"b","n":1.0,"a":null}`}, call{"read", `{"x":1}`})))
			a := h.submit(Submission{Run: "r"})
			p := h.proposed()
			want := sdk.Proposal{
				ID: p.Hash[:8], Hash: p.Hash, Run: a.Run.ID, Alias: "r", Project: p.Project, Path: "log://turn_1/write/b", Tool: "write", Plugin: "fake",
				Digest: "d1", Mode: sdk.ModeInteractive, Created: p.Created, Expires: p.Created.Add(24 * time.Hour),
				Arguments: json.RawMessage(`{"a":null,"n":1.0,"path":"b"}`), Dir: p.Project, Bytes: 29, Mounts: []string{"/workspace"},
				Decision: sdk.Decision{Verdict: sdk.Propose, Rule: "side_effects", Source: "built-in", Reason: "it changes something"},
				Said:     "I may do this: approved.", State: sdk.StateProposed, Offers: p.Offers, // TestRemembered looks at them
			}
			if got, wanted := string(encode(p)), string(encode(want)); got != wanted || len(p.Hash) != 64 {
				t.Errorf("got  %s\nwant %s", got, wanted)
			}
			run, err := h.store.Run(t.Context(), a.Run.ID)
			if err != nil || run.Status != sdk.StatusProposed {
				t.Errorf("the run is at %d, %v", run.Status, err)
			}
			if down {
				h.cut()
				h.start()
				if again := h.proposed(); again.Hash != p.Hash {
					t.Errorf("after a restart it is %+v", again)
				}
			}
			done := h.answer(p, sdk.Accept)
			if done.Proposal.State == sdk.StateProposed || done.Seq == 0 {
				t.Errorf("%+v", done)
			}
			if l := h.await(a); l.Status != 200 || l.Stop != sdk.StopAnswer {
				t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
			}
			if got := h.ran(); got != `read{} write{"a":null,"n":1.0,"path":"b"} read{"x":1}` {
				t.Errorf("ran %s", got)
			}
			if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("a second answer: %v", err)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestRejectedProposal: nothing else of the turn is made; with a reason the model goes on
// by it, and without one the work ends.
// spec: resolution
func TestRejectedProposal(t *testing.T) {
	for _, c := range []struct {
		reason, stop string
		asked        int
	}{{"not that file", sdk.StopAnswer, 2}, {"", sdk.StopRejected, 1}, {" \n", sdk.StopRejected, 1}} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q, down %v", c.reason, down), func(t *testing.T) {
				h := newAsking(t, calls(numbered("write", 1), numbered("read", 2), numbered("write", 3)), say("another way"))
				a := h.submit(Submission{})
				p := h.proposed()
				if down {
					h.cut()
					h.start()
				}
				h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: c.reason})
				if l := h.await(a); l.Status != 200 || l.Stop != c.stop {
					t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
				}
				if got := h.outcomes(a.Run.ID); got != "write:failed:permission read:failed:aborted write:failed:aborted" {
					t.Error(got)
				}
				if x, _ := sdk.ActionOf(h.actions(a.Run.ID)[1]); !strings.Contains(x.Why(), "rejected by a person") {
					t.Error(x.Why())
				}
				asked := h.models.asked()
				if len(asked) != c.asked || h.ran() != "" {
					t.Fatalf("asked %d times, ran %s", len(asked), h.ran())
				}
				if c.asked == 2 && !strings.Contains(fmt.Sprint(asked[1].Messages), "a person rejected this call: not that file") {
					t.Errorf("the model does not hear why: %+v", asked[1].Messages)
				}
				h.check(a.Run.ID)
			})
		}
	}
}

// TestReasonsCountForNoGuard: a person who corrects a model often does not stop it.
func TestReasonsCountForNoGuard(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1)), calls(numbered("write", 2)), calls(numbered("write", 3)), calls(numbered("write", 4)), say("done"))
	a := h.submit(Submission{})
	for range 4 {
		p := h.proposed()
		h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: "another"})
	}
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
	}
}

// TestOneProposalAtATime: the second of a turn is judged when its turn comes, so
// that an answer to the first may spare it.
// spec: dispatch_path
func TestOneProposalAtATime(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1), numbered("write", 2), numbered("bash", 3)))
	a := h.submit(Submission{})
	p := h.proposed()
	if open, err := h.engine.Proposals(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("%d wait, %v", len(open), err)
	}
	h.policy.set(func(a sdk.PolicyRequest) sdk.Decision {
		if a.Tool.Name != "write" {
			return sdk.Decision{}
		}
		return sdk.Decision{Verdict: sdk.Allow, Rule: "remembered", Reason: "somebody said so"}
	})
	h.answer(p, sdk.Accept)
	p = h.proposed()
	if p.Tool != "bash" {
		t.Errorf("asked about %s", p.Tool)
	}
	h.answer(p, sdk.Accept)
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "write:resolved write:resolved bash:resolved" {
		t.Error(got)
	}
	if d := attributes(t, h.actions(a.Run.ID)[1]).Decision; d.Rule != "remembered" || d.Source != "" {
		t.Errorf("the second is recorded as decided by %+v", d)
	}
	h.check(a.Run.ID)
}

// TestACodeSkillIsJudgedAsAnEffect: to load a text only reads; what starts a
// code skill does not, also when a person edits the one into the other.
func TestACodeSkillIsJudgedAsAnEffect(t *testing.T) {
	h := prepareAsking(t, calls(use("greet", ""), use("code", "one")), calls(numbered("write", 1)))
	s := h.withSkills(aSkill("greet", "hello"), aCodeSkill("code"))
	h.policy.set(func(a sdk.PolicyRequest) sdk.Decision {
		if a.Tool.Annotations.ReadOnly {
			return sdk.Decision{Verdict: sdk.Allow, Rule: "read"}
		}
		return sdk.Decision{Verdict: sdk.Propose, Rule: "effect", Reason: "it is one"}
	})
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	if string(p.Arguments) != `{"input":"one","name":"code"}` || len(s.calls()) != 0 {
		t.Fatalf("asked about %s; executed %+v", p.Arguments, s.calls())
	}
	edited := h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"input":"two","name":"code"}`)})
	if edited.Proposal.State != sdk.StateProposed {
		t.Fatalf("an edited code skill is %s", edited.Proposal.State)
	}
	h.answer(edited.Proposal, sdk.Accept)
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	if made := s.calls(); len(made) != 1 || made[0].Input != "two" {
		t.Errorf("executed %+v", made)
	}
	h.check(a.Run.ID)
}

// TestAnOwnToolIsBoundWithoutGrants: policy judges a call that starts a code skill
// by the grants of such a skill, and what an answer is bound to is the own tool
// alone, as it was for proposals that have waited since an earlier build.
func TestAnOwnToolIsBoundWithoutGrants(t *testing.T) {
	h := newAsking(t)
	x := &action{
		Action: sdk.Action{ActionCall: sdk.ActionCall{Arguments: json.RawMessage(`{"name":"research"}`)}},
		own:    struct{ sdk.TurnTools }{}, tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "use_skill"}, Grants: []string{sdk.GrantProject}},
	}
	if _, err := h.engine.bind(&activeLoop{}, x); err != nil {
		t.Fatal(err)
	}
	if len(h.access.asked.Grants) != 0 || len(x.tool.Grants) == 0 {
		t.Errorf("bound to %q, judged by %q", h.access.asked.Grants, x.tool.Grants)
	}
}

// TestAcceptingSeesTheNewestDecision: an action that policy is asked about again is
// shown to the filters of proposal.accepting with what policy says now.
func TestAcceptingSeesTheNewestDecision(t *testing.T) {
	h := prepareAsking(t, calls(numbered("write", 1), numbered("write", 2)))
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeFull}
	h.policy.set(func(q sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Propose, Rule: "first", Reason: "r"}
	})
	h.start()
	var mu sync.Mutex
	seen := map[string]string{}
	h.hooks.ProposalAccepting.On(1, "look", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
		a, _ := sdk.ActionOf(r.Entry)
		mu.Lock()
		defer mu.Unlock()
		if a.Decision != nil {
			seen[r.Entry.Path] = string(a.Decision.Verdict) + " " + a.Decision.Rule
		}
		return r, nil
	})
	a := h.submit(Submission{})
	p := h.proposed()
	h.policy.set(func(q sdk.PolicyRequest) sdk.Decision {
		if q.Mode == sdk.ModeFull {
			return sdk.Decision{Verdict: sdk.Allow, Rule: "second", Reason: "r"}
		}
		return sdk.Decision{}
	})
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept})
	h.await(a)
	mu.Lock()
	defer mu.Unlock()
	if seen["log://turn_1/write/f2"] != "allow second" {
		t.Errorf("the filters were shown %q", seen)
	}
}
