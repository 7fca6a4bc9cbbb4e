package server

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestFilesAndAgents(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	found, err := c.Files(ctx, rpc.FilesParams{Project: "/p/one", Query: "main"})
	if err != nil || len(found.Files) != 1 || found.Files[0] != "main.go" || found.Found != defaultPage {
		t.Errorf("%+v %v", found, err)
	}
	text, err := c.File(ctx, rpc.FileParams{Project: "/p/one", Path: "main.go", From: 2, To: 3})
	if err != nil || text.Text != "text\n" || text.From != 2 || text.To != 3 {
		t.Errorf("%+v %v", text, err)
	}
	if _, err := c.File(ctx, rpc.FileParams{Project: "/p/one", Path: ".env"}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a secret: %v", err)
	}
	for _, p := range []rpc.FilesParams{{Project: "one"}, {Project: "/p/one", Limit: -1}} {
		if _, err := c.Files(ctx, p); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%+v: %v", p, err)
		}
	}
	agents, err := c.Agents(ctx, rpc.AgentsParams{})
	if err != nil || len(agents) != 1 || !agents[0].Default || agents[0].Mode != sdk.ModeRestricted {
		t.Errorf("%+v %v", agents, err)
	}
	if agents, err = c.Agents(ctx, rpc.AgentsParams{Project: "/p/one"}); err != nil || agents[0].Default {
		t.Errorf("of a project: %+v %v", agents, err)
	}
	if _, err := c.Agents(ctx, rpc.AgentsParams{Project: "one"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a project that is no path: %v", err)
	}
	if a, err := c.Agent(ctx, rpc.AgentParams{Project: "/p/one", Name: "default"}); err != nil || a.Definition.Place != "config.hcl:1" {
		t.Errorf("one of them: %+v %v", a, err)
	}
	for name, want := range map[rpc.AgentParams]sdk.Outcome{{Name: "nobody"}: sdk.NotFound, {Project: "one", Name: "default"}: sdk.Validation} {
		if _, err := c.Agent(ctx, name); sdk.OutcomeOf(err) != want {
			t.Errorf("%+v: %v", name, err)
		}
	}
	if _, err := c.Act(ctx, rpc.Prompt{Project: "/p/one", Prompt: "look", Attachments: []sdk.Attachment{{Path: "main.go", From: 2}}}); err != nil {
		t.Fatal(err)
	}
	if got := h.engine.prompts[0].Attachments; len(got) != 1 || got[0] != (sdk.Attachment{Path: "main.go", From: 2}) {
		t.Errorf("the engine got %+v", got)
	}
}

// TestFilesOfAProject are the calls about files that are entries.
func TestFilesOfAProject(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	first, err := c.Tree(ctx, rpc.TreeParams{Project: "/p/one", Pattern: "x", Limit: 2})
	if err != nil || len(first.Files) != 2 || first.Files[0].Path != "ax" || first.Next != 2 || first.Found != 3 {
		t.Errorf("%+v %v", first, err)
	}
	rest, err := c.Tree(ctx, rpc.TreeParams{Project: "/p/one", Limit: 2, Offset: first.Next})
	if err != nil || len(rest.Files) != 1 || rest.Files[0].Path != "c" || rest.Next != 0 {
		t.Errorf("%+v %v", rest, err)
	}
	for _, p := range []rpc.TreeParams{{Project: "/p/unknown"}, {Project: "/p/one", Offset: 9}} {
		if none, err := c.Tree(ctx, p); err != nil || none.Files == nil || len(none.Files) != 0 {
			t.Errorf("%+v: %+v %v", p, none, err)
		}
	}
	if done, err := c.ScanProject(ctx, "/p/one"); err != nil || done.Project != "/p/one" || done.Files != 3 || done.Changed != 2 {
		t.Errorf("%+v %v", done, err)
	}
	if all, err := c.Constraints(ctx, "/p/one"); err != nil || len(all) != 1 || all[0].Constraint != sdk.ConstraintReadOnly {
		t.Errorf("%+v %v", all, err)
	}
	if all, err := c.Constraints(ctx, "/p/unknown"); err != nil || all == nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
	p := rpc.Constrain{Project: "/p/one", Pattern: "vendor", Constraint: sdk.ConstraintIgnore}
	if _, err := h.as(t, rpc.RoleSubmit).Constrain(ctx, p); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("without the role: %v", err)
	}
	approver := h.as(t, rpc.RoleApprove)
	if done, err := approver.Constrain(ctx, p); err != nil || done.Removed != 1 {
		t.Errorf("%+v %v", done, err)
	}
	p.Constraint = "some"
	if _, err := approver.Constrain(ctx, p); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.Tree(ctx, rpc.TreeParams{Project: "one"}); return err },
		func() error { _, err := c.ScanProject(ctx, "one"); return err },
		func() error { _, err := c.Constraints(ctx, "one"); return err },
	} {
		if err := call(); sdk.OutcomeOf(err) != sdk.Validation {
			t.Error(err)
		}
	}
}
