//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox/frame"
)

// viewRig is what the tests of views share: a built helper, Podman's namespaces
// without a service, and one running helper.
var viewRig struct {
	sync.Mutex
	dir    string
	cfg    Config
	podman *podman
	viewer *viewer
}

// CloseViewRig ends what the tests of views shared.
func CloseViewRig() {
	if viewRig.dir == "" {
		return
	}
	if viewRig.viewer != nil {
		viewRig.viewer.close()
	}
	if viewRig.podman != nil {
		viewRig.podman.own.endPause()
	}
	_ = os.RemoveAll(viewRig.dir)
}

func quiet() hclog.Logger { return hclog.New(&hclog.LoggerOptions{Level: hclog.Error}) }

// openViewRig makes what is shared; the caller has the lock.
func openViewRig(t testing.TB) {
	t.Helper()
	if viewRig.podman != nil {
		return
	}
	dir, err := os.MkdirTemp("", "bv")
	if err != nil {
		t.Fatal(err)
	}
	viewRig.dir = dir
	viewRig.cfg = Config{Dir: filepath.Join(dir, "d"), StateDir: filepath.Join(dir, "state"), View: filepath.Join(dir, "bothy-view")}
	build := exec.Command("go", "build", "-tags=failpoints", "-trimpath", "-ldflags=-s -w", "-o", viewRig.cfg.View, "./view")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the helper: %v\n%s", err, out)
	}
	if err := os.Mkdir(viewRig.cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	binary, err := findBinary(context.Background(), viewRig.cfg)
	if err != nil {
		t.Fatal(err)
	}
	own, err := newService(viewRig.cfg, binary, runtimes("")[0], "overlay", quiet())
	if err == nil {
		_, err = own.ask(context.Background(), "ps", "--quiet")
	}
	if err != nil {
		t.Fatal(err)
	}
	viewRig.podman = &podman{own: own}
}

// sharedViewer is a helper that many tests use at once.
func sharedViewer(t testing.TB) *viewer {
	t.Helper()
	NeedPodman(t)
	viewRig.Lock()
	defer viewRig.Unlock()
	openViewRig(t)
	if viewRig.viewer == nil {
		v, err := startViewer(context.Background(), viewRig.podman.own, viewRig.cfg, quiet())
		if err != nil {
			t.Fatal(err)
		}
		viewRig.viewer = v
	}
	return viewRig.viewer
}

