package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// judge is an agent plugin that answers the same to everything.
type judge struct {
	pb.UnimplementedAgentServer
	answer func(context.Context) (*pb.ValidateResponse, error)
}

func (j judge) Validate(ctx context.Context, _ *pb.ValidateRequest) (*pb.ValidateResponse, error) {
	return j.answer(ctx)
}

func (j judge) Cancel(context.Context, *pb.CancelRequest) (*pb.CancelResponse, error) {
	return &pb.CancelResponse{}, nil
}

// TestAgentChecks: an answer that says two things fails, and one that says nothing is warned of.
func TestAgentChecks(t *testing.T) {
	m := sdk.Manifest{Agents: []sdk.AgentSpec{{Name: "a", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}}}
	for name, c := range map[string]struct {
		answer *pb.ValidateResponse
		err    error
		want   Severity
		text   string
	}{
		"accepts":         {answer: &pb.ValidateResponse{Accepted: true}},
		"refuses":         {answer: &pb.ValidateResponse{Missing: []string{"m"}}},
		"fails":           {answer: &pb.ValidateResponse{Failure: &pb.Failure{Outcome: "unavailable", Message: "m"}}},
		"says nothing":    {answer: &pb.ValidateResponse{}, want: Warned, text: "without a word"},
		"two minds":       {answer: &pb.ValidateResponse{Accepted: true, Missing: []string{"m"}}, want: Failed, text: "accepts a result and says"},
		"fails and judge": {answer: &pb.ValidateResponse{Accepted: true, Failure: &pb.Failure{Outcome: "internal", Message: "m"}}, want: Failed, text: "a failure and a judgement"},
		"fails mute":      {answer: &pb.ValidateResponse{Failure: &pb.Failure{Outcome: "internal"}}, want: Failed, text: "no message"},
		"breaks":          {err: errors.New("broken"), want: Failed, text: "calling Validate failed"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := served(t, judge{answer: func(context.Context) (*pb.ValidateResponse, error) { return c.answer, c.err }})
			var worst Finding
			Run(t.Context(), Subject{Conn: NewGrease(conn, 3), Manifest: m, RunDir: "/r"}, AgentChecks(m), func(f Finding) {
				if f.Severity == Failed || f.Severity == Warned {
					worst = f
				}
			})
			if worst.Severity != c.want || !strings.Contains(worst.Text, c.text) {
				t.Errorf("%+v, want %s %q", worst, c.want, c.text)
			}
		})
	}
}

// served is a connection to an agent plugin without more.
func served(t *testing.T, j judge) *grpc.ClientConn {
	listener, server := bufconn.Listen(1<<16), grpc.NewServer()
	pb.RegisterAgentServer(server, j)
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///agent",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Stop()
		if err := errors.Join(conn.Close(), <-over); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// TestDeclaredAgents: what of an agent's declaration no daemon takes.
func TestDeclaredAgents(t *testing.T) {
	ok := sdk.AgentSpec{Name: "a", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}
	if err := Agents([]sdk.AgentSpec{ok}); err != nil {
		t.Error(err)
	}
	array := ok
	array.Schema = json.RawMessage(`{"type":"array"}`)
	for want, specs := range map[string][]sdk.AgentSpec{"twice": {ok, ok}, "type object": {array}, "no name": {{Name: "B", Description: "d"}}} {
		if err := Agents(specs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	m := well().manifest
	m.Agents = []sdk.AgentSpec{ok}
	if err := Manifest(m); err == nil || !strings.Contains(err.Error(), "the kind agent") {
		t.Errorf("agents without the kind: %v", err)
	}
}
