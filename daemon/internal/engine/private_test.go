package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestPrivateRuns: the commands of a run that a channel made get no project, its other tools
// a folder of its own, policy knows of it, and all of that is so when a person goes on with the run, and
// in a fork of it. A channel cannot go on with a run that a person made.
func TestPrivateRuns(t *testing.T) {
	both := func() step { return calls(numbered("bash", 1), numbered("write", 1)) }
	h := prepareAsking(t, both(), say("done"), both(), say("done"), both(), say("done"), both(), say("done"), both(), say("done"), both(), say("done"))
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test", Reason: "it is allowed"}
	})
	h.access.found(sdk.Prepared{View: true})
	h.start()
	channels := h.submit(Submission{Run: "chat", Origin: chat})
	if !channels.Run.Private {
		t.Fatal("the run is not private")
	}
	h.await(channels)
	h.run(Submission{Run: "chat"})
	fork, err := h.engine.Fork(t.Context(), Fork{Run: channels.Run.ID, Alias: "fork"})
	if err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: fork.Alias})
	if _, err := h.engine.Socket().StartRun(t.Context(), chat, rpc.StartRun{Project: h.project, Run: "begun"}); err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: "begun", Origin: chat})
	private := 4
	h.run(Submission{Run: "mine"})
	_, err = h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "mine", Prompt: "p", Origin: chat})
	_, callErr := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Run: "mine", Tool: "read", Arguments: json.RawMessage(`{}`), Origin: chat})
	if sdk.OutcomeOf(err) != sdk.Conflict || sdk.OutcomeOf(callErr) != sdk.Conflict {
		t.Errorf("a channel in a person's run: %v, %v", err, callErr)
	}
	done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: "bash", Arguments: json.RawMessage(`{}`), Origin: chat})
	if err != nil || !done.Run.Private || !done.Run.Hidden {
		t.Errorf("a channel's call is in %+v, %v", done.Run, err)
	}

	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	if len(h.tools.made) != 11 {
		t.Fatalf("%d calls were made", len(h.tools.made))
	}
	for i, call := range h.tools.made {
		want := h.project
		if i/2 < private || i == 10 {
			if want = filepath.Join(call.RunDir, "workspace"); call.Tool == "bash" {
				want = ""
			} else if info, err := os.Stat(want); err != nil || !info.IsDir() {
				t.Errorf("call %d has no folder: %v", i, err)
			}
		}
		if call.Project != want {
			t.Errorf("call %d of %s has the project %q, want %q", i, call.Tool, call.Project, want)
		}
	}
	for i, r := range h.policy.all() {
		settled, private := h.project, i/2 < private || i == 10
		if !private {
			settled = ""
		}
		if r.Private != private || r.Settled != settled || private == (r.Project == h.project) {
			t.Errorf("question %d: private %t, project %q", i, r.Private, r.Project)
		}
	}
}

// TestPrivateRunsHaveNoWorkspaceMode: a person who goes on with one cannot have it either.
func TestPrivateRunsHaveNoWorkspaceMode(t *testing.T) {
	h := prepareAsking(t, say("done"), say("done"))
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}
	h.access.found(sdk.Prepared{View: true})
	h.start()
	h.run(Submission{Run: "chat", Origin: chat})
	if a := h.submit(Submission{Run: "chat"}); a.Mode != sdk.ModeInteractive {
		t.Errorf("the mode is %s", a.Mode)
	}
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "chat", Prompt: "p", Mode: sdk.ModeWorkspace})
	if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "a channel made this run") {
		t.Errorf("got %v", err)
	}
	h.untilIdle()
}

// TestPrivateRunsHaveNothingOfOthers: neither the user's own instructions nor those of the project are told to a model
// whose prompts others write.
func TestPrivateRunsHaveNothingOfOthers(t *testing.T) {
	h, _ := instructed(t, say("done"), say("done"))
	h.write("AGENTS.md", "Say it of the project.")
	h.write("../own/AGENTS.md", "Say it of the user.")
	own := filepath.Join(h.project, "../own")
	h.config.Instructions = project.InstructionFiles{Folder: func() string { return own }, Trusted: func(string) bool { return true }}
	h.start()
	h.run(Submission{Run: "mine"})
	h.run(Submission{Run: "chat", Origin: chat})
	for i, want := range []bool{true, false} {
		system := h.models.asked()[i].Messages[0].Text
		if strings.Contains(system, "of the user") != want || strings.Contains(system, "of the project.") != want {
			t.Errorf("run %d: the system text is\n%s", i, system)
		}
	}
}

// chat is the origin of what Ada begins by the channel chat in these tests.
var chat = sdk.Origin{Owner: "chat/ada", Channel: "chat"}

// origin is chat of a channel, else that of whoever works at this machine.
func origin(channel bool) sdk.Origin {
	if channel {
		return chat
	}
	return sdk.Origin{}
}
