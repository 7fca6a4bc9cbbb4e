package store

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestLastRun: the run that was given a prompt last comes first; those that never had
// one, and those of channels, are left out.
func TestLastRun(t *testing.T) {
	f := newFixture(t)
	older := f.newRun(sdk.Run{Alias: "older"})
	newer := f.newRun(sdk.Run{Alias: "newer"})
	f.newRun(sdk.Run{Alias: "idle"})
	channel := f.newRun(sdk.Run{Alias: "channel", Private: true})
	last := func() (names []string) {
		all, err := f.Runs(t.Context(), sdk.RunFilter{Project: older.Project, Last: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			names = append(names, r.Alias)
		}
		return names
	}
	if got := last(); len(got) != 0 {
		t.Errorf("without a prompt: %v", got)
	}
	for _, run := range []int64{newer.ID, older.ID, channel.ID} {
		f.enqueue(run, "p")
	}
	if got := last(); len(got) != 2 || got[0] != "older" || got[1] != "newer" {
		t.Errorf("%v", got)
	}
}
