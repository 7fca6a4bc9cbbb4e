package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/tool"
)

type sum struct {
	Total int `json:"total"`
}

type said struct{ sum }

func (s said) String() string { return fmt.Sprintf("it is %d", s.Total) }

type pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

func TestTyped(t *testing.T) {
	set := tool.Set{
		tool.Typed("add", "Adds.", func(_ context.Context, p pair) (sum, error) { return sum{p.A + p.B}, nil }),
		tool.Typed("say", "Adds.", func(_ context.Context, p pair) (*said, error) {
			if p.A < 0 {
				return nil, sdk.Errorf(sdk.Validation, "a is negative")
			}
			return &said{sum{p.A + p.B}}, nil
		}),
	}
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	ctx := host.With(t.Context(), &sdktest.Daemon{Tools: map[string]func(context.Context, json.RawMessage) (sdk.ToolResult, error){
		"add": func(ctx context.Context, arguments json.RawMessage) (sdk.ToolResult, error) {
			return set.Invoke(ctx, sdk.Invocation{Tool: "add", Arguments: arguments}, nil)
		},
		"fail": func(context.Context, json.RawMessage) (sdk.ToolResult, error) {
			return sdk.ToolResult{Error: "no", Outcome: sdk.Conflict}, nil
		},
		"text": func(context.Context, json.RawMessage) (sdk.ToolResult, error) { return tool.Text("x"), nil },
	}})
	for name, want := range map[string]string{"add": `{"total":3}`, "say": "it is 3"} {
		r, err := set.Invoke(ctx, sdk.Invocation{Tool: name, Arguments: json.RawMessage(`{"a":1,"b":2}`)}, nil)
		if err != nil || !r.Success || r.Output != want || string(r.Structured) != `{"total":3}` {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	if _, err := set.Invoke(ctx, sdk.Invocation{Tool: "say", Arguments: json.RawMessage(`{"a":-1,"b":2}`)}, nil); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	if got, err := host.UseAs[sum](ctx, "add", pair{3, 4}); err != nil || got.Total != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, want := range map[string]sdk.Outcome{"fail": sdk.Conflict, "text": sdk.Internal, "none": sdk.NotFound} {
		if _, err := host.UseAs[sum](ctx, name, pair{}); sdk.OutcomeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestCallOf: the function of a plain and of a typed tool finds the call that it serves.
func TestCallOf(t *testing.T) {
	set := tool.Set{
		tool.Plain("plain", "Says where.", func(ctx context.Context, _ struct{}) (string, error) { return tool.CallOf(ctx).Project, nil }),
		tool.Typed("typed", "Says where.", func(ctx context.Context, _ struct{}) (string, error) { return tool.CallOf(ctx).Project, nil }),
	}
	for name, want := range map[string]string{"plain": "/p", "typed": `"/p"`} {
		r, err := set.Invoke(t.Context(), sdk.Invocation{Tool: name, Project: "/p"}, nil)
		if err != nil || r.Output != want {
			t.Errorf("%s: %v, %q, want %q", name, err, r.Output, want)
		}
	}
	if got := tool.CallOf(t.Context()); got.Tool != "" || got.Project != "" {
		t.Errorf("outside of a call: %+v", got)
	}
}
