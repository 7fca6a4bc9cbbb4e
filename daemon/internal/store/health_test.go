package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

// alarmed is a fixture that counts its alarms.
func alarmed(t *testing.T) (*fixture, *[]error) {
	t.Helper()
	f := newFixture(t)
	var heard []error
	f.alarm = func(err error) { heard = append(heard, err) }
	return f, &heard
}

// outsider opens the file as another program would.
func outsider(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, false))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func TestDatabaseLockedByAnotherProgram(t *testing.T) {
	f, heard := alarmed(t)
	f.commit(known("known://a", "one"))
	other := outsider(t, f.path)
	if _, err := other.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.ExecContext(t.Context(), `PRAGMA busy_timeout = 20`); err != nil { // 5 s otherwise
		t.Fatal(err)
	}
	for range 2 {
		err := f.refuse(sdk.Unavailable, sdk.Change{Writes: []sdk.Write{known("known://a", "two"), known("known://b", "two")}})
		if !strings.Contains(err.Error(), "another program holds the database") {
			t.Fatal(err)
		}
	}
	if e := f.entry("known://a"); e.Body != "one" || f.Health() != nil || len(*heard) != 0 {
		t.Fatalf("%+v, health %v, alarms %v", e, f.Health(), *heard)
	}
	if _, err := other.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	f.commit(known("known://a", "two"))
	f.verify()
}

// TestDiskFailureEndsTheWriting: whatever became of the transaction, this process
// writes nothing more, and keeps the file to itself until it ends.
// fault is an error with a code of SQLite.
type fault int

func (f fault) Code() int     { return int(f) }
func (f fault) Error() string { return sqlite.ErrorCodeString[int(f)&0xff] }

// TestFailedReadEndsNoWriting: of what a transaction meets, only a write that failed
// ends the daemon.
func TestFailedReadEndsNoWriting(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		ends bool
	}{
		"a read":                 {fault(sqlite3.SQLITE_IOERR_READ), false},
		"a read that ends early": {fault(sqlite3.SQLITE_IOERR_SHORT_READ), false},
		"memory":                 {fault(sqlite3.SQLITE_IOERR_NOMEM), false},
		"a lock":                 {fault(sqlite3.SQLITE_IOERR_LOCK), false},
		"another file":           {syscall.EIO, false},
		"a write":                {fault(sqlite3.SQLITE_IOERR_WRITE), true},
		"an fsync":               {fault(sqlite3.SQLITE_IOERR_FSYNC), true},
		"a folder's fsync":       {fault(sqlite3.SQLITE_IOERR_DIR_FSYNC), true},
		"a truncation":           {fault(sqlite3.SQLITE_IOERR_TRUNCATE), true},
	} {
		f, heard := alarmed(t)
		if err := f.update(t.Context(), "trying", func(*tx) error { return c.err }); sdk.OutcomeOf(err) != sdk.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		_, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{known("known://a", "x")}})
		if errors.Is(f.Health(), ErrFailed) != c.ends || (err != nil) != c.ends || (len(*heard) != 0) != c.ends {
			t.Errorf("%s: health %v, the next write %v, alarms %v", name, f.Health(), err, *heard)
		}
	}
}

