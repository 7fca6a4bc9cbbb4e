package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// together has changes wait for one commit: what each of them came to, and how many
// commits there were.
func (f *fixture) together(changes ...sdk.Change) (receipts []sdk.Receipt, failed []error, commits int) {
	f.t.Helper()
	f.writing <- struct{}{} // somebody writes
	f.failCommit = func() error { commits++; return nil }
	receipts, failed = make([]sdk.Receipt, len(changes)), make([]error, len(changes))
	var all sync.WaitGroup
	for i, c := range changes {
		queued := make(chan struct{})
		c.Run, c.Queued = f.run.ID, func() { close(queued) }
		all.Go(func() { receipts[i], failed[i] = f.Commit(context.Background(), c) })
		<-queued
	}
	<-f.writing
	all.Wait()
	f.failCommit = nil
	return receipts, failed, commits
}

// TestOneCommitForThoseThatWait: in their order, each as a whole or not at all.
func TestOneCommitForThoseThatWait(t *testing.T) {
	f := newFixture(t)
	before := f.commit(known("known://taken", "x")).Seq
	create := func(names ...string) (c sdk.Change) {
		for _, name := range names {
			w := known("known://"+name, "the body of "+name)
			w.Create = true
			c.Writes = append(c.Writes, w)
		}
		return c
	}
	receipts, failed, commits := f.together(create("a"), create("b", "taken"), create("c"), create("a"), create("d"))
	if commits != 1 {
		t.Errorf("%d commits", commits)
	}
	for i, want := range []sdk.Outcome{"", sdk.Conflict, "", sdk.Conflict, ""} {
		if (failed[i] == nil) != (want == "") || failed[i] != nil && sdk.OutcomeOf(failed[i]) != want {
			t.Errorf("change %d: %v, want %q", i, failed[i], want)
		}
	}
	if got := []int64{receipts[0].Seq, receipts[2].Seq, receipts[4].Seq}; !slices.Equal(got, []int64{before + 1, before + 2, before + 3}) || f.Seq() != before+3 {
		t.Errorf("seqs %v after %d", got, before)
	}
	var paths []string
	for _, line := range f.sees(f.run.ID) {
		paths = append(paths, strings.Fields(line)[0])
	}
	if got := strings.Join(paths, " "); strings.Contains(got, "known://b") || !strings.Contains(got, "known://d") {
		t.Errorf("the run sees %s", got)
	}
	f.verify()
}

// TestWhoComesMeanwhileJoins: a change that comes while another is made shares its commit.
func TestWhoComesMeanwhileJoins(t *testing.T) {
	f := newFixture(t)
	commits := 0
	f.failCommit = func() error { commits++; return nil }
	var all sync.WaitGroup
	var late error
	err := f.update(t.Context(), "trying", func(*tx) error {
		queued := make(chan struct{})
		all.Go(func() {
			_, late = f.Commit(context.Background(), sdk.Change{Run: f.run.ID, Queued: func() { close(queued) }, Writes: []sdk.Write{known("known://late", "x")}})
		})
		<-queued
		return nil
	})
	all.Wait()
	if err != nil || late != nil || commits != 1 {
		t.Errorf("%d commits, %v, %v", commits, err, late)
	}
	if _, err := f.Entry(t.Context(), f.run.ID, "known://late"); err != nil {
		t.Error(err)
	}
	f.failCommit = nil
	f.verify()
}

// TestSharedCommitThatFails: nobody of those who shared it is told otherwise.
func TestSharedCommitThatFails(t *testing.T) {
	f := newFixture(t)
	f.writing <- struct{}{}
	var all sync.WaitGroup
	failed := make([]error, 3)
	for i := range failed {
		queued := make(chan struct{})
		all.Go(func() {
			_, failed[i] = f.Commit(context.Background(), sdk.Change{Run: f.run.ID, Queued: func() { close(queued) }, Writes: []sdk.Write{known(fmt.Sprint("known://", i), "x")}})
		})
		<-queued
	}
	f.failCommit = func() error { f.failCommit = nil; return errors.New("no") }
	<-f.writing
	all.Wait()
	for i, err := range failed {
		if err == nil {
			t.Errorf("change %d is said to be durable", i)
		}
	}
	if entries, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID}); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
	f.commit(known("known://a", "x"))
	f.verify()
}

// TestWaitThatEnds: a change whose caller no longer waits is not made, unless it is
// being made.
func TestWaitThatEnds(t *testing.T) {
	f := newFixture(t)
	f.writing <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.Commit(ctx, sdk.Change{Run: f.run.ID, Queued: cancel, Writes: []sdk.Write{known("known://a", "x")}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-f.writing
	f.commit(known("known://b", "x"))
	if _, err := f.Entry(t.Context(), f.run.ID, "known://a"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("it was made: %v", err)
	}
}

// TestPanicInAChange is the end of that change alone.
func TestPanicInAChange(t *testing.T) {
	f := newFixture(t)
	if err := f.update(t.Context(), "trying", func(*tx) error { panic("oops") }); sdk.OutcomeOf(err) != sdk.Internal {
		t.Error(err)
	}
	f.commit(known("known://a", "x"))
	f.verify()
}
