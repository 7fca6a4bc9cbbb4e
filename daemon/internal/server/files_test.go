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
	if _, err := c.Act(ctx, rpc.Prompt{Project: "/p/one", Prompt: "look", Attachments: []sdk.Attachment{{Path: "main.go", From: 2}}}); err != nil {
		t.Fatal(err)
	}
	if got := h.engine.prompts[0].Attachments; len(got) != 1 || got[0] != (sdk.Attachment{Path: "main.go", From: 2}) {
		t.Errorf("the engine got %+v", got)
	}
}