func TestDiskFailureEndsTheWriting(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(f *fixture) error // in place of the COMMIT
		kept  bool                   // the file has the transaction all the same
	}{
		"nothing was written": {func(*fixture) error { return fault(sqlite3.SQLITE_IOERR_FSYNC) }, false},
		"the commit is in the file": {func(f *fixture) error {
			_, err := f.conn.ExecContext(context.Background(), `COMMIT`)
			return errors.Join(err, fault(sqlite3.SQLITE_IOERR_FSYNC))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f, heard := alarmed(t)
			before := f.commit(known("known://a", "one")).Seq
			f.failCommit = func() error {
				f.failCommit = nil
				return c.fault(f)
			}
			for range 3 {
				f.refuse(sdk.Unavailable, sdk.Change{Writes: []sdk.Write{known("known://b", "two")}})
			}
			if err := f.Health(); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "the disk failed") || f.Seq() != before {
				t.Fatalf("health %v, seq %d", err, f.Seq())
			}
			if len(*heard) != 1 || !errors.Is((*heard)[0], ErrFailed) {
				t.Fatalf("alarms %v", *heard)
			}
			if e := f.entry("known://a"); e.Body != "one" { // people can still look
				t.Fatal(e)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), f.path, Options{}); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Fatalf("the file was given free: %v", err)
			}
			if err := errors.Join(f.disconnect(), f.lock.Release()); err != nil { // as the end of a process does
				t.Fatal(err)
			}
			s := open(t, f.path)
			if _, err := s.Entry(t.Context(), f.run.ID, "known://b"); (err == nil) != c.kept {
				t.Errorf("the entry: %v", err)
			}
			if err := s.Verify(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestLogOfAProcessThatDied: it is in the file before anything is written behind it.
func TestLogOfAProcessThatDied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	c := startChild(t, "commit", path)
	for range 6 {
		c.line(t)
	}
	c.kill(t)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("there is no log: %v", err)
	}
	s := open(t, path)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 || s.Seq() < 6 {
		t.Fatalf("seq %d, the log has %d bytes (%v)", s.Seq(), info.Size(), err)
	}
}

func TestFileReplacedWhileOpen(t *testing.T) {
	move := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		suffix  string
		replace bool
	}{"the database is moved": {"", false}, "the database is replaced": {"", true}, "the log is moved": {"-wal", false}, "the log is replaced": {"-wal", true}} {
		t.Run(name, func(t *testing.T) {
			f, heard := alarmed(t)
			f.commit(known("known://a", "one"))
			file := f.path + c.suffix
			move(t, file, file+".away")
			if c.replace {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				err := f.refuse(sdk.Unavailable, sdk.Change{Writes: []sdk.Write{known("known://b", "two")}})
				if !strings.Contains(err.Error(), file+" was") || !strings.Contains(err.Error(), "bothy backup FILE") {
					t.Fatal(err)
				}
			}
			if len(*heard) != 1 || f.Health() == nil {
				t.Fatalf("health %v, alarms %v", f.Health(), *heard)
			}
			if e := f.entry("known://a"); e.Body != "one" { // all can be read
				t.Fatal(e)
			}
			f.verify()
			saved := filepath.Join(t.TempDir(), "saved.db") // and saved
			if _, err := f.Backup(t.Context(), saved, false, nil); err != nil {
				t.Fatal(err)
			}
			if r, err := Inspect(t.Context(), saved); err != nil || r.Whole() != nil || r.Seq != f.Seq() {
				t.Fatalf("%+v %v", r, err)
			}
			move(t, file+".away", file)
			f.commit(known("known://b", "two"))
			if f.Health() != nil || len(*heard) != 1 {
				t.Fatalf("it is back: health %v, alarms %v", f.Health(), *heard)
			}
			f.verify()
		})
	}
}

func TestDamagedDatabaseCanStillBeRead(t *testing.T) {
	f := written(t)
	f.damage(`UPDATE entries SET body = 'the body of b' WHERE path = 'known://a'`)
	run := f.run.ID
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var heard []error
	s, err := Open(t.Context(), f.path, Options{Alarm: func(err error) { heard = append(heard, err) }})
	if err != nil {
		t.Fatal(err)
	}
	f.Store = s
	t.Cleanup(func() { _ = s.Close() })
	var damage *sdk.JournalDamage
	if err := s.Health(); !errors.As(err, &damage) || damage.Seq != 11 || !strings.Contains(err.Error(), "bothy restore FILE") || len(heard) != 1 {
		t.Fatalf("health %v, alarms %v", err, heard)
	}
	if all, err := s.Runs(t.Context(), sdk.RunFilter{}); err != nil || len(all) != 1 {
		t.Errorf("runs: %v %v", all, err)
	}
	if all, err := s.Entries(t.Context(), sdk.EntryQuery{Run: run}); err != nil || len(all) != 3 {
		t.Errorf("entries: %v %v", all, err)
	}
	if rows, err := s.Journal(t.Context(), sdk.JournalQuery{}); err != nil || len(rows) != 12 {
		t.Errorf("journal: %v %v", rows, err)
	}
	for what, write := range map[string]func() error{
		"commit": func() error {
			_, err := s.Commit(t.Context(), sdk.Change{Run: run, Writes: []sdk.Write{known("known://b", "x")}})
			return err
		},
		"enqueue": func() error {
			_, _, err := s.Enqueue(t.Context(), sdk.Loop{Run: run, ReadOnly: true, Prompt: "x"})
			return err
		},
		"create":  func() error { _, err := s.CreateRun(t.Context(), sdk.Run{Project: f.project.ID}); return err },
		"project": func() error { _, err := s.OpenProject(t.Context(), "/another"); return err },
		"scheme":  func() error { return s.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact"}) },
		"delete":  func() error { _, err := s.DeleteRun(t.Context(), run, "x"); return err },
	} {
		if err := write(); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "bothy restore FILE") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), false, nil); !errors.As(err, &damage) {
		t.Errorf("a damaged backup was kept: %v", err)
	}
}

