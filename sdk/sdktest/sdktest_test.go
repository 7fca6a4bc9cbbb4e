package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/provider"
	"github.com/bothyd/bothy/sdk/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type greeting struct {
	Name  string   `json:"name" jsonschema:"who is greeted"`
	Times *int     `json:"times,omitempty"`
	Also  []string `json:"also,omitempty"`
}

func tools() tool.Set {
	return tool.Set{
		tool.New("greet", "Greets.", sdk.Annotations{ReadOnly: true}, func(_ context.Context, in greeting, c tool.Call) (sdk.ToolResult, error) {
			if err := c.Chunk(2, []byte("to "+in.Name)); err != nil {
				return sdk.ToolResult{}, err
			}
			r := tool.Text("hello " + in.Name + "\xff")
			r.Metadata = map[string]any{"run": c.Run, "deadline": !c.Deadline.IsZero()}
			r.Structured = json.RawMessage(`{"greeted":true}`)
			return r, nil
		}),
		tool.New("wait", "Waits.", sdk.Annotations{}, func(ctx context.Context, _ struct{}, _ tool.Call) (sdk.ToolResult, error) {
			<-ctx.Done()
			return sdk.ToolResult{}, ctx.Err()
		}),
		tool.New("fail", "Fails.", sdk.Annotations{}, func(context.Context, struct{}, tool.Call) (sdk.ToolResult, error) {
			return sdk.ToolResult{Success: false, Error: "exit status 3", Outcome: sdk.Exit(3), Output: "out", Truncated: true}, nil
		}),
		tool.New("secret", "Asks.", sdk.Annotations{}, func(ctx context.Context, _ struct{}, _ tool.Call) (sdk.ToolResult, error) {
			v, err := host.From(ctx).Secret(ctx, "TOKEN")
			return tool.Text(v), err
		}),
		tool.Raw(sdk.ToolSpec{Name: "raw", Description: "Raw.", Parameters: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, c tool.Call) (sdk.ToolResult, error) {
			return tool.Text(string(c.Arguments)), nil
		}),
	}
}

func TestToolContract(t *testing.T) {
	Tool(t, tools(),
		Call{Invocation: sdk.Invocation{Tool: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`)}},
		Call{Invocation: sdk.Invocation{Tool: "raw", Arguments: json.RawMessage(`{}`)}},
		Call{Invocation: sdk.Invocation{Tool: "wait"}, Blocks: true},
	)
}

// keeper remembers one call.
type keeper struct{ tool.Tool }

func (keeper) Settle(_ context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	switch call.CallID {
	case "c":
		return sdk.ToolResult{Output: call.Run + call.Project + call.RunDir + string(call.Arguments) + "\xff", Error: "exit status 3", Outcome: sdk.Exit(3), Truncated: true}, nil
	case "panic":
		panic("settling")
	case "broken":
		return sdk.ToolResult{Structured: json.RawMessage("{")}, nil
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "unknown")
}

// invoker hides that a set can settle.
type invoker struct{ tool.Tool }

// older is a plugin from before there was Settle.
type older struct{ pb.UnimplementedToolServer }

func TestSettleRoundTrip(t *testing.T) {
	Tool(t, keeper{tools()})
	client := tool.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, keeper{tools()}) }))
	call := sdk.Invocation{Tool: "greet", CallID: "c", Run: "k", Project: "/p", RunDir: "/r", Arguments: json.RawMessage(`{}`)}
	r, err := client.Settle(soon(t), call)
	if err != nil || r.Success || r.Output != "k/p/r{}\uFFFD" || r.Outcome != "exit:3" || r.Error != "exit status 3" || !r.Truncated {
		t.Errorf("%+v %v", r, err)
	}
	for id, want := range map[string]sdk.Outcome{"panic": sdk.Internal, "broken": sdk.Internal, "other": sdk.Interrupted} {
		call.CallID = id
		if _, err := client.Settle(soon(t), call); outcome(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestNobodySettles: whatever a plugin lacks, the answer is the same.
func TestNobodySettles(t *testing.T) {
	for name, register := range map[string]func(grpc.ServiceRegistrar){
		"a tool that is no Settler":   func(s grpc.ServiceRegistrar) { tool.Register(s, invoker{tools()}) },
		"a set whose tool keeps none": func(s grpc.ServiceRegistrar) { tool.Register(s, tools()) },
		"a plugin of an older SDK":    func(s grpc.ServiceRegistrar) { pb.RegisterToolServer(s, older{}) },
	} {
		_, err := tool.NewClient(Pair(t, register)).Settle(soon(t), sdk.Invocation{Tool: "greet", CallID: "c"})
		if outcome(err) != sdk.Interrupted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestToolRoundTrip: nothing of a call or a result is lost on the wire.
func TestToolRoundTrip(t *testing.T) {
	client := tool.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, tools()) }))
	var rec Recorder
	r, err := client.Invoke(soon(t), sdk.Invocation{Tool: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`), Run: "k", Deadline: time.Now().Add(time.Minute)}, &rec)
	if err != nil || r.Output != "hello Ada\uFFFD" || r.Metadata["run"] != "k" || r.Metadata["deadline"] != true || string(r.Structured) != `{"greeted":true}` {
		t.Errorf("%+v %v", r, err)
	}
	if _, stderr := rec.Output(); stderr != "to Ada" {
		t.Errorf("stderr %q", stderr)
	}
	r, err = client.Invoke(soon(t), sdk.Invocation{Tool: "fail"}, &rec)
	if err != nil || r.Success || r.Outcome != "exit:3" || r.Error != "exit status 3" || !r.Truncated {
		t.Errorf("%+v %v", r, err)
	}
	for arguments, want := range map[string]sdk.Outcome{`{"nam":1}`: sdk.Validation, `{"name":3}`: sdk.Validation, `{`: sdk.Validation} {
		_, err := client.Invoke(soon(t), sdk.Invocation{Tool: "greet", Arguments: json.RawMessage(arguments)}, &rec)
		if outcome(err) != want {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = client.Invoke(ctx, sdk.Invocation{Tool: "wait", CallID: "c", Deadline: time.Now().Add(20 * time.Millisecond)}, &rec)
	if outcome(err) != sdk.Timeout {
		t.Errorf("the deadline of the call: %v", err)
	}
	_, err = client.Invoke(soon(t), sdk.Invocation{Tool: "secret"}, &rec)
	if outcome(err) != sdk.Unavailable {
		t.Errorf("without a daemon: %v", err)
	}
}

// oneSecret is a daemon that knows one.
type oneSecret struct{ host.Host }

func (oneSecret) Secret(context.Context, string) (string, error) { return "s3", nil }

func TestWithHost(t *testing.T) {
	conn := Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, tools()) }, WithHost(oneSecret{}))
	r, err := tool.NewClient(conn).Invoke(soon(t), sdk.Invocation{Tool: "secret"}, &Recorder{})
	if err != nil || r.Output != "s3" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestSetErrors(t *testing.T) {
	bad := tool.Set{
		tool.New("Bad", "x", sdk.Annotations{}, func(context.Context, int, tool.Call) (sdk.ToolResult, error) { return sdk.ToolResult{}, nil }),
		tool.New("fine", "x", sdk.Annotations{}, func(context.Context, struct{ F func() }, tool.Call) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, nil
		}),
		tool.Raw(sdk.ToolSpec{Name: "fine"}, nil),
	}
	err := bad.Err()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"must be a struct", `name "Bad"`, "tool fine:", "declared twice"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if err := tools().Err(); err != nil {
		t.Error(err)
	}
	if s := string(tools()[0].Spec().Parameters); strings.Contains(s, "null") || !strings.Contains(s, `"additionalProperties":false`) {
		t.Errorf("schema %s", s)
	}
}

