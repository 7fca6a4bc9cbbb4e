package sdktest

import (
	"context"
	"reflect"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/skill"
)

// Execution is one for the suite to make. It must succeed, unless Fails says otherwise.
type Execution struct {
	sdk.SkillCall
	// Blocks says that it runs until it is cancelled.
	Blocks bool
	// Want and Fails are as in Call.
	Want  string
	Fails sdk.Outcome
}

// Skill checks an implementation of the kind skill: its names can be used, the
// executions end as they have to with daemon as what they call back, what it cannot do is an
// error with an outcome, an execution ends soon after its context, and without a
// daemon it ends as well.
func Skill(t *testing.T, impl skill.Skill, daemon host.Host, executions ...Execution) {
	t.Helper()
	register := func(s grpc.ServiceRegistrar) { skill.Register(s, impl) }
	conn := Pair(t, register, WithHost(daemon))
	client := skill.NewClient(withGrease(t, conn), impl.Skills()...)
	alone := skill.NewClient(Pair(t, register), impl.Skills()...)
	t.Run("names", func(t *testing.T) { skillNames(t, impl) })
	for _, e := range executions {
		t.Run("execute "+e.Skill, func(t *testing.T) {
			if e.Blocks {
				call := e.SkillCall
				call.CallID = "blocks"
				cancelled(t, call.CallID, client, func() error {
					_, err := client.Execute(context.Background(), call, &Recorder{})
					return err
				})
				return
			}
			r, err := client.Execute(soon(t), e.SkillCall, &Recorder{})
			answers(t, "execution", r, err, e.Want, e.Fails)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			within(t, "an execution with an ended context", func() {
				_, _ = client.Execute(ctx, e.SkillCall, &Recorder{}) // any answer will do
			})
			within(t, "an execution without a daemon", func() {
				_, _ = alone.Execute(context.Background(), e.SkillCall, &Recorder{}) // likewise
			})
		})
	}
	keeps(t, conn, sdk.Manifest{}, conformance.SkillChecks(sdk.Manifest{}))
}

func skillNames(t *testing.T, impl skill.Skill) {
	names := impl.Skills()
	if len(names) == 0 {
		t.Error("the plugin executes no skill")
	}
	seen := map[string]bool{}
	for _, n := range names {
		if !skill.ValidName(n) || seen[n] {
			t.Errorf("the name %q is wrong or declared twice", n)
		}
		seen[n] = true
	}
	if !reflect.DeepEqual(names, impl.Skills()) {
		t.Error("two calls of Skills differ, without a change of the manifest")
	}
}