// TestFlippedByteIsFoundOrDoesNotMatter goes through the pages of a file.
func TestFlippedByteIsFoundOrDoesNotMatter(t *testing.T) {
	f := written(t)
	for i := range 20 {
		f.commit(known(fmt.Sprintf("known://%d", i), strings.Repeat("text ", 300)))
	}
	want := f.sees(f.run.ID)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 100; at < len(whole); at += 2039 { // a prime: all places of a page
		spoiled := append([]byte(nil), whole...)
		spoiled[at] ^= 0x40
		path := filepath.Join(t.TempDir(), "bothy.db")
		if err := os.WriteFile(path, spoiled, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Inspect(t.Context(), path)
		if err != nil || r.Whole() != nil {
			found++
		}
		s, openErr := Open(t.Context(), path, Options{})
		if openErr != nil {
			if err == nil && r.Whole() == nil {
				t.Errorf("byte %d: whole, and refused: %v", at, openErr)
			}
			continue
		}
		if err == nil && r.Whole() == nil {
			g := &fixture{Store: s, t: t}
			if got := g.sees(f.run.ID); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("byte %d: called whole, and holds something else", at)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("only %d flipped bytes were found", found)
	}
}

// childSyncs commits under strace, which makes some of its fsyncs fail, and
// tells what was acknowledged until one did.
func childSyncs(ctx context.Context, path string) error {
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
	acked := 0
	for ; acked < 1000; acked++ { // the kernel's failure is counted for each thread: some thread comes to it
		name := "known://" + strconv.Itoa(acked)
		if _, err = s.Commit(ctx, sdk.Change{Run: run.ID, Writes: []sdk.Write{known(name, name)}}); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(s.Health(), ErrFailed) {
		return err
	}
	fmt.Println(run.ID, acked, err != nil)
	return s.Close()
}

// TestFailingFsync has the kernel fail the calls themselves.
func TestFailingFsync(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: no call of the kernel can be made to fail")
	}
	failures := 0
	for _, when := range []string{"31", "30+11", "32+5"} { // counted for each thread, so a few kinds are tried
		t.Run(when, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bothy.db")
			cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync",
				"-e", "inject=fsync,fdatasync:error=EIO:when="+when, os.Args[0])
			cmd.Env = append(os.Environ(), childRole+"=sync", childFile+"="+path, "GOMAXPROCS=1")
			out, err := cmd.CombinedOutput()
			var run int64
			var acked int
			var failed bool
			if _, scanErr := fmt.Sscan(string(out), &run, &acked, &failed); err != nil || scanErr != nil {
				t.Fatalf("%v %v: %s", err, scanErr, out)
			}
			if failed {
				failures++
			}
			s := open(t, path)
			if err := s.Verify(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			all, err := s.Entries(t.Context(), sdk.EntryQuery{Run: run, Pattern: "known://*"})
			if err != nil || len(all) != acked && len(all) != acked+1 {
				t.Fatalf("%d entries, %d acknowledged (%v)", len(all), acked, err)
			}
		})
	}
	if failures == 0 {
		t.Fatal("no commit failed, so nothing was tested")
	}
}
