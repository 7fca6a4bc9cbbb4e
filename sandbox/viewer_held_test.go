//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox/frame"
)

func TestHoldingAndDropping(t *testing.T) {
	f := newViewFixture(t, sharedViewer(t), "mkdir -p d/e x; echo one | tee a b d/e/f d/g x/f >/dev/null; chmod 711 d")
	held := filepath.Join(f.top, "views", "held")
	if err := os.MkdirAll(filepath.Join(held, "u"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.spec.Held = filepath.Join(held, "u")
	step := func(op string) {
		t.Helper()
		steps := plan(f.list())
		for i := range steps {
			steps[i].Op = op
		}
		if results := f.apply(steps); states(results) != frame.ViewDone {
			t.Fatalf("got %.600q", fmt.Sprint(results))
		}
		if results := f.apply(steps); strings.Contains(states(results), frame.ViewConflict) {
			t.Fatalf("again: %.600q", fmt.Sprint(results))
		}
		if err := f.v.remove(t.Context(), f.spec.Dir); err != nil {
			t.Fatal(err)
		}
		f.next()
	}
	before := tree(t, f.spec.Project)
	f.command("echo two >a; rm b; echo two >d/e/f; mkdir n; echo two >n/f; rm -r x; mkdir x; echo two >x/g; chmod 750 d/e")
	step(frame.StepHold)
	f.command(`test "$(cat a d/e/f n/f x/g)" = $'two\ntwo\ntwo\ntwo'; test ! -e b; test ! -e x/f; test $(stat -c %a d d/e | paste -sd,) = 711,750
echo three >a; echo three >b; rm -r n; echo three >x/f; rm d/g; mkdir dropped; touch dropped/f other`)
	other := fileAt(t, filepath.Join(f.spec.Dir, "u", "other"))
	drops := []viewStep{{Op: frame.StepDrop, Path: "dropped"}, {Op: frame.StepDrop, Path: "other", Upper: other}}
	if r := f.apply([]viewStep{{Op: frame.StepDrop, Path: "dropped", Upper: other}}); states(r) != frame.ViewConflict {
		t.Errorf("something else: %+v", r)
	}
	for _, want := range []string{frame.ViewDone, frame.ViewAlready} {
		if r := f.apply(drops); states(r) != want {
			t.Fatalf("got %+v", r)
		}
	}
	step(frame.StepHold)
	f.command(`test "$(cat a b x/f x/g)" = $'three\nthree\nthree\ntwo'; test ! -e n; test ! -e d/g; test ! -e dropped`)
	sameTree(t, tree(t, f.spec.Project), before)
	// What waits is a view of its own, and is applied like one.
	f.spec.Dir, f.spec.Held = held, ""
	if results := f.apply(plan(f.list())); strings.Contains(states(results), frame.ViewConflict) {
		t.Fatalf("got %.600q", fmt.Sprint(results))
	}
	f.host(`test "$(cat a b d/e/f x/f x/g)" = $'three\nthree\ntwo\nthree\ntwo'; test ! -e n; test ! -e d/g; test $(stat -c %a d d/e | paste -sd,) = 711,750`)
}

// TestHeldChangesAddUp: commands of which all waits, one after the other, see what waits,
// and when it is applied it makes of the project what they would have made of it, wherever
// the helper died meanwhile.
func TestHeldChangesAddUp(t *testing.T) {
	sharedViewer(t)
	r := seeded(t)
	// A second name of a file is another file in a later view.
	script := func(n int) string {
		lines := slices.DeleteFunc(strings.Split(randomScript(r, n), "\n"), func(l string) bool {
			return strings.HasPrefix(l, "ln ") && !strings.HasPrefix(l, "ln -s")
		})
		return strings.Join(lines, "\n")
	}
	for range 4 {
		before := script(15)
		f := newViewFixture(t, sharedViewer(t), before)
		copied := filepath.Join(filepath.Dir(f.spec.Project), "copy")
		f.host("cp -a . ../copy")
		held := filepath.Join(f.top, "views", "held")
		if err := os.MkdirAll(filepath.Join(held, "u"), 0o755); err != nil { // as the project's
			t.Fatal(err)
		}
		f.spec.Held = filepath.Join(held, "u")
		was := tree(t, f.spec.Project)
		said := "the project was made by\n" + before
		for range 3 {
			command := script(8)
			said += "\n\nthen came\n" + command
			if out, err := inNamespaces(t, copied, command); err != nil {
				t.Fatal(out, err)
			}
			f.command(command)
			steps := plan(f.list())
			for i := range steps {
				steps[i].Op = frame.StepHold
			}
			dying := ownViewer(t, t.TempDir(), "BOTHY_VIEW_KILL="+strconv.Itoa(1+r.IntN(4*len(steps)+1)))
			if _, err := dying.apply(t.Context(), f.spec, steps); err != nil && Code(err) != CodeLost {
				t.Fatal(err)
			}
			if results := f.apply(steps); strings.Contains(states(results), frame.ViewConflict) {
				t.Errorf("got %.600q", fmt.Sprint(results))
			}
			if err := f.v.remove(t.Context(), f.spec.Dir); err != nil {
				t.Fatal(err)
			}
			f.next()
			f.command("cp -a . " + f.top + "/seen")
			sameTree(t, tree(t, filepath.Join(f.top, "seen")), tree(t, copied))
			if err := f.v.remove(t.Context(), filepath.Join(f.top, "seen")); err != nil {
				t.Fatal(err)
			}
			f.next()
			if t.Failed() {
				t.Fatal(said)
			}
		}
		sameTree(t, tree(t, f.spec.Project), was)
		f.spec.Dir, f.spec.Held = held, ""
		if results := f.apply(plan(f.list())); strings.Contains(states(results), frame.ViewConflict) {
			t.Errorf("applying: %.600q", fmt.Sprint(results))
		}
		sameTree(t, tree(t, f.spec.Project), tree(t, copied))
		if t.Failed() {
			t.Fatal(said)
		}
	}
}
