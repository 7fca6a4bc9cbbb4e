package store

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestForkOfAChild: a fork may change no more paths than the run that it is of, and has no network where that has none.
func TestForkOfAChild(t *testing.T) {
	f := newFixture(t)
	child, err := f.CreateRun(t.Context(), sdk.Run{Project: f.project.ID, Agent: "default", Delegator: f.run.ID, DelegatedBy: "log://turn_1/delegate/a", Writes: []string{"docs/**"}, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := f.CreateRun(t.Context(), sdk.Run{Project: f.project.ID, Parent: child.ID})
	if err != nil || !slices.Equal(fork.Writes, child.Writes) || !fork.Offline {
		t.Errorf("it may change %q, is offline: %t, %v", fork.Writes, fork.Offline, err)
	}
	read, err := f.Run(t.Context(), fork.ID)
	if err != nil || !slices.Equal(read.Writes, child.Writes) || !read.Offline || read.Delegator != 0 {
		t.Errorf("read as %+v, %v", read, err)
	}
}
