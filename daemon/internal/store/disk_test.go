package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// childFillsDisk lets its own files grow no further, writes until that hurts,
// and goes on once there is room again.
func childFillsDisk(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	p, err := s.OpenProject(ctx, "/p")
	if err != nil {
		return err
	}
	run, err := s.CreateRun(ctx, sdk.Run{Project: p.ID})
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	soft := limit.Cur
	limit.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	write := func(i int) error {
		_, err := s.Commit(ctx, sdk.Change{Run: run.ID, Writes: []sdk.Write{known("known://"+strconv.Itoa(i), strings.Repeat("x", 8192))}})
		return err
	}
	acked := 0
	// The first refusals end the write-ahead log, which makes room for a few
	// more; then the file itself has reached the limit.
	for refused := 0; refused < 3; {
		if err = write(acked); err == nil {
			acked, refused = acked+1, 0
			continue
		}
		refused++
		if sdk.OutcomeOf(err) != sdk.Unavailable {
			return fmt.Errorf("the outcome is %s: %w", sdk.OutcomeOf(err), err)
		}
	}
	if s.Health() != nil || s.Refused() == nil {
		return fmt.Errorf("refused %w, health %w, after %w", s.Refused(), s.Health(), err)
	}
	all, err := s.Entries(ctx, sdk.EntryQuery{Run: run.ID})
	if err != nil || len(all) != acked || acked == 0 {
		return fmt.Errorf("%d entries, %d acknowledged: %w", len(all), acked, err)
	}
	limit.Cur = soft
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := errors.Join(write(acked), s.Refused()); err != nil {
		return err
	}
	if err := s.Verify(ctx, 0); err != nil {
		return err
	}
	fmt.Println(run.ID, acked+1)
	return s.Close()
}

func TestFullDiskIsACleanError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	c := startChild(t, "full", path)
	var run int64
	var acked int
	if _, err := fmt.Sscan(c.line(t), &run, &acked); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	all, err := s.Entries(t.Context(), sdk.EntryQuery{Run: run, Pattern: "known://*"})
	if err != nil || len(all) != acked {
		t.Fatalf("%d entries, %d acknowledged (%v)", len(all), acked, err)
	}
	checkIntegrity(t, s)
}

// childMayNotGrow opens a database that has reached a limit to files, and reads it.
func childMayNotGrow(ctx context.Context, path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 256 << 10, Max: 256 << 10}); err != nil {
		return err
	}
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	runs, err := s.Runs(ctx, sdk.RunFilter{})
	if err != nil {
		return err
	}
	all, err := s.Entries(ctx, sdk.EntryQuery{Run: runs[0].ID, Pattern: "known://*"})
	if err != nil {
		return err
	}
	_, err = s.Commit(ctx, sdk.Change{Run: runs[0].ID, Writes: []sdk.Write{known("known://more", strings.Repeat("x", 1<<20))}})
	fmt.Println(len(all), sdk.OutcomeOf(err), s.Health())
	return nil
}

// TestDatabaseAtALimitIsOpened: the log of a process that died need not fit into the
// file before somebody made room.
func TestDatabaseAtALimitIsOpened(t *testing.T) {
	f := newFixture(t)
	for i := range 50 {
		f.commit(known("known://"+strconv.Itoa(i), strings.Repeat(strconv.Itoa(i), 4096)))
	}
	path := filepath.Join(t.TempDir(), "bothy.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(f.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := startChild(t, "bound", path)
	if got := c.line(t); got != "50 unavailable <nil>" {
		t.Error(got)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	s := open(t, path)
	checkIntegrity(t, s)
}

func TestDatabaseThatMayNotGrow(t *testing.T) {
	f, heard := alarmed(t)
	var pages int
	if err := f.conn.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.ExecContext(t.Context(), `PRAGMA max_page_count = `+strconv.Itoa(pages+2)); err != nil {
		t.Fatal(err)
	}
	f.commit(known("known://small", "x"))
	for range 2 {
		err := f.refuse(sdk.Unavailable, sdk.Change{Writes: []sdk.Write{known("known://a", "x"), known("known://big", strings.Repeat("x", 1<<20))}})
		if !strings.Contains(err.Error(), "disk is full") {
			t.Fatal(err)
		}
		if err := f.Refused(); err == nil || !strings.Contains(err.Error(), "disk is full") || f.Health() != nil || len(*heard) != 1 {
			t.Fatalf("refused %v, health %v, alarms %v", err, f.Health(), *heard)
		}
	}
	f.commit(known("known://b", "x"))
	if f.Refused() != nil || len(*heard) != 1 {
		t.Fatalf("refused %v, alarms %v", f.Refused(), *heard)
	}
	if all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID}); err != nil || len(all) != 2 {
		t.Fatalf("%v %v", all, err)
	}
	f.verify()
}
