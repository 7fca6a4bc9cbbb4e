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
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// backup writes one and wants it to succeed.
func (f *fixture) backup(name string) string {
	f.t.Helper()
	to := filepath.Join(f.t.TempDir(), name)
	info, err := f.Backup(f.t.Context(), to, false, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if stat, err := os.Stat(to); err != nil || stat.Mode().Perm() != 0o600 || stat.Size() != info.Bytes || info.Path != to {
		f.t.Fatalf("%+v is %v (%v)", info, stat, err)
	}
	return to
}

// names lists a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestBackupWhileWriting(t *testing.T) {
	f := newFixture(t)
	f.work(f.run.ID, "one")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := f.Commit(context.Background(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{known(fmt.Sprintf("known://%d", i), "x")}}); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for i := range 5 {
		before := f.Seq()
		r, err := Inspect(t.Context(), f.backup(fmt.Sprint(i)))
		if err != nil || r.Whole() != nil || r.Seq < before || r.Seq > f.Seq() || r.Runs != 1 || r.Schema != r.Newest {
			t.Errorf("%+v (%v), the journal was at %d", r, err, before)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestBackupHasADatedNameWhenItIsGivenNone(t *testing.T) {
	f := newFixture(t)
	f.clock = func() time.Time { return time.Date(2027, 2, 3, 4, 5, 6, 7_000_000, time.UTC) }
	info, err := f.Backup(t.Context(), "", false, nil)
	if want := filepath.Join(filepath.Dir(f.path), "backups", "bothy-20270203T040506007Z.db"); err != nil || info.Path != want {
		t.Fatalf("%s, want %s (%v)", info.Path, want, err)
	}
}

func TestBackupRefuses(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	there := filepath.Join(dir, "there.db")
	if err := os.WriteFile(there, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		to    string
		force bool
		want  sdk.Outcome
	}{
		"a relative path":      {"b.db", false, sdk.Validation},
		"a folder":             {dir, true, sdk.Validation},
		"a file that is there": {there, false, sdk.Conflict},
		"a link that is there": {filepath.Join(dir, "link"), false, sdk.Conflict},
		"the database":         {f.path, true, sdk.Conflict},
		"its log":              {f.path + "-wal", true, sdk.Conflict},
		"its lock":             {f.path + ".lock", true, sdk.Conflict},
		"no folder":            {filepath.Join(dir, "no", "folder.db"), false, sdk.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := f.Backup(t.Context(), c.to, c.force, nil); sdk.OutcomeOf(err) != c.want {
				t.Fatal(err)
			}
		})
	}
	if _, err := f.Backup(t.Context(), filepath.Join(dir, "no", "folder.db"), false, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "a letter" {
		t.Errorf("%s %v", text, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"link", "there.db"}) {
		t.Errorf("left behind: %v", got)
	}
	if _, err := f.Backup(t.Context(), there, true, nil); err != nil {
		t.Error(err)
	}
	if r, err := Inspect(t.Context(), there); err != nil || r.Whole() != nil {
		t.Error(r, err)
	}
	f.commit(known("known://a", "it goes on"))
}

func TestBackupThatIsGivenUpLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", strings.Repeat("x", 1<<20)))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Backup(ctx, filepath.Join(dir, "b.db"), false, nil); sdk.OutcomeOf(err) != sdk.Aborted {
		t.Error(err)
	}
	f.copying.Lock()
	if _, err := f.Backup(t.Context(), filepath.Join(dir, "b.db"), false, nil); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Error(err)
	}
	f.copying.Unlock()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestBackupTellsHowFarItIs(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", strings.Repeat("x", 8<<20)))
	var last, total int64
	if _, err := f.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), false, func(done, of int64) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
	}); err != nil {
		t.Fatal(err)
	}
	if last != total || total < 8<<20 {
		t.Errorf("ended at %d of %d", last, total)
	}
}

// childBacksUp writes backups and commits in turn, for ever.
func childBacksUp(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	for {
		info, err := s.Backup(ctx, filepath.Join(filepath.Dir(path), "b.db"), true, nil)
		if err != nil {
			return err
		}
		fmt.Println(info.Seq)
		if _, err := s.CreateRun(ctx, sdk.Run{Project: 1}); err != nil {
			return err
		}
	}
}

func TestKillMidBackupLeavesTheOldOneOrTheNew(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", strings.Repeat("x", 1<<20)))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	to := filepath.Join(filepath.Dir(f.path), "b.db")
	for round := range 10 {
		c := startChild(t, "backup", f.path)
		c.line(t)
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond) // where it dies is left to chance
		c.kill(t)
		if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if r, err := Inspect(t.Context(), to); err != nil || r.Whole() != nil {
			t.Fatalf("round %d: half a backup has the name: %+v %v", round, r, err)
		}
	}
	f.Store = open(t, f.path)
	if _, err := f.Backup(t.Context(), to, true, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, filepath.Dir(to)) {
		if strings.HasSuffix(name, ".partial") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestCloseEndsABackup before it has its name.
func TestCloseEndsABackup(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", strings.Repeat("x", 8<<20)))
	dir := t.TempDir()
	begun := make(chan struct{})
	ended := make(chan error)
	go func() {
		var once sync.Once
		for { // until one is under way when the store is closed
			_, err := f.Backup(context.Background(), filepath.Join(dir, "b.db"), true, nil)
			once.Do(func() { close(begun) })
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	<-begun
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; sdk.OutcomeOf(err) != sdk.Aborted && sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"b.db"}) {
		t.Errorf("left behind: %v", got)
	}
}
