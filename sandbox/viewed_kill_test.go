//go:build linux

package sandbox_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// TestViewKilled kills the manager at any moment while a command ends and its changes
// are applied: the next one finds the project as it was before the command, or makes
// it what the command made of it, and tells how it was. BOTHY_KILLS has it done more
// often than three times: once for each 10.
func TestViewKilled(t *testing.T) {
	rounds := 3
	if kills, err := strconv.Atoi(os.Getenv("BOTHY_KILLS")); err == nil {
		rounds = max(kills/10, rounds)
	}
	const files = 120
	before, after := map[string]string{"d": "/", "gone": "/"}, map[string]string{"d": "/", "new": "/"}
	for i := range files {
		before[fmt.Sprintf("d/%d", i)], after[fmt.Sprintf("d/%d", i)] = "old\n", "new\n"
		before[fmt.Sprintf("gone/%d", i)], after[fmt.Sprintf("new/%d", i)] = "old\n", "new\n"
	}
	whole := 0
	for round := range rounds {
		s := newViewed(t)
		early, late := "", "; echo ready"
		if round%2 == 0 { // else the kill comes when the command has ended
			early, late = "echo ready; ", ""
		}
		s.add("killed", false, shell(early+fmt.Sprintf("for i in $(seq 0 %d); do echo new > d/$i; done; mkdir new; cp d/* new; rm -r gone", files-1)+late))
		f := &fixture{t: t, run: s.run("killed")}
		for name, text := range before {
			if text != "/" {
				f.write(name, text)
			}
		}
		_, kill := settler(t, s.job)
		wait := time.Duration(rand.Int64N(int64(40 * time.Millisecond)))
		time.Sleep(wait) // any moment will do
		kill()
		m := open(t, s.cfg)
		e := ask(m, "killed", "killed-0")
		got := f.contents()
		switch {
		case mapsEqual(got, after):
			whole++
		case !mapsEqual(got, before):
			t.Fatalf("round %d, killed after %s: neither before nor after the command: %q", round, wait, got)
		}
		if applied := mapsEqual(got, after); e.Code == "" && !applied {
			t.Errorf("round %d, killed after %s: the command is said to have ended, and nothing of it is there", round, wait)
		}
		if e.Code == "" && mapsEqual(got, after) {
			if back := takenBack(t, got, e.Result.Changes); !mapsEqual(back, before) {
				t.Errorf("round %d, killed after %s: by what is told of the changes, this was there before: %q", round, wait, back)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.cfg.StateDir, "views", "*", "*", "w")); len(left) > 1 {
			t.Errorf("round %d: %q stay", round, left)
		}
	}
	t.Logf("%d of %d were applied", whole, rounds)
}

// takenBack is what a project held before changes that are told.
func takenBack(t *testing.T, now map[string]string, changes []sandbox.Change) map[string]string {
	t.Helper()
	was := maps.Clone(now)
	for _, c := range changes {
		if c.Is.Kind != "" && c.Was.Kind == "" || c.Whole {
			maps.DeleteFunc(was, func(path, _ string) bool { return path == c.Path || strings.HasPrefix(path, c.Path+"/") })
		}
		if c.Was.Kind == "" || c.Old == "" {
			continue
		}
		err := filepath.WalkDir(c.Old, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.Join(c.Path, strings.TrimPrefix(path, c.Old))
			if d.IsDir() {
				was[name] = "/"
				return nil
			}
			text, err := os.ReadFile(path)
			was[name] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return was
}
