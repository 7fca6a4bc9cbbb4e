package sdktest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/skill"
)

func skills() skill.Set {
	return skill.Set{
		skill.New("greet", func(ctx context.Context, c skill.Call) (sdk.ToolResult, error) {
			if err := c.Progress("greeting\xff", 0.5); err != nil {
				return sdk.ToolResult{}, err
			}
			answer, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: c.Input}}})
			if err != nil {
				return sdk.Failed(err), nil
			}
			if _, err := host.From(ctx).Write(ctx, sdk.Write{Path: "known://greeted", Body: &answer}); err != nil {
				return sdk.ToolResult{}, err
			}
			r := skill.Text(answer + "\xff")
			r.Structured, err = json.Marshal(c.SkillCall)
			return r, err
		}),
		skill.New("use", func(ctx context.Context, c skill.Call) (sdk.ToolResult, error) {
			return host.Use(ctx, c.Input, map[string]string{"a": "b"})
		}),
		skill.New("wait", func(ctx context.Context, _ skill.Call) (sdk.ToolResult, error) {
			<-ctx.Done()
			return sdk.ToolResult{}, ctx.Err()
		}),
		skill.New("panic", func(context.Context, skill.Call) (sdk.ToolResult, error) { panic("at the disco") }),
	}
}

func greeter() *Daemon {
	return &Daemon{
		Answer: func(_ context.Context, r sdk.Request) (string, error) { return "hello " + r.Messages[0].Text, nil },
		Tools: map[string]func(context.Context, json.RawMessage) (sdk.ToolResult, error){
			"echo": func(_ context.Context, a json.RawMessage) (sdk.ToolResult, error) { return skill.Text(string(a)), nil },
		},
	}
}

func TestSkillContract(t *testing.T) {
	Skill(t, skills(), greeter(),
		Execution{SkillCall: sdk.SkillCall{Skill: "greet", Input: "Ada"}},
		Execution{SkillCall: sdk.SkillCall{Skill: "use", Input: "echo"}},
		Execution{SkillCall: sdk.SkillCall{Skill: "wait"}, Blocks: true},
	)
}

// TestSkillRoundTrip: nothing of an execution is lost on the wire.
func TestSkillRoundTrip(t *testing.T) {
	daemon := greeter()
	client := skill.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { skill.Register(s, skills()) }, WithHost(daemon)))
	call := sdk.SkillCall{
		Skill: "greet", Input: "Ada", Body: "# Greet", Folder: "/f", Model: "m", CallID: "c", Run: "k", Project: "/p", RunDir: "/r",
		Deadline: time.Now().Add(time.Minute).Truncate(time.Millisecond),
	}
	var rec Recorder
	r, err := client.Execute(soon(t), call, &rec)
	if err != nil || r.Output != "hello Ada\uFFFD" {
		t.Fatalf("%+v %v", r, err)
	}
	var got sdk.SkillCall
	if err := json.Unmarshal(r.Structured, &got); err != nil || !got.Deadline.Equal(call.Deadline) {
		t.Errorf("%+v %v", got, err)
	}
	if got.Deadline = call.Deadline; got != call {
		t.Errorf("%+v, want %+v", got, call)
	}
	if m := rec.Messages(); len(m) != 1 || m[0] != "greeting\uFFFD" {
		t.Errorf("progress %q", m)
	}
	if e, err := daemon.Entry(soon(t), "known://greeted"); err != nil || e.Body != "hello Ada" {
		t.Errorf("%+v %v", e, err)
	}
	r, err = client.Execute(soon(t), sdk.SkillCall{Skill: "use", Input: "echo"}, &rec)
	if err != nil || r.Output != `{"a":"b"}` {
		t.Errorf("%+v %v", r, err)
	}
	_, err = client.Execute(soon(t), sdk.SkillCall{Skill: "panic"}, &rec)
	if outcome(err) != sdk.Internal || !strings.Contains(err.Error(), "at the disco") {
		t.Errorf("a panic: %v", err)
	}
	_, err = client.Execute(soon(t), sdk.SkillCall{Skill: "wait", Deadline: time.Now().Add(20 * time.Millisecond)}, &rec)
	if outcome(err) != sdk.Timeout {
		t.Errorf("the deadline: %v", err)
	}
	daemon.Answer = nil
	if r, err = client.Execute(soon(t), call, &rec); err != nil || r.Success || r.Outcome != sdk.Permission {
		t.Errorf("without a grant: %+v %v", r, err)
	}
}

func TestSkillMistakes(t *testing.T) {
	nothing := func(context.Context, skill.Call) (sdk.ToolResult, error) { return sdk.ToolResult{}, nil }
	for _, name := range []string{"", "-a", "a-", "a--b", "A", "a_b", "a b", strings.Repeat("a", 65)} {
		if (skill.Set{skill.New(name, nothing)}).Err() == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	if err := (skill.Set{skill.New("a", nothing), skill.New("a", nothing)}).Err(); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a name that stands twice: %v", err)
	}
	if err := (skill.Set{skill.New("a-1", nothing), skill.New(strings.Repeat("a", 64), nothing)}).Err(); err != nil {
		t.Error(err)
	}
}
