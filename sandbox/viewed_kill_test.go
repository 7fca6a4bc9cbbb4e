//go:build linux

package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestViewKilled kills the manager at any moment while a command ends and its changes
// are applied: the next one finds the project as it was before the command, or makes
// it what the command made of it.
func TestViewKilled(t *testing.T) {
	rounds := 3
	if os.Getenv("BOTHY_KILLS") != "" {
		rounds = 20
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
		if left, _ := filepath.Glob(filepath.Join(s.cfg.StateDir, "views", "*", "*", "w")); len(left) > 1 {
			t.Errorf("round %d: %q stay", round, left)
		}
	}
	t.Logf("%d of %d were applied", whole, rounds)
}
