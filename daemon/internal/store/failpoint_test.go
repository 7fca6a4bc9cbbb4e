//go:build failpoints

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
)

// dies runs a child that kills itself at a failpoint, and returns what it had
// said by then.
func dies(t *testing.T, role, path string, at failpoint.Name, time int) []string {
	t.Helper()
	c := startChild(t, role, path, fmt.Sprintf("%s=%s:%d", failpoint.Variable, at, time))
	var said []string
	for c.out.Scan() {
		said = append(said, c.out.Text())
	}
	err := c.Wait()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("%s:%d: the child ended otherwise: %v, %q", at, time, err, said)
	}
	return said
}

func TestDeathAroundACommit(t *testing.T) {
	for _, at := range []failpoint.Name{failpoint.StoreBefore, failpoint.StoreAfter} {
		for time := 1; time <= 12; time++ {
			path := filepath.Join(t.TempDir(), "bothy.db")
			var last int64
			for _, line := range dies(t, "commit", path, at, time) {
				if f := strings.Fields(line); len(f) == 5 {
					last, _ = strconv.ParseInt(f[1], 10, 64)
				}
			}
			s := open(t, path)
			if err := s.Verify(t.Context(), 0); err != nil || s.Seq() < last || s.Health() != nil {
				t.Errorf("%s:%d: seq %d, acknowledged %d: %v", at, time, s.Seq(), last, err)
			}
			checkIntegrity(t, s)
		}
	}
}

func TestDeathInAMigration(t *testing.T) {
	for at, want := range map[failpoint.Name]int{failpoint.MigrateBefore: 1, failpoint.MigrateAfter: 2} {
		path := filepath.Join(t.TempDir(), "bothy.db")
		schema1(t, path)
		before, err := Inspect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one takes up what the first one left
			if want == 2 {
				if r, err := Inspect(t.Context(), path); err == nil && r.Schema == 2 {
					break
				}
			}
			dies(t, "open", path, at, 1)
			r, err := Inspect(t.Context(), path)
			if err != nil || r.Whole() != nil || r.Schema != want || r.Seq != before.Seq {
				t.Fatalf("%s: %+v %v", at, r, err)
			}
		}
		if s := open(t, path); s.Health() != nil || s.Seq() != before.Seq {
			t.Errorf("%s: health %v, seq %d", at, s.Health(), s.Seq())
		}
	}
}

func TestDeathInABackup(t *testing.T) {
	for at, there := range map[failpoint.Name]bool{failpoint.BackupCopied: false, failpoint.BackupVerified: false, failpoint.BackupRenamed: true} {
		f := newFixture(t)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		dies(t, "backup", f.path, at, 1)
		to := filepath.Join(filepath.Dir(f.path), "b.db")
		if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) == there {
			t.Errorf("%s: %v", at, err)
		}
		if r, err := Inspect(t.Context(), to); there && (err != nil || r.Whole() != nil) {
			t.Errorf("%s: %+v %v", at, r, err)
		}
		f.Store = open(t, f.path)
		if _, err := f.Backup(t.Context(), to, true, nil); err != nil {
			t.Errorf("%s: the next backup: %v", at, err)
		}
	}
}
