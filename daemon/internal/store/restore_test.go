package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// copyFiles copies a database as a dead daemon leaves it: with its log.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(from + suffix)
		if errors.Is(err, os.ErrNotExist) && suffix != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestorePutsTheBackupInPlaceAndKeepsTheOther(t *testing.T) {
	f := newFixture(t)
	f.work(f.run.ID, "one")
	saved, want := f.backup("b.db"), f.sees(f.run.ID)
	f.commit(known("known://later", "not in the backup"))
	later := f.sees(f.run.ID)
	// A daemon that was killed: what it committed last is in the log alone.
	to := filepath.Join(t.TempDir(), "bothy.db")
	copyFiles(t, f.path, to)
	done, err := Restore(t.Context(), saved, to)
	if err != nil {
		t.Fatal(err)
	}
	if done.Path != to || done.Runs != 1 || done.Seq != f.Seq()-1 || !strings.HasPrefix(done.Aside, to+".before-restore-") {
		t.Errorf("%+v", done)
	}
	for path, want := range map[string][]string{to: want, done.Aside: later} {
		s := open(t, path)
		g := &fixture{Store: s, t: t}
		if got := g.sees(f.run.ID); !slices.Equal(got, want) || s.Health() != nil {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
		g.verify()
	}
	if r, err := Inspect(t.Context(), saved); err != nil || r.Whole() != nil {
		t.Errorf("the backup itself: %+v %v", r, err)
	}
}

func TestRestoreWhereThereIsNone(t *testing.T) {
	f := newFixture(t)
	to := filepath.Join(t.TempDir(), "new", "bothy.db")
	saved := f.backup("b.db")
	t.Chdir(filepath.Dir(saved))
	done, err := Restore(t.Context(), "b.db", to) // as a person names it
	if err != nil || done.Aside != "" {
		t.Fatal(done, err)
	}
	if _, err := open(t, to).Run(t.Context(), f.run.ID); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreOverADamagedDatabase(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database at all": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("rubbish ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a broken schema": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err == nil {
				copy(b[100:300], make([]byte, 200))
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			saved, seq := f.backup("b.db"), f.Seq()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "bothy.db")
			copyFiles(t, f.path, to)
			spoil(t, to)
			before, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			done, err := Restore(t.Context(), saved, to)
			if err != nil {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(done.Aside); err != nil || !slices.Equal(after, before) {
				t.Errorf("what was there is not kept: %d bytes of %d (%v)", len(after), len(before), err)
			}
			if s := open(t, to); s.Health() != nil || s.Seq() != seq {
				t.Errorf("health %v, seq %d", s.Health(), s.Seq())
			}
		})
	}
}

func TestRestoreRefusesAndChangesNothing(t *testing.T) {
	f := newFixture(t)
	good := f.backup("good.db")
	spoiled := func(name, q string) string {
		path := filepath.Join(t.TempDir(), name)
		copyFiles(t, good, path)
		conn := outsider(t, path)
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		return path
	}
	letter := filepath.Join(t.TempDir(), "letter")
	if err := os.WriteFile(letter, []byte(strings.Repeat("a letter ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "bothy.db")
	copyFiles(t, good, to)
	before, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from string
		want sdk.Outcome
		says string
	}{
		"not there":       {filepath.Join(t.TempDir(), "none"), sdk.NotFound, "there is no file"},
		"a folder":        {t.TempDir(), sdk.Validation, "no regular file"},
		"a letter":        {letter, sdk.Validation, "no database, so nothing was changed; name a file"},
		"itself":          {to, sdk.Validation, "the database itself"},
		"a newer one":     {spoiled("newer", `PRAGMA user_version = 99`), sdk.Conflict, "newer Bothy"},
		"another program": {spoiled("other", `PRAGMA application_id = 5`), sdk.Conflict, "another program"},
		"a damaged one":   {spoiled("damaged", `UPDATE journal SET time = time + 1 WHERE seq = 1`), sdk.Internal, "row 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Restore(t.Context(), c.from, to)
			if sdk.OutcomeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%s: %v", sdk.OutcomeOf(err), err)
			}
		})
	}
	if after, err := os.ReadFile(to); err != nil || !slices.Equal(after, before) {
		t.Error("the database changed", err)
	}
	if got := names(t, filepath.Dir(to)); !slices.Equal(got, []string{"bothy.db", "bothy.db.lock"}) {
		t.Errorf("left behind: %v", got)
	}
	if _, err := Restore(t.Context(), good, f.path); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), fmt.Sprintf("process %d;", os.Getpid())) {
		t.Errorf("under a running daemon: %v", err)
	}
	f.commit(known("known://a", "undisturbed"))
	f.verify()
}

// childRestores restores one backup after the other, for ever.
func childRestores(ctx context.Context, path string) error {
	fmt.Println("begin")
	for {
		for _, name := range []string{"a.db", "b.db"} {
			if _, err := Restore(ctx, filepath.Join(filepath.Dir(path), name), path); err != nil {
				return err
			}
		}
	}
}

func TestKillMidRestoreLeavesOneOfTheTwo(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	to := filepath.Join(dir, "bothy.db")
	seqs := map[int64]bool{}
	for _, name := range []string{"a.db", "b.db"} {
		if _, err := f.Backup(t.Context(), filepath.Join(dir, name), false, nil); err != nil {
			t.Fatal(err)
		}
		seqs[f.Seq()] = true
		f.commit(known("known://"+name, strings.Repeat("x", 1<<18)))
	}
	if _, err := Restore(t.Context(), filepath.Join(dir, "a.db"), to); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 4))
	for round := range 10 {
		c := startChild(t, "restore", to)
		c.line(t)
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond) // where it dies is left to chance
		c.kill(t)
		if r, err := Inspect(t.Context(), to); err != nil || r.Whole() != nil || !seqs[r.Seq] {
			t.Fatalf("round %d: %+v %v", round, r, err)
		}
	}
	for _, name := range names(t, dir) { // and all that was moved aside is whole
		if !strings.Contains(name, ".before-restore-") {
			continue
		}
		if r, err := Inspect(t.Context(), filepath.Join(dir, name)); err != nil || r.Whole() != nil {
			t.Errorf("%s: %v %v", name, r.Whole(), err)
		}
	}
}

func TestInspectLeavesNothingBehind(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", "one"))
	r, err := Inspect(t.Context(), f.path) // beside the daemon
	if err != nil || r.Whole() != nil || r.Seq != f.Seq() || r.WAL == 0 || r.Bytes == 0 || r.Runs != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before := names(t, filepath.Dir(f.path))
	if r, err = Inspect(t.Context(), f.path); err != nil || r.Whole() != nil || r.WAL != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if after := names(t, filepath.Dir(f.path)); !slices.Equal(after, before) {
		t.Errorf("%v, and then %v", before, after)
	}
}
