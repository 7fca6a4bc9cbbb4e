package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

var reviewSchema = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`)

// reviewers accept what was read for, by the word of a model.
func reviewers() agent.Set {
	return agent.Set{
		Declared: []sdk.AgentSpec{
			{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read_*"}, Schema: reviewSchema},
			{Name: "talker", Description: "Talks."},
		},
		Judge: func(ctx context.Context, w sdk.Work) ([]string, error) {
			switch w.Agent {
			case "waits":
				<-ctx.Done()
				return nil, ctx.Err()
			case "panics":
				panic("at the disco")
			case "fails":
				return nil, sdk.Errorf(sdk.Unavailable, "nobody is at home")
			case "asks":
				answer, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: w.Prompt}}})
				return []string{answer}, err
			}
			if len(w.Done) == 0 {
				return []string{"read something\xff"}, nil
			}
			return nil, nil
		},
	}
}

func TestAgentContract(t *testing.T) {
	read := []sdk.WorkDone{{Run: "r", Path: "log://turn_1/read_file/a", Tool: "read_file", Success: true}}
	Agent(t, reviewers(), greeter(),
		Judged{Work: sdk.Work{Agent: "reviewer", Result: json.RawMessage(`{"summary":"s"}`), Done: read}},
		Judged{Work: sdk.Work{Agent: "reviewer", Result: json.RawMessage(`{"summary":"s"}`)}, Missing: "read something"},
		Judged{Work: sdk.Work{Agent: "asks", Prompt: "Ada"}, Missing: "hello Ada"},
		Judged{Work: sdk.Work{Agent: "fails"}, Fails: sdk.Unavailable},
		Judged{Work: sdk.Work{Agent: "panics"}, Fails: sdk.Internal},
		Judged{Work: sdk.Work{Agent: "waits"}, Blocks: true},
	)
}

// TestWorkRoundTrip: nothing of a work is lost on the wire, and nothing of a judgement.
func TestWorkRoundTrip(t *testing.T) {
	want := sdk.Work{
		Agent: "a", Run: "r", Prompt: "p", Result: json.RawMessage(`{"n":1}`),
		Done: []sdk.WorkDone{{
			Run: "child", Path: "log://turn_1/bash/x", Tool: "bash", Plugin: "bash", Arguments: json.RawMessage(`{"command":"x"}`), Outcome: "exit:1",
			OpenWorld: true, Structured: json.RawMessage(`[1]`), Changed: []string{"a.go"}, Untold: true,
		}},
		Key: "k", Project: "/p", RunDir: "/d", CallID: "c", Deadline: time.Now().Add(time.Minute).Truncate(time.Millisecond),
	}
	var got sdk.Work
	impl := agent.Set{Judge: func(_ context.Context, w sdk.Work) ([]string, error) {
		got = w
		return []string{"one", "two\xff"}, nil
	}}
	client := agent.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { agent.Register(s, impl) }))
	j, err := client.Validate(soon(t), want)
	if err != nil || j.Accepted || !reflect.DeepEqual(j.Missing, []string{"one", "two\uFFFD"}) {
		t.Errorf("%+v %v", j, err)
	}
	if !got.Deadline.Equal(want.Deadline) {
		t.Errorf("the deadline is %v, want %v", got.Deadline, want.Deadline)
	}
	if got.Deadline = want.Deadline; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	late := sdk.Work{Agent: "waits", Deadline: time.Now().Add(20 * time.Millisecond)}
	client = agent.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { agent.Register(s, reviewers()) }))
	if _, err := client.Validate(soon(t), late); outcome(err) != sdk.Timeout {
		t.Errorf("the deadline: %v", err)
	}
	if _, err := client.Validate(soon(t), sdk.Work{Agent: "panics"}); outcome(err) != sdk.Internal || !strings.Contains(err.Error(), "at the disco") {
		t.Errorf("a panic: %v", err)
	}
}

// bothSay accepts and says what is missing.
type bothSay struct{ pb.UnimplementedAgentServer }

func (bothSay) Validate(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
	return &pb.ValidateResponse{Accepted: true, Missing: []string{"something"}}, nil
}

// TestJudgementOfTwoMinds: who accepts and says what is missing has not judged.
func TestJudgementOfTwoMinds(t *testing.T) {
	client := agent.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { pb.RegisterAgentServer(s, bothSay{}) }))
	if j, err := client.Validate(soon(t), sdk.Work{}); outcome(err) != sdk.Validation || j.Accepted {
		t.Errorf("%+v %v", j, err)
	}
}

func TestAgentMistakes(t *testing.T) {
	judge := func(context.Context, sdk.Work) ([]string, error) { return nil, nil }
	ok := sdk.AgentSpec{Name: "a", Description: "d"}
	for name, set := range map[string]agent.Set{
		"nothing":         {},
		"declared twice":  {Declared: []sdk.AgentSpec{ok, ok}},
		"no name":         {Declared: []sdk.AgentSpec{{Description: "d"}}},
		"no such name":    {Declared: []sdk.AgentSpec{{Name: "A b", Description: "d"}}},
		"a dash first":    {Declared: []sdk.AgentSpec{{Name: "-a", Description: "d"}}},
		"too long":        {Declared: []sdk.AgentSpec{{Name: strings.Repeat("a", 65), Description: "d"}}},
		"the default":     {Declared: []sdk.AgentSpec{{Name: "default", Description: "d"}}},
		"no description":  {Declared: []sdk.AgentSpec{{Name: "a"}}},
		"no pattern":      {Declared: []sdk.AgentSpec{{Name: "a", Description: "d", Tools: []string{"["}}}},
		"an empty one":    {Declared: []sdk.AgentSpec{{Name: "a", Description: "d", Tools: []string{""}}}},
		"a schema, no JS": {Declared: []sdk.AgentSpec{{Name: "a", Description: "d", Schema: json.RawMessage(`{`)}}},
		"a huge persona":  {Declared: []sdk.AgentSpec{{Name: "a", Description: "d", Persona: strings.Repeat("x", sdk.MaxPersona+1)}}},
	} {
		if set.Err() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for name, set := range map[string]agent.Set{"a judge": {Judge: judge}, "an agent": {Declared: []sdk.AgentSpec{ok}}} {
		if err := set.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if j, err := (agent.Set{Declared: []sdk.AgentSpec{ok}}).Validate(context.Background(), sdk.Work{}); err != nil || !j.Accepted {
		t.Errorf("without a judge: %+v %v", j, err)
	}
	broken := agent.Set{Judge: func(context.Context, sdk.Work) ([]string, error) { return nil, errors.New("no") }}
	if j, err := broken.Validate(context.Background(), sdk.Work{}); err == nil || j.Accepted {
		t.Errorf("a judge that fails: %+v %v", j, err)
	}
}
