package store

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/sdk"
)

// childKeys are the keys of the runs that a change makes.
func childKeys(c sdk.Change) ([]string, error) {
	keys := make([]string, len(c.Children))
	for i := range c.Children {
		key, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("making the key of a run: %w", err)
		}
		keys[i] = key.String()
	}
	return keys, nil
}

// makeChildren makes the runs that calls of a change begin, each with its prompt at work, and has the entries of
// the calls name them.
func (t *tx) makeChildren(run *sdk.Run, c sdk.Change, keys []string, patches []patch) ([]sdk.Child, error) {
	made := make([]sdk.Child, len(c.Children))
	for i, child := range c.Children {
		by := slices.IndexFunc(c.Writes, func(w sdk.Write) bool { return w.Path == child.Run.DelegatedBy && w.Phase == sdk.PhaseStarted })
		if by < 0 || child.Run.Delegator != run.ID {
			return nil, sdk.Errorf(sdk.Validation, "a child of the run %s is made with the start of the call that delegates to it, and %q of the run %d is not started here",
				run.Alias, child.Run.DelegatedBy, child.Run.Delegator)
		}
		if err := t.makeChild(&child, keys[i]); err != nil {
			return nil, err
		}
		names, err := encode(map[string]sdk.ActionChild{"child": {Run: child.Run.ID, Alias: child.Run.Alias, Loop: child.Loop.ID, Agent: child.Loop.Agent}})
		if err != nil {
			return nil, err
		}
		if patches[by], err = patches[by].with(names); err != nil {
			return nil, err
		}
		if c.Writes[by].Attributes == nil {
			c.Writes[by].Attributes = names
		}
		made[i] = child
	}
	return made, nil
}

// makeChild makes one run and begins its first prompt.
func (t *tx) makeChild(child *sdk.Child, key string) error {
	if err := t.createRun(&child.Run, key); err != nil {
		return err
	}
	change := child.Loop.Change
	child.Loop.Run, child.Loop.Change = child.Run.ID, nil
	if _, err := t.changeRun(child.Run.ID, change); err != nil {
		return err
	}
	if _, err := t.enqueue(&child.Loop); err != nil {
		return err
	}
	if err := t.begin(child.Loop); err != nil {
		return err
	}
	child.Loop.Status, child.Run.Status = sdk.StatusRunning, sdk.StatusRunning
	return nil
}
