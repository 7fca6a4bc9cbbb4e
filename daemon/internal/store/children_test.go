package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// family is a run with a child that has two, and a run beside them.
func (f *fixture) family() (parent, child, first, second, other sdk.Run) {
	f.t.Helper()
	parent = f.newRun(sdk.Run{Alias: "parent"})
	child = f.newRun(sdk.Run{Alias: "child", Delegator: parent.ID, DelegatedBy: "log://turn_1/delegate/a"})
	other = f.newRun(sdk.Run{Alias: "other"})
	first = f.newRun(sdk.Run{Alias: "first", Delegator: child.ID, DelegatedBy: "log://turn_1/delegate/b"})
	second = f.newRun(sdk.Run{Alias: "second", Delegator: child.ID, DelegatedBy: "log://turn_2/delegate/c"})
	return parent, child, first, second, other
}

func aliases(runs []sdk.Run) string {
	var all []string
	for _, r := range runs {
		all = append(all, r.Alias)
	}
	return strings.Join(all, " ")
}

func TestChildrenAreListedForWhoAsks(t *testing.T) {
	f := newFixture(t)
	parent, child, _, _, other := f.family()
	for _, c := range []struct {
		by   sdk.RunFilter
		want string
	}{
		{sdk.RunFilter{}, "other parent chat-1"},
		{sdk.RunFilter{Limit: 1}, "other"},
		{sdk.RunFilter{Children: true}, "second first other child parent chat-1"},
		{sdk.RunFilter{Below: parent.ID}, "second first child"},
		{sdk.RunFilter{Below: child.ID, Project: f.project.ID}, "second first"},
		{sdk.RunFilter{Below: other.ID}, ""},
		{sdk.RunFilter{Search: "fir"}, ""},
		{sdk.RunFilter{Search: "fir", Children: true}, "first"},
	} {
		found, err := f.Runs(t.Context(), c.by)
		if got := aliases(found); got != c.want || err != nil {
			t.Errorf("%+v: %q, want %q (%v)", c.by, got, c.want, err)
		}
	}
	f.work(child.ID, "one")
	f.work(parent.ID, "two")
	f.work(child.ID, "three")
	if found, err := f.Runs(t.Context(), sdk.RunFilter{Last: true}); err != nil || aliases(found) != "parent" {
		t.Errorf("the last run is %q (%v)", aliases(found), err)
	}
}

func TestWhoDelegated(t *testing.T) {
	f := newFixture(t)
	parent, child, first, second, other := f.family()
	for run, want := range map[int64]string{parent.ID: "", child.ID: "parent", first.ID: "parent child", second.ID: "parent child", other.ID: "", 99: ""} {
		if found, err := f.Delegators(t.Context(), run); aliases(found) != want || err != nil {
			t.Errorf("of %d: %q, want %q (%v)", run, aliases(found), want, err)
		}
	}
}

func TestJournalOfARunAndItsChildren(t *testing.T) {
	f := newFixture(t)
	parent, child, first, second, other := f.family()
	for _, r := range []sdk.Run{first, other, parent, second, child} {
		f.work(r.ID, r.Alias)
	}
	all, err := f.Journal(t.Context(), sdk.JournalQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for of, runs := range map[int64][]int64{
		parent.ID: {parent.ID, child.ID, first.ID, second.ID}, child.ID: {child.ID, first.ID, second.ID}, second.ID: {second.ID}, other.ID: {other.ID},
	} {
		var want, got []int64
		for _, row := range all {
			if slices.Contains(runs, row.Run) {
				want = append(want, row.Seq)
			}
		}
		for after := int64(0); ; {
			page, err := f.Journal(t.Context(), sdk.JournalQuery{Run: of, Children: true, After: after, Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page {
				got, after = append(got, row.Seq), row.Seq
			}
			if len(page) < 5 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("below %d: %v, want %v", of, got, want)
		}
	}
}

// What is read for a watch of a run and its children is found by the runs, and sorted before anything is read.
func TestTheJournalOfChildrenIsNotWalked(t *testing.T) {
	f := newFixture(t)
	text, args := journalText(sdk.JournalQuery{Run: f.run.ID, Children: true, After: 1, Limit: 5})
	plan := f.plan(text, args...)
	if !strings.Contains(plan, "SEARCH journal USING COVERING INDEX journal_run") || !strings.Contains(plan, "SEARCH j USING INTEGER PRIMARY KEY") || strings.Contains(plan, "SCAN j\n") {
		t.Errorf("the plan is\n%s", plan)
	}
}

func TestARunWithChildrenIsDeletedBehindThem(t *testing.T) {
	f := newFixture(t)
	parent, child, first, second, _ := f.family()
	for _, id := range []int64{parent.ID, child.ID} {
		if _, err := f.DeleteRun(t.Context(), id, "too early"); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("deleted before its children: %v", err)
		}
	}
	for _, id := range []int64{first.ID, second.ID, child.ID, parent.ID} {
		f.delete(id)
	}
	f.verify()
	checkIntegrity(t, f.Store)
}

// A run and its children rest together: what is done in one keeps them all.
func TestChildrenRestWithTheirParent(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	f := newFixture(t)
	f.clock = func() time.Time { return now }
	parent, child, first, second, other := f.family()
	family := []sdk.Run{parent, child, first, second}
	for i, worked := range family {
		begun := now.Add(time.Hour)
		now = begun
		f.work(worked.ID, worked.Alias)
		resting, err := f.Resting(t.Context(), begun)
		if err != nil || aliases(resting) != "other" {
			t.Errorf("%s worked (%d), and these rest: %q (%v)", worked.Alias, i, aliases(resting), err)
		}
	}
	now = now.Add(time.Hour)
	f.work(other.ID, "later")
	resting, err := f.Resting(t.Context(), now)
	if err != nil || aliases(resting) != "parent child first second" {
		t.Errorf("these rest: %q (%v)", aliases(resting), err)
	}
}
