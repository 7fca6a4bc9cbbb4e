package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestChildrenOfAChannel: the children of a run that a channel made work in folders of their own as it does, at whatever
// depth and whatever their agents may elsewhere, policy knows of it, and so it is with what a person has them do later.
func TestChildrenOfAChannel(t *testing.T) {
	acts := calls(numbered("bash", 1), numbered("write", 1))
	h := narrowHouse(t, map[string][]step{
		"do it": {calls(giving("lead", "below")), acts}, "below": {calls(giving("worker", "deeper")), acts}, "deeper": {acts}, "later": {acts},
	})
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it is allowed"}
	})
	h.agents["lead"] = sdk.Agent{Agents: []string{"lead", "worker"}, Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}
	h.agents["worker"] = sdk.Agent{Mode: sdk.ModeFull}
	h.start()
	a := h.submit(Submission{Agent: "lead", Origin: chat, Options: rpc.RunOptions{NoWeb: new(true)}})
	h.await(a)
	child := h.childrenIn(a.Run.ID)[0]
	deeper := h.childrenIn(child.ID)[0]
	h.run(Submission{Run: deeper.Alias, Prompt: "later"})
	if child.Origin != chat || deeper.Origin != chat || !child.Private || !deeper.Private || !child.NoWeb || !deeper.NoWeb {
		t.Errorf("the children are %+v and %+v", child, deeper)
	}
	if fork, err := h.engine.Fork(t.Context(), Fork{Run: deeper.ID}); err != nil || fork.Origin != chat || !fork.Private || !fork.NoWeb || fork.Delegator != 0 {
		t.Errorf("a fork of a child is %+v, %v", fork, err)
	}
	for _, run := range []sdk.Run{child, deeper} {
		if o := optionsOf(h.promptOf(run.ID)); o.Mode != sdk.ModeInteractive {
			t.Errorf("%s works in mode %s", run.Alias, o.Mode)
		}
	}
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	ran := map[string]int{}
	for _, call := range h.tools.made {
		where := strings.ReplaceAll(strings.ReplaceAll(call.Project, call.RunDir, "RUN"), h.project, "PROJECT")
		ran[fmt.Sprintf("%s in %q, on the net: %t", call.Tool, where, call.Network)]++
	}
	if len(ran) != 2 || ran[`bash in "", on the net: false`] != 4 || ran[`write in "RUN/workspace", on the net: false`] != 4 {
		t.Errorf("made are %v", ran)
	}
	for _, r := range h.policy.all() {
		if !r.Private {
			t.Errorf("policy was asked of %s in mode %s as if no channel had made the run", r.Tool.Name, r.Mode)
		}
	}
	h.check(a.Run.ID, child.ID, deeper.ID)
}
