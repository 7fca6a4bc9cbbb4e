package delegate

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Store is what the work of children is read from.
type Store interface {
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
	Turns(ctx context.Context, run int64) ([]sdk.Turn, error)
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Prompt is the prompt that a child was made for, as it is now.
func Prompt(ctx context.Context, s Store, child sdk.ActionChild) (sdk.Loop, error) {
	loops, err := s.Loops(ctx, child.Run)
	if err != nil {
		return sdk.Loop{}, err
	}
	i := slices.IndexFunc(loops, func(l sdk.Loop) bool { return l.ID == child.Loop })
	if i < 0 {
		return sdk.Loop{}, sdk.Errorf(sdk.NotFound, "the run %s has no such prompt", child.Alias)
	}
	return loops[i], nil
}

// ReadDone is how the prompt of a child ended.
func ReadDone(ctx context.Context, s Store, child sdk.ActionChild, loop sdk.Loop) (Done, error) {
	done := Done{Child: child, Loop: loop}
	turns, err := s.Turns(ctx, loop.Run)
	if err != nil {
		return done, err
	}
	last := 0
	for _, t := range turns {
		if t.Loop == loop.ID {
			last = max(last, t.Sequence)
		}
	}
	if last == 0 {
		return done, nil
	}
	reply, err := s.Entry(ctx, loop.Run, sdk.ReplyPath(last))
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		return done, err
	}
	done.Answer = sdk.SaidIn(reply)
	if loop.Stop != sdk.StopTerminal && loop.Stop != sdk.StopRejected {
		return done, nil
	}
	entries, err := s.Entries(ctx, sdk.EntryQuery{Run: loop.Run, Pattern: sdk.TurnPattern(last)})
	var ended sdk.Action // the one that ended the work: the last that was made, but for calls that stand behind an update
	for _, entry := range entries {
		at, err := sdk.ActionOf(entry)
		switch {
		case err != nil || entry.Phase == sdk.PhaseNone || at.Parent != "":
		case at.Rejected() && at.State != sdk.StateResolved:
			done.Said = at.Answer
		case at.State == sdk.StateResolved && (at.EndsWork() || !ended.EndsWork()):
			ended = at
		}
	}
	if ended.Finished() {
		done.Result = ended.ExactArguments()
	}
	if err != nil || loop.Stop != sdk.StopTerminal || done.Result != nil {
		return done, err
	}
	said := ended.Body
	if ended.EndsWork() {
		noted, err := s.Entry(ctx, loop.Run, sdk.UpdatePath(last))
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return done, err
		}
		said = noted.Body
	}
	if strings.TrimSpace(said) != "" {
		done.Answer = said
	}
	return done, nil
}
