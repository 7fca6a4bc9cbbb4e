package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Set is an Agent made of declarations and a function.
type Set struct {
	Declared []sdk.AgentSpec
	// Judge says what is missing before a result can be accepted, for the model, one thing each; nothing accepts it. As
	// with Validate, an error refuses. Without a function every result that satisfies its schema is accepted.
	Judge func(ctx context.Context, work sdk.Work) (missing []string, err error)
}

// Err reports the mistakes of the author, all at once.
func (s Set) Err() error {
	var errs []error
	seen := map[string]bool{}
	for _, a := range s.Declared {
		if err := a.Check(); err != nil {
			errs = append(errs, fmt.Errorf("agent %s: %w", a.Name, err))
		}
		if len(a.Schema) > 0 && !json.Valid(a.Schema) {
			errs = append(errs, fmt.Errorf("agent %s: its schema is no JSON", a.Name))
		}
		if seen[a.Name] {
			errs = append(errs, fmt.Errorf("agent %s is declared twice", a.Name))
		}
		seen[a.Name] = true
	}
	if len(s.Declared) == 0 && s.Judge == nil {
		errs = append(errs, errors.New("an agent.Set that brings no agent and judges nothing has nothing to do"))
	}
	return errors.Join(errs...)
}

// Agents implements Agent.
func (s Set) Agents() []sdk.AgentSpec { return s.Declared }

// Validate implements Agent.
func (s Set) Validate(ctx context.Context, work sdk.Work) (sdk.Judgement, error) {
	if s.Judge == nil {
		return sdk.Judgement{Accepted: true}, nil
	}
	missing, err := s.Judge(ctx, work)
	if err != nil {
		return sdk.Judgement{}, err
	}
	return sdk.Judgement{Accepted: len(missing) == 0, Missing: missing}, nil
}

var _ Agent = Set{}