// ownViewer is a helper of the test's own, with something in its environment; its
// pid comes to be in the file pid of the folder.
func ownViewer(t testing.TB, dir string, env ...string) *viewer {
	t.Helper()
	NeedPodman(t)
	viewRig.Lock()
	openViewRig(t)
	cfg := viewRig.cfg
	viewRig.Unlock()
	wrapper := filepath.Join(dir, "bothy-view")
	script := "#!/bin/sh\necho $$ >" + filepath.Join(dir, "pid") + "\nexec env " + strings.Join(env, " ") + " " + cfg.View + "\n"
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.View = wrapper
	v, err := startViewer(t.Context(), viewRig.podman.own, cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	return v
}

// inNamespaces runs a script where views are mounted.
func inNamespaces(t testing.TB, dir, script string) (string, error) {
	t.Helper()
	own := viewRig.podman.own
	cmd := exec.Command(own.binary, own.args("unshare", "bash", "-ec", "cd "+dir+"\n"+script)...)
	cmd.Env = own.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// viewFixture is a project with a view.
type viewFixture struct {
	t    testing.TB
	v    *viewer
	top  string
	spec viewSpec
	n    int
}

// newViewFixture makes a project by a script that runs in it.
func newViewFixture(t testing.TB, v *viewer, script string) *viewFixture {
	t.Helper()
	top := t.TempDir()
	return newViewFixtureAt(t, v, top, filepath.Join(top, "project"), script)
}

func newViewFixtureAt(t testing.TB, v *viewer, top, project, script string) *viewFixture {
	t.Helper()
	f := &viewFixture{t: t, v: v, top: top}
	f.spec = viewSpec{Project: project, Slot: filepath.Join(top, "slot")}
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	f.host(script)
	info, err := os.Stat(project)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	f.spec.Device, f.spec.Inode = uint64(st.Dev), st.Ino
	t.Cleanup(func() {
		ctx := context.Background()
		v := sharedViewer(t)
		err := v.unslot(ctx, f.spec.Slot)
		for _, dir := range []string{filepath.Join(top, "views"), project, filepath.Join(filepath.Dir(project), "copy")} {
			err = errors.Join(err, v.remove(ctx, dir)) // whatever modes are in it
		}
		if err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	if err := v.slot(t.Context(), f.spec.Slot); err != nil {
		t.Fatal(err)
	}
	f.next()
	return f
}

// next gives the view a folder of its own, as each command has.
func (f *viewFixture) next() {
	f.t.Helper()
	f.n++
	f.spec.Dir = filepath.Join(f.top, "views", fmt.Sprint(f.n))
	if err := os.MkdirAll(f.spec.Dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// host runs a script in the project.
func (f *viewFixture) host(script string) {
	f.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = f.spec.Project
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// command runs a script in a view, which is not mounted any more then.
func (f *viewFixture) command(script string) {
	f.t.Helper()
	if err := f.v.mount(f.t.Context(), f.spec); err != nil {
		f.t.Fatal(err)
	}
	out, err := inNamespaces(f.t, f.spec.Slot, script)
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	if err := f.v.unmount(f.t.Context(), f.spec.Slot, true); err != nil {
		f.t.Fatal(err)
	}
}

// list is what the command changed.
func (f *viewFixture) list() []viewChange {
	f.t.Helper()
	changes, err := f.v.list(f.t.Context(), f.spec, 100_000)
	if err != nil {
		f.t.Fatal(err)
	}
	return changes
}

// tell is a change in few words.
func tell(c viewChange) string {
	text := fmt.Sprintf("%s: %s -> %s", c.Path, kindOr(c.Was.Kind), kindOr(c.Is.Kind))
	if c.Was.Kind == c.Is.Kind && c.Was.Mode != c.Is.Mode {
		text += fmt.Sprintf(" mode %o -> %o", c.Was.Mode, c.Is.Mode)
	}
	if c.Whole {
		text += " whole"
	}
	if c.Copied {
		text += " copied"
	}
	return text
}

func kindOr(kind string) string {
	if kind == "" {
		return "nothing"
	}
	return kind
}

// tree is what lies in a folder: each path with kind, mode and content.
func tree(t testing.TB, top string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + hashBytes(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		rel, err := filepath.Rel(top, path)
		found[rel] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// plan are the steps that apply all that was listed.
func plan(changes []viewChange) []viewStep {
	var steps []viewStep
	whole := "\x00"
	for i, c := range changes {
		if strings.HasPrefix(c.Path, whole) {
			top := &steps[len(steps)-1]
			top.Clean = top.Clean && !c.Marked
			continue
		}
		s := viewStep{Op: frame.StepSwap, Path: c.Path, Upper: c.Is.Identity(), Lower: c.Was.Identity(), Old: i + 1, Mode: c.Is.Mode, Clean: !c.Marked}
		switch {
		case c.Is.Kind == "directory" && !c.Whole:
			s.Op = frame.StepMode
		case c.Is.Kind == "other":
			continue
		case c.Is.Kind == "":
			s.Op = frame.StepTake
		case c.Was.Kind == "":
			s.Op = frame.StepPut
		}
		if c.Whole {
			whole = c.Path + "/"
		}
		steps = append(steps, s)
	}
	return steps
}

// takeBack are the steps that undo others.
func takeBack(steps []viewStep, results []viewResult, changes []viewChange) []viewStep {
	modes := make(map[string]uint32)
	for _, c := range changes {
		modes[c.Path] = c.Was.Mode
	}
	var back []viewStep
	for i, s := range slices.Backward(steps) {
		b := viewStep{Path: s.Path, Lower: results[i].Is.Identity(), Upper: s.Lower, Old: s.Old + 1000}
		switch s.Op {
		case frame.StepSwap:
			b.Op = frame.StepSwap
			if n, ok := strings.CutPrefix(results[i].Old, "o/"); ok {
				b.From, _ = strconv.Atoi(n)
				b.Upper = viewIdentity{}
			}
		case frame.StepPut:
			b.Op = frame.StepTake
		case frame.StepTake:
			b.Op, b.From = frame.StepPut, s.Old
		case frame.StepMode:
			b.Op, b.Mode, b.Lower.Changed = frame.StepMode, modes[s.Path], time.Time{}
		}
		back = append(back, b)
	}
	return back
}

// apply makes steps that must go well.
func (f *viewFixture) apply(steps []viewStep) []viewResult {
	f.t.Helper()
	results, err := f.v.apply(f.t.Context(), f.spec, steps)
	if err != nil {
		f.t.Fatal(err)
	}
	return results
}

// states are the states of results, each once.
func states(results []viewResult) string {
	var found []string
	for _, r := range results {
		if !slices.Contains(found, r.State) {
			found = append(found, r.State)
		}
	}
	return strings.Join(found, " ")
}

// sameTree reports where two trees differ.
func sameTree(t testing.TB, got, want map[string]string) {
	t.Helper()
	for path := range got {
		if got[path] != want[path] {
			t.Errorf("%q: got %q, want %q", path, got[path], want[path])
		}
	}
	for path := range want {
		if got[path] == "" {
			t.Errorf("%q: got nothing, want %q", path, want[path])
		}
	}
}
