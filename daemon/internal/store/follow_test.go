package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestRollbackIsNeverAnnounced(t *testing.T) {
	f := newFixture(t)
	changed := f.Changed()
	f.refuse(sdk.Permission, sdk.Change{Writes: []sdk.Write{known("known://a", "x"), {Path: "prompt://1", Writer: sdk.WriterModel}}})
	select {
	case <-changed:
		t.Fatal("a rollback was announced")
	default:
	}
	seq := f.commit(known("known://a", "x")).Seq
	<-changed
	if f.Seq() != seq {
		t.Fatalf("seq %d, receipt %d", f.Seq(), seq)
	}
	select {
	case <-f.Changed():
		t.Fatal("the next commit is announced already")
	default:
	}
	f.verify()
}

// follow reads the journal as a client does until it has seen the seq that
// last gives. It takes the channel first, so it can wait without a timer.
func follow(ctx context.Context, s *Store, last func() int64) error {
	var at int64
	for {
		changed := s.Changed()
		announced := s.Seq()
		for {
			rows, err := s.Journal(ctx, sdk.JournalQuery{After: at, Limit: 7})
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Seq != at+1 {
					return fmt.Errorf("row %d follows %d", r.Seq, at)
				}
				at = r.Seq
			}
			if len(rows) == 0 {
				break
			}
		}
		if at < announced {
			return fmt.Errorf("%d was announced, and the journal ends at %d", announced, at)
		}
		if end := last(); end != 0 && at >= end {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("still at %d of %d: %w", at, s.Seq(), ctx.Err())
		}
	}
}

func TestManyWritersReadersAndFollowers(t *testing.T) {
	const writers, each, cells = 8, 20, 5
	f := newFixture(t)
	for i := range cells {
		f.commit(sdk.Write{Path: fmt.Sprintf("log://turn_1/x/%d", i), Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseRecorded})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // only a deadlock takes that long
	defer cancel()
	var mu sync.Mutex
	var end int64
	taken := map[string]int{}
	last := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		return end
	}
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				path := fmt.Sprintf("known://%d/%d", w, i)
				if _, err := f.Commit(ctx, sdk.Change{Run: f.run.ID, Writes: []sdk.Write{known(path, path)}}); err != nil {
					t.Error(err)
					return
				}
				// All writers try to take the same steps; each is taken once.
				step := fmt.Sprintf("log://turn_1/x/%d", i%cells)
				_, err := f.Commit(ctx, sdk.Change{Run: f.run.ID, Writes: []sdk.Write{{Path: step, Writer: sdk.WriterSystem, Expect: sdk.PhaseRecorded, Phase: sdk.PhaseStarted}}})
				mu.Lock()
				if err == nil {
					taken[step]++
				} else if sdk.OutcomeOf(err) != sdk.Conflict {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
		reading.Go(func() {
			if err := follow(ctx, f.Store, last); err != nil {
				t.Error(err)
			}
		})
		reading.Go(func() {
			for before := 0; ; {
				changed := f.Changed()
				all, err := f.Entries(ctx, sdk.EntryQuery{Run: f.run.ID})
				if err != nil || len(all) < before {
					t.Errorf("%d entries after %d (%v)", len(all), before, err)
					return
				}
				if before = len(all); before >= writers*each+cells {
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
					t.Errorf("%d entries have come when time is up", before)
					return
				}
			}
		})
	}
	writing.Wait()
	mu.Lock()
	end = f.Seq()
	mu.Unlock()
	f.commit(known("known://end", "")) // wakes followers that saw the last row before end was set
	reading.Wait()
	if len(taken) != cells {
		t.Errorf("steps taken: %v", taken)
	}
	for step, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", step, n)
		}
	}
	f.verify()
}