// fakeModel says hello; its model's name changes how.
type fakeModel struct{}

func (fakeModel) Models(context.Context) ([]sdk.Model, error) {
	return []sdk.Model{{Name: "m", Context: 10}}, nil
}

func (fakeModel) Complete(_ context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	for _, d := range []sdk.Delta{
		{Reasoning: "hm"}, {Text: "hi"},
		{Call: &sdk.CallDelta{Index: 0, ID: "a", Tool: "t", Arguments: "{"}}, {Call: &sdk.CallDelta{Index: 0, Arguments: "}"}},
		{Usage: &sdk.Usage{Prompt: 1, Total: 2, Cost: new(0.5)}},
	} {
		if err := send(d); err != nil {
			return err
		}
	}
	switch req.Model {
	case "refused":
		return &sdk.ProviderError{Class: sdk.ClassRateLimit, Message: "slow", Status: 429, RetryAfter: time.Second, NoTools: true}
	case "plain":
		return io.ErrUnexpectedEOF
	case "own":
		return sdk.Errorf(sdk.Permission, "no")
	case "cut":
		return nil
	case "panic":
		panic("model")
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: "calls", Extra: json.RawMessage(`{"e":1}`)}})
}

func TestProviderContract(t *testing.T) { Provider(t, fakeModel{}, sdk.Request{Model: "m"}) }

func TestProviderErrors(t *testing.T) {
	client := provider.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { provider.Register(s, fakeModel{}) }))
	for model, want := range map[string]sdk.FailureClass{"refused": sdk.ClassRateLimit, "plain": sdk.ClassNever, "cut": sdk.ClassGateway, "panic": sdk.ClassNever} {
		var pieces []sdk.Delta
		err := client.Complete(soon(t), sdk.Request{Model: model}, func(d sdk.Delta) error { pieces = append(pieces, d); return nil })
		var pe *sdk.ProviderError
		if !errors.As(err, &pe) || pe.Class != want || !pe.Streamed || len(pieces) != 5 {
			t.Errorf("%s: %v %+v, %d pieces", model, err, pe, len(pieces))
		}
		if model == "refused" && (pe.RetryAfter != time.Second || pe.Status != 429 || !pe.NoTools) {
			t.Errorf("%+v", pe)
		}
	}
	if err := client.Complete(soon(t), sdk.Request{Model: "own"}, func(sdk.Delta) error { return nil }); outcome(err) != sdk.Permission {
		t.Errorf("own: %v", err)
	}
}

type echoHook struct{}

func (echoHook) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "turn.verdict", Failure: sdk.FailClosed}}
}

func (echoHook) Event(_ context.Context, name string, _ json.RawMessage) error {
	if name == "panic" {
		panic("hook")
	}
	return nil
}

func (echoHook) Filter(_ context.Context, name string, v json.RawMessage) (json.RawMessage, error) {
	if name == "empty" {
		return nil, nil
	}
	return v, nil
}

func TestHookContract(t *testing.T) {
	Hook(t, echoHook{}, Heard{Name: "run.created", Value: map[string]int{"run": 1}}, Heard{Name: "turn.verdict", Filter: true, Value: sdk.TurnResult{}})
	client := hook.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { hook.Register(s, echoHook{}) }))
	if err := client.Event(soon(t), "panic", nil); outcome(err) != sdk.Internal {
		t.Errorf("a panic answered %v", err)
	}
	if _, err := client.Filter(soon(t), "empty", json.RawMessage(`1`)); err == nil {
		t.Error("an empty answer passed")
	}
}
