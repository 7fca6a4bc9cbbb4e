package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/schema"
)

// noAgent is an agent that no plugin brings, and who names the plugin as its validator.
const noAgent = "x-no-such-agent"

// AgentChecks are the checks of the kind agent. A judgement changes nothing, so that it is asked for in any case. What
// it comes to is the plugin's own business.
func AgentChecks(m sdk.Manifest) []Check {
	checks := []Check{
		{"agent: cancel of a judgement that is over", func(ctx context.Context, s Subject) error {
			return cancelled(ctx, s, canceller(pb.NewAgentClient(s.Conn), noCall))
		}},
		{"agent: the work of another agent", func(ctx context.Context, s Subject) error {
			return judged(ctx, s, sdk.AgentSpec{Name: noAgent, Schema: json.RawMessage(`{"type":"object"}`)})
		}},
	}
	for _, a := range m.Agents {
		checks = append(checks, Check{"agent " + a.Name, func(ctx context.Context, s Subject) error { return judged(ctx, s, a) }})
	}
	return checks
}

// Agents says what is wrong with the declarations of agents; nil when nothing is.
func Agents(specs []sdk.AgentSpec) error {
	var errs []error
	seen := map[string]bool{}
	for _, a := range specs {
		err := a.Check()
		if err == nil && seen[a.Name] {
			err = errors.New("it is declared twice")
		}
		if err == nil && len(a.Schema) > 0 {
			_, err = schema.Compile(a.Schema) // as the daemon does
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %s: %w", a.Name, err))
		}
		seen[a.Name] = true
	}
	return errors.Join(errs...)
}

// judged has a result judged that satisfies the schema and for which nothing was done: in time, at the same time as others, with
// too little time, and stopped on its way.
func judged(ctx context.Context, s Subject, a sdk.AgentSpec) error {
	if len(a.Schema) == 0 {
		return nil // a plain answer ends its work
	}
	result, err := Arguments(sdk.ToolSpec{Name: a.Name, Parameters: a.Schema})
	if err != nil {
		return err
	}
	validate := func(id string, deadline time.Time) error { return validated(ctx, s, a.Name, result, id, deadline) }
	inTime := func() error { return validate("conformance", time.Now().Add(patience)) }
	if err := inTime(); err != nil {
		return err
	}
	for _, err := range together(inTime) {
		if err != nil {
			return fmt.Errorf("one of %d judgements at the same time: %w", crowd, err)
		}
	}
	const soon = 50 * time.Millisecond
	if err := validate("conformance-late", time.Now().Add(soon)); err != nil {
		return fmt.Errorf("with a deadline in %v: %w", soon, err)
	}
	err = stopped(ctx, pb.NewAgentClient(s.Conn), func(id string) error { return validate(id, time.Now().Add(patience)) })
	return errors.Join(err, alive(ctx, s))
}

// validated asks for one judgement, which must come in time and say one thing.
func validated(ctx context.Context, s Subject, name string, result json.RawMessage, id string, deadline time.Time) error {
	work, err := json.Marshal(sdk.Work{Agent: name, Run: "conformance", Prompt: "conformance", Result: result, Done: []sdk.WorkDone{}})
	if err != nil {
		return err
	}
	limit := time.Until(deadline) + grace
	return within(ctx, "the judgement of "+name, limit, func(ctx context.Context) error {
		resp, err := pb.NewAgentClient(s.Conn).Validate(ctx, &pb.ValidateRequest{
			WorkJson: work, CallId: id, Run: "conformance", Project: s.project(), RunDir: s.RunDir, DeadlineUnixMs: deadline.UnixMilli(),
		})
		switch failed := resp.GetFailure(); {
		case err != nil:
			return fmt.Errorf("calling Validate failed: %w", err)
		case failed != nil && (resp.GetAccepted() || len(resp.GetMissing()) > 0):
			return errors.New("the answer of Validate has a failure and a judgement")
		case failed != nil && failed.GetMessage() == "":
			return fmt.Errorf("the failure %q has no message", failed.GetOutcome())
		case failed != nil:
			return nil
		case resp.GetAccepted() && len(resp.GetMissing()) > 0:
			return errors.New("the answer of Validate accepts a result and says what is missing")
		case !resp.GetAccepted() && len(resp.GetMissing()) == 0:
			return Warn("a result is refused without a word of what is missing: the model can only guess")
		}
		return nil
	})
}
