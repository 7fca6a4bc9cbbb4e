package sdktest

import (
	"context"
	"reflect"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/skill"
)

// Execution is one that a skill must carry out well, for the suite to make.
type Execution struct {
	sdk.SkillCall
	// Blocks says that it runs until it is cancelled.
	Blocks bool
}

// Skill checks an implementation of the kind skill: its names can be used, the
// executions succeed with daemon as what they call back, what it cannot do is an
// error with an outcome, an execution ends soon after its context, and without a
// daemon it ends as well.
func Skill(t *testing.T, impl skill.Skill, daemon host.Host, executions ...Execution) {
	t.Helper()
	register := func(s grpc.ServiceRegistrar) { skill.Register(s, impl) }
	client := skill.NewClient(withGrease(t, Pair(t, register, WithHost(daemon))), impl.Skills()...)
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
			executes(t, client, e.SkillCall)
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
	t.Run("unknown skill", func(t *testing.T) {
		_, err := client.Execute(soon(t), sdk.SkillCall{Skill: "no-such-skill", CallID: "c"}, &Recorder{})
		if outcome(err) != sdk.NotFound {
			t.Errorf("an unknown skill answered %v, want outcome not_found", err)
		}
	})
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

func executes(t *testing.T, client *skill.Client, call sdk.SkillCall) {
	t.Helper()
	r, err := client.Execute(soon(t), call, &Recorder{})
	switch {
	case err != nil:
		t.Errorf("the execution failed: %v", err)
	case !r.Success:
		t.Errorf("the execution ended without success: %s", r.Error)
	case r.Error != "":
		t.Errorf("a successful result carries the error %q", r.Error)
	}
	if !utf8.ValidString(r.Output) {
		t.Error("the output is no UTF-8")
	}
}
