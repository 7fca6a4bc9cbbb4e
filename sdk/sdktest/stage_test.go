package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/tool"
)

// noting is a tool that keeps its text in the file note of the project.
func noting() tool.Set {
	type note struct {
		Text string `json:"text"`
	}
	at := func(call sdk.Invocation) string { return filepath.Join(call.Project, "note") }
	base := func(call sdk.Invocation) (string, error) {
		b, err := os.ReadFile(at(call))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "was " + string(b) + string(call.Arguments), err
	}
	return tool.Set{
		tool.New("note", "Notes.", sdk.Annotations{}, func(_ context.Context, in note, c tool.Call) (sdk.ToolResult, error) {
			if now, err := base(c.Invocation); err != nil || c.Base != "" && c.Base != now {
				return sdk.ToolResult{}, errors.Join(err, sdk.Errorf(sdk.Conflict, "the note changed"))
			}
			return tool.Text("noted"), os.WriteFile(at(c.Invocation), []byte(in.Text), 0o600)
		}).StagedBy(func(_ context.Context, call sdk.Invocation) (sdk.Staged, error) {
			if call.CallID == "panic" {
				panic("staging")
			}
			now, err := base(call)
			return sdk.Staged{Diff: "+" + string(call.Arguments), Base: now}, err
		}),
		tools()[0],
	}
}

func TestStageContract(t *testing.T) {
	dir := t.TempDir()
	Tool(t, noting(),
		Call{Invocation: sdk.Invocation{Tool: "note", Arguments: json.RawMessage(`{"text":"a"}`), Project: dir}},
		Call{Invocation: sdk.Invocation{Tool: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`), Project: dir}},
	)
	if b, err := os.ReadFile(filepath.Join(dir, "note")); err != nil || string(b) != "a" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestStageRoundTrip: what is staged crosses the wire, and the base comes back.
func TestStageRoundTrip(t *testing.T) {
	client := tool.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, noting()) }), noting().Tools()...)
	if specs := client.Tools(); !specs[0].Staged || specs[1].Staged {
		t.Errorf("%+v", specs)
	}
	call := sdk.Invocation{Tool: "note", Arguments: json.RawMessage(`{"text":"a"}`), CallID: "c", Project: t.TempDir()}
	staged, err := client.Stage(soon(t), call)
	if err != nil || staged.Diff != `+{"text":"a"}` || staged.Base != `was {"text":"a"}` {
		t.Errorf("%+v, %v", staged, err)
	}
	call.Base = strange
	if _, err := client.Invoke(soon(t), call, &Recorder{}); outcome(err) != sdk.Conflict {
		t.Errorf("another base: %v", err)
	}
	call.Base = staged.Base
	if r, err := client.Invoke(soon(t), call, &Recorder{}); err != nil || !r.Success {
		t.Errorf("%+v, %v", r, err)
	}
	for name, want := range map[string]sdk.Outcome{"greet": sdk.Unavailable, "no_such_tool": sdk.NotFound} {
		if _, err := client.Stage(soon(t), sdk.Invocation{Tool: name}); outcome(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	call.CallID = "panic"
	if _, err := client.Stage(soon(t), call); outcome(err) != sdk.Internal {
		t.Errorf("a plugin that panics: %v", err)
	}
}

// TestNobodyStages: whatever a plugin lacks, the answer is the same.
func TestNobodyStages(t *testing.T) {
	for name, register := range map[string]func(grpc.ServiceRegistrar){
		"a tool that is no Stager":    func(s grpc.ServiceRegistrar) { tool.Register(s, invoker{tools()}) },
		"a set whose tool cannot say": func(s grpc.ServiceRegistrar) { tool.Register(s, tools()) },
		"a plugin of an older SDK":    func(s grpc.ServiceRegistrar) { pb.RegisterToolServer(s, older{}) },
	} {
		if _, err := tool.NewClient(Pair(t, register)).Stage(soon(t), sdk.Invocation{Tool: "greet"}); outcome(err) != sdk.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
