package command

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// entries are the only ones of a run, by path.
type entries map[string]sdk.Entry

func (s entries) Entry(_ context.Context, _ int64, path string) (sdk.Entry, error) {
	entry, is := s[path]
	if !is {
		return entry, sdk.Errorf(sdk.NotFound, "there is no %s", path)
	}
	entry.Path = path
	return entry, nil
}

// TestOutputEndsOnce: what has ended meanwhile, by its call, keeps what it says.
func TestOutputEndsOnce(t *testing.T) {
	const path = "log://turn_1/sh/call"
	done := sdk.Entry{State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: []byte(`{"tool":"sh","streams":true}`)}
	c := &Clients{Store: entries{path: done, "sh://turn_1/call_1": done, "sh://turn_1/call_2": done}}
	if _, err := c.endOutputs(t.Context(), 1, path, nil, cancelledEnd("late")); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("ended again: %v", err)
	}
}
