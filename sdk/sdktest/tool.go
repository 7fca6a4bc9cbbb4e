package sdktest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/tool"
)

// Call is a call for the suite to make. It must succeed, unless Fails says otherwise.
type Call struct {
	sdk.Invocation
	// Blocks says that the call runs until it is cancelled.
	Blocks bool
	// Want is the whole output of the call, as a model reads it, or a part of its error where
	// it Fails. Empty is whatever it answers.
	Want string
	// Fails is the outcome with which the call must end, by an error or by a result without
	// success: not_found, or permission where it calls back what is not granted.
	Fails sdk.Outcome
}

// Tool checks an implementation of the kind tool: its declarations can be used,
// the calls end as they have to, what it cannot do is an error with an outcome, a call ends
// soon after its context, and a call that was never made has come to nothing. A
// tool that says what it would change changes nothing by that, and nothing when
// a call agreed to something else.
func Tool(t *testing.T, impl tool.Tool, calls ...Call) {
	t.Helper()
	testTool(t, impl, nil, calls)
}

func testTool(t *testing.T, impl tool.Tool, opts []grpc.ServerOption, calls []Call) {
	t.Helper()
	conn := Pair(t, func(s grpc.ServiceRegistrar) { tool.Register(s, impl) }, opts...)
	client := tool.NewClient(withGrease(t, conn), impl.Tools()...)
	t.Run("declarations", func(t *testing.T) { declarations(t, client) })
	for _, c := range calls {
		t.Run("call "+c.Tool, func(t *testing.T) {
			if c.Blocks {
				blocks(t, client, c.Invocation)
				return
			}
			call := c.Invocation
			if c.Fails == "" && staged(impl, c.Tool) {
				call = stages(t, client, call)
			}
			r, err := client.Invoke(soon(t), call, &Recorder{})
			answers(t, "call", r, err, c.Want, c.Fails)
			ended(t, client, call)
		})
	}
	t.Run("stage", func(t *testing.T) { unstaged(t, client) })
	t.Run("prepare", func(t *testing.T) { unprepared(t, client) })
	keeps(t, conn, sdk.Manifest{Tools: impl.Tools()}, conformance.ToolChecks(sdk.Manifest{}))
}

// staged reports whether a tool declares that it can say what it would change.
func staged(impl tool.Tool, name string) bool {
	return slices.ContainsFunc(impl.Tools(), func(s sdk.ToolSpec) bool { return s.Name == name && s.Staged })
}

func declarations(t *testing.T, impl tool.Tool) {
	specs := impl.Tools()
	if err := conformance.Tools(specs); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(specs, impl.Tools()) {
		t.Error("two calls of Tools differ, without a change of the manifest")
	}
}

// answers checks how a call or an execution ended.
func answers(t *testing.T, what string, r sdk.ToolResult, err error, want string, fails sdk.Outcome) {
	t.Helper()
	if wrong := unlike(r, err, want, fails); wrong != nil {
		t.Errorf("the %s %v", what, wrong)
	}
	if r.Success && r.Error != "" {
		t.Errorf("a successful result carries the error %q", r.Error)
	}
	if !utf8.ValidString(r.Output) {
		t.Error("the output is no UTF-8")
	}
}

// ended makes a call whose context has ended before: it may still succeed, but
// it must return.
func ended(t *testing.T, client *tool.Client, call sdk.Invocation) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	within(t, "a call with an ended context", func() {
		_, _ = client.Invoke(ctx, call, &Recorder{}) // any answer will do
	})
}

// blocks cancels a running call.
func blocks(t *testing.T, client *tool.Client, call sdk.Invocation) {
	t.Helper()
	call.CallID = "blocks"
	cancelled(t, call.CallID, client, func() error {
		_, err := client.Invoke(context.Background(), call, &Recorder{})
		return err
	})
}

// cancelled cancels a running call as the host does: by name first, and by
// hanging up where that is not enough.
func cancelled(t *testing.T, callID string, kind interface {
	Cancel(ctx context.Context, callID string) error
}, call func() error) {
	t.Helper()
	over := make(chan error, 1)
	go func() { over <- call() }()
	ctx := soon(t)
	again := time.NewTicker(20 * time.Millisecond) // the call may not have begun when it is first cancelled
	defer again.Stop()
	for {
		if err := kind.Cancel(ctx, callID); err != nil {
			t.Fatalf("the call did not end after it was cancelled: %v", err)
		}
		select {
		case err := <-over:
			if err != nil && outcome(err) != sdk.Aborted {
				t.Errorf("the cancelled call ended with %v, want outcome aborted", err)
			}
			return
		case <-again.C:
		}
	}
}
