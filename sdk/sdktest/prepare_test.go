package sdktest

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/tool"
)

// TestPrepare: a place and what is said of it arrive as they were sent, and so
// does an error.
func TestPrepare(t *testing.T) {
	at := sdk.Place{Tool: "greet", Run: "r", Project: "/p", RunDir: "/d", Network: true}
	set := tool.Set{tools()[0].PreparedBy(func(_ context.Context, got sdk.Place) (sdk.Prepared, error) {
		if got.Run == "panic" {
			panic("preparing")
		}
		if got != at {
			return sdk.Prepared{}, sdk.Errorf(sdk.NotFound, "got %+v", got)
		}
		return sdk.Prepared{View: true, Reason: "why"}, nil
	})}
	if !set.Tools()[0].Prepares {
		t.Error("it does not declare that it prepares")
	}
	client := tool.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, set) }))
	if got, err := client.Prepare(soon(t), at); err != nil || got != (sdk.Prepared{View: true, Reason: "why"}) {
		t.Errorf("got %+v %v", got, err)
	}
	if _, err := client.Prepare(soon(t), sdk.Place{Tool: "greet"}); outcome(err) != sdk.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := client.Prepare(soon(t), sdk.Place{Tool: "greet", Run: "panic"}); outcome(err) != sdk.Internal {
		t.Errorf("a plugin that panics: %v", err)
	}
}

// TestNobodyPrepares: whatever a plugin lacks, the answer is the same.
func TestNobodyPrepares(t *testing.T) {
	for name, register := range map[string]func(grpc.ServiceRegistrar){
		"a tool that is no Preparer":        func(s grpc.ServiceRegistrar) { tool.Register(s, invoker{tools()}) },
		"a set whose tool prepares nothing": func(s grpc.ServiceRegistrar) { tool.Register(s, tools()) },
		"a plugin of an older SDK":          func(s grpc.ServiceRegistrar) { pb.RegisterToolServer(s, older{}) },
	} {
		if _, err := tool.NewClient(Pair(t, register)).Prepare(soon(t), sdk.Place{Tool: "greet"}); outcome(err) != sdk.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
