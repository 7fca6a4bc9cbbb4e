package store

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestProposals: those that wait and those that were answered are found, and
// nothing else is; the second of two who saw one state of an entry is refused.
func TestProposals(t *testing.T) {
	f := newFixture(t)
	above := f.newRun(sdk.Run{Alias: "above"})
	run := f.newRun(sdk.Run{Alias: "r", Delegator: above.ID, DelegatedBy: "log://turn_1/delegate/r"})
	if _, _, err := f.Enqueue(t.Context(), sdk.Loop{Run: run.ID, Prompt: "p"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.ClaimLoop(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	commit := func(status int, writes ...sdk.Write) (sdk.Receipt, error) {
		for i := range writes {
			writes[i].Writer = sdk.WriterSystem
		}
		return f.Commit(t.Context(), sdk.Change{Run: run.ID, Writes: writes, Status: status})
	}
	must := func(r sdk.Receipt, err error) sdk.Receipt {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	proposed := func(path, id string) sdk.Write {
		return sdk.Write{Path: path, State: sdk.StateProposed, Phase: sdk.PhaseRecorded, Attributes: object(`{"proposal":{"hash":"x","id":"` + id + `"}}`)}
	}
	named := func(all []sdk.EntryEvent, err error) string {
		t.Helper()
		var paths []string
		for _, x := range all {
			if x.Run != run.ID {
				t.Errorf("%s is of run %d", x.Entry.Path, x.Run)
			}
			paths = append(paths, x.Entry.Path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(paths, " ")
	}
	r := must(commit(sdk.StatusProposed, proposed("log://turn_1/a/x", "aaaa1111"), proposed("log://turn_1/b/x", "bbbb2222"),
		sdk.Write{Path: "log://plugin/note", State: sdk.StateProposed, Attributes: object(`{"proposal":{"hash":"x","id":"cccc3333"}}`)},
		sdk.Write{Path: "log://turn_1/c/x", State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: object(`{"arguments":{"x":"\"proposal\":{"}}`)}))
	if got := named(f.Proposed(t.Context())); got != "log://turn_1/a/x log://turn_1/b/x" {
		t.Errorf("waiting: %s", got)
	}
	answer := sdk.Write{Path: "log://turn_1/a/x", State: sdk.StateFailed, Outcome: sdk.Permission, Phase: sdk.PhaseEnded, ExpectVersion: r.Entries[0].Version}
	must(commit(0, answer))
	if _, err := commit(0, answer); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("the same step twice: %v", err)
	}
	for _, c := range []struct {
		project, run int64
		id, want     string
	}{
		{0, 0, "", "log://turn_1/a/x"}, {0, 0, "aaaa", "log://turn_1/a/x"}, {0, 0, "bbbb", ""}, {0, run.ID + 1, "", ""}, {0, above.ID, "", "log://turn_1/a/x"},
		{run.Project, run.ID, "aaaa1111", "log://turn_1/a/x"}, {run.Project + 1, 0, "", ""},
	} {
		if got := named(f.Answered(t.Context(), c.project, c.run, c.id, 10)); got != c.want {
			t.Errorf("%+v gave %q", c, got)
		}
	}
	if got := named(f.Proposed(t.Context())); got != "log://turn_1/b/x" {
		t.Errorf("waiting: %s", got)
	}
}
