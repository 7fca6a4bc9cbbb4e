//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestViewTellsNoPlace: nothing that a command can read tells where what was changed
// lies, and nothing leads there, or to the project but by its view.
func TestViewTellsNoPlace(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	f := newFixture(t, open(t, cfg))
	f.write("free", "x")
	f.write("asked", "one")
	f.ok("echo two >asked") // from now on a held layer is there, too
	out := f.bash(`exec 3<free 4>new 5<. 6<asked
		for p in self 1 $$; do cat /proc/$p/mountinfo /proc/$p/mounts /proc/$p/mountstats /proc/$p/maps /proc/$p/environ /proc/$p/cmdline; ls -l /proc/$p/fd/ /proc/$p/map_files/ /proc/$p/cwd /proc/$p/root; cat /proc/$p/fdinfo/*; done
		cat /proc/mounts /proc/locks; stat -f .; df .; find / -xdev -maxdepth 2 -ls; true`)
	all := out.stdout + out.stderr
	if !strings.Contains(all, "/workspace") || len(all) < 5_000 {
		t.Fatalf("little was told: %q %q", out.stdout, out.stderr)
	}
	if place := filepath.Join(cfg.StateDir, "views"); strings.Contains(all, place) {
		i := strings.Index(all, place)
		t.Errorf("%s is told: %s", place, all[max(0, i-200):min(len(all), i+200)])
	}
	for _, script := range []string{
		`for n in $(seq 0 64); do for p in /proc/self /proc/1; do test -e $p/fd/$n/u && exit 0; done; done; exit 1`,
		`ls ` + cfg.StateDir,
		`find / -name asked -not -path '/workspace/*' -not -path '` + f.run.Project + `/*' -not -path '/proc/*' 2>/dev/null | grep .`,
		`ln free ~/hard || ln ~/tmp hard || mv -T /workspace /tmp/w`,
	} {
		if out := f.bash(script); out.ExitCode == 0 {
			t.Errorf("%s: it worked: %q", script, out.stdout)
		}
	}
}

// TestViewLetsGo: a command cannot keep its view, and nothing that it leaves behind
// writes to what is applied.
func TestViewLetsGo(t *testing.T) {
	f := viewFixture(t)
	f.copyIn(attackBinary(t), "attack")
	for i := range 3 {
		out := f.bash(`cd /workspace; mkdir -p deep; (cd deep; ../attack can cling); ./attack can cling`)
		if out.ExitCode != 0 || !out.Viewed || len(out.Conflicts)+len(out.Violations) != 0 {
			t.Fatalf("round %d: %+v %q", i, out, out.stdout)
		}
		for _, name := range []string{"clung", "deep/clung"} {
			if !slices.Contains(paths(out.Changes), strings.TrimSuffix(name, "/clung")) {
				t.Errorf("round %d: %s was not applied: %q", i, name, paths(out.Changes))
			}
			was, err := os.ReadFile(f.path(name))
			if err != nil || len(was) < 4096 {
				t.Fatalf("round %d: %s: %d %v", i, name, len(was), err)
			}
			info, err := os.Stat(f.path(name))
			if err != nil {
				t.Fatal(err)
			}
			f.write("person", fmt.Sprint(i))
			if got := f.ok("cat person; ps -e -o args= | grep -c '[c]an cling'; true"); got != fmt.Sprintf("%d0", i) {
				t.Errorf("round %d: the next command sees %q", i, got)
			}
			after, err := os.Stat(f.path(name))
			if err != nil || !after.ModTime().Equal(info.ModTime()) || !os.SameFile(info, after) {
				t.Errorf("round %d: %s was written to after it was applied: %v", i, name, err)
			}
			if now, err := os.ReadFile(f.path(name)); err != nil || string(now) != string(was) {
				t.Errorf("round %d: %s has other contents than were applied: %v", i, name, err)
			}
		}
		if out := f.bash("rm -r clung deep kept"); out.ExitCode != 0 || len(out.Conflicts) != 0 {
			t.Fatalf("round %d: %+v %s", i, out, out.stderr)
		}
	}
}
