package store

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
)

// TestMain plays the child processes of the crash tests, and else sees to it
// that no goroutine is left.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(playChild(role))
	}
	fewerChecks()
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// fewerChecks makes a property's checks, each of which works on a disk, as many
// as a quick run bears. A long one has -rapid.checks.
func fewerChecks() {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
}

// fixture is a store with a project and a run in it.
type fixture struct {
	*Store
	t       testing.TB
	path    string
	project sdk.Project
	run     sdk.Run
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// memoryDir is a folder in memory where there is one: the same SQLite on the
// same kernel, and no wait for a disk. What is about the disk, and a
// benchmark, has a folder on it.
func memoryDir(t testing.TB) string {
	t.Helper()
	if _, measures := t.(*testing.B); measures {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "bothy-store-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{t: t, path: filepath.Join(memoryDir(t), "bothy.db")}
	f.Store = open(t, f.path)
	var err error
	if f.project, err = f.OpenProject(t.Context(), "/home/me/work"); err != nil {
		t.Fatal(err)
	}
	f.run = f.newRun(sdk.Run{Agent: "chat", Model: "m"})
	return f
}

func (f *fixture) newRun(r sdk.Run) sdk.Run {
	f.t.Helper()
	r.Project = f.project.ID
	r, err := f.CreateRun(f.t.Context(), r)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// commit writes to the fixture's run and wants it to succeed.
func (f *fixture) commit(ws ...sdk.Write) sdk.Receipt {
	f.t.Helper()
	r, err := f.Commit(f.t.Context(), sdk.Change{Run: f.run.ID, Writes: ws})
	if err != nil {
		f.t.Fatalf("commit: %v", err)
	}
	return r
}

// refuse wants a commit to fail with the outcome, and nothing to be told.
func (f *fixture) refuse(want sdk.Outcome, c sdk.Change) error {
	f.t.Helper()
	before := f.Seq()
	if c.Run == 0 {
		c.Run = f.run.ID
	}
	_, err := f.Commit(f.t.Context(), c)
	if err == nil || sdk.OutcomeOf(err) != want {
		f.t.Fatalf("outcome %s, want %s: %v", sdk.OutcomeOf(err), want, err)
	}
	if f.Seq() != before {
		f.t.Fatalf("a refused change moved the journal from %d to %d", before, f.Seq())
	}
	return err
}

func (f *fixture) entry(path string) sdk.Entry {
	f.t.Helper()
	e, err := f.Entry(f.t.Context(), f.run.ID, path)
	if err != nil {
		f.t.Fatalf("entry %s: %v", path, err)
	}
	return e
}

func (f *fixture) verify() {
	f.t.Helper()
	if err := f.Verify(context.Background(), 0); err != nil {
		f.t.Fatalf("verify: %v", err)
	}
}

// damage breaks the file behind the store's back.
func (f *fixture) damage(q string, args ...any) {
	f.t.Helper()
	res, err := f.conn.ExecContext(f.t.Context(), q, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		f.t.Fatalf("%s hit %d rows (%v)", q, n, err)
	}
}

func body(s string) *string { return &s }

func known(path, text string) sdk.Write {
	if sdk.SchemeOf(path) == fileScheme { // which the system alone writes
		return sdk.Write{Path: path, Body: &text, Writer: sdk.WriterSystem}
	}
	return sdk.Write{Path: path, Body: &text, Writer: sdk.WriterModel}
}

func object(pairs string) json.RawMessage { return json.RawMessage(pairs) }

func TestFileAndFolderAreClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "bothy")
	s := open(t, filepath.Join(dir, "bothy.db"))
	if _, err := s.OpenProject(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "bothy.db": 0o600, "bothy.db-wal": 0o600, "bothy.db-shm": 0o600, "bothy.db.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", name, info.Mode().Perm(), want)
		}
	}
}

func TestFolderOpenToOthers(t *testing.T) {
	t.Run("ours and empty is closed", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		open(t, filepath.Join(dir, "bothy.db"))
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("mode %v, %v", info.Mode(), err)
		}
	})
	t.Run("shared is refused and left alone", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "letter"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), filepath.Join(dir, "bothy.db"), Options{})
		if err == nil {
			t.Fatal(s.Close(), "opened in a folder that everybody can write to")
		}
		if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "chmod 700") {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
			t.Fatalf("mode %v, %v", info.Mode(), err)
		}
	})
}

func TestEveryConnectionHasTheSettings(t *testing.T) {
	f := newFixture(t)
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "busy_timeout": "5000", "foreign_keys": "1", "trusted_schema": "0",
		"cell_size_check": "1", "mmap_size": "0", "journal_size_limit": "67108864", "wal_autocheckpoint": "1000",
	}
	check := func(name string, ask func(q string) (string, error)) {
		for pragma, value := range want {
			if got, err := ask("PRAGMA " + pragma); err != nil || got != value {
				t.Errorf("%s: %s is %q, want %q (%v)", name, pragma, got, value, err)
			}
		}
	}
	check("writer", func(q string) (got string, err error) {
		err = f.conn.QueryRowContext(t.Context(), q).Scan(&got)
		return got, err
	})
	for i := range readerConnections {
		conn, err := f.readers.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ask := func(q string) (got string, err error) {
			err = conn.QueryRowContext(t.Context(), q).Scan(&got)
			return got, err
		}
		check("reader "+string(rune('0'+i)), ask)
		if got, err := ask("PRAGMA query_only"); err != nil || got != "1" {
			t.Errorf("a reader can write: query_only is %q (%v)", got, err)
		}
		if _, err := conn.ExecContext(t.Context(), `DELETE FROM journal`); err == nil {
			t.Error("a reader deleted rows")
		}
	}
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	woken := s.Changed()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-woken
	if err := s.Close(); err != nil {
		t.Fatalf("second close: %v", err)
	}
	_, write := s.OpenProject(t.Context(), "/a")
	_, read := s.Journal(t.Context(), sdk.JournalQuery{})
	for _, err := range []error{write, read, s.Verify(t.Context(), 0), s.RegisterScheme(t.Context(), sdk.Scheme{Name: "x"})} {
		if sdk.OutcomeOf(err) != sdk.Unavailable || !errors.Is(err, errClosed) {
			t.Errorf("after close: %v", err)
		}
	}
}

func TestCancelledCommitDoesNothing(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.writing <- struct{}{} // somebody else writes
	done := make(chan error)
	go func() {
		_, err := f.Commit(ctx, sdk.Change{Run: f.run.ID, Writes: []sdk.Write{known("known://a", "x")}})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-f.writing
	if _, err := f.Entry(t.Context(), f.run.ID, "known://a"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Fatal(err)
	}
}

func TestClockIsForDisplayOnly(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 5, time.FixedZone("x", 3600))
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, root := range []string{"/a", "/b", "/c"} {
		p, err := s.OpenProject(t.Context(), root)
		if err != nil || !p.Created.Equal(now) || p.Created.Location() != time.UTC {
			t.Fatalf("%v %v", p, err)
		}
		now = now.Add(-24 * time.Hour)
	}
	rows, err := s.Journal(t.Context(), sdk.JournalQuery{})
	if err != nil || len(rows) != 3 || rows[0].Seq != 1 || rows[2].Seq != 3 || !rows[2].Time.Before(rows[0].Time) {
		t.Fatalf("%v %v", rows, err)
	}
	if err := s.Verify(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}
