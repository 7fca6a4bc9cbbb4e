//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox/frame"
	"github.com/bothyd/bothy/sdk/protect"
)

// pinRun is a run whose directories are there.
func pinRun(t *testing.T) (RunSpec, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := RunSpec{RunID: "r", Project: filepath.Join(dir, "p", "sub"), RunDir: filepath.Join(dir, "run")}
	if err := errors.Join(os.MkdirAll(filepath.Join(run.Project, ".git", "hooks"), 0o700), run.makeDirs()); err != nil {
		t.Fatal(err)
	}
	return run, dir
}

func TestProjectsBehindLinksAreRefused(t *testing.T) {
	run, dir := pinRun(t)
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Symlink(run.Project, filepath.Join(dir, "link")), os.Symlink("p", filepath.Join(dir, "way")), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]string{
		run.Project:                      "",
		run.Project + "/":                "",
		filepath.Join(dir, "link"):       "symbolic link",
		filepath.Join(dir, "link") + "/": "symbolic link",
		filepath.Join(dir, "way/sub"):    "symbolic link",
		"/proc/self/cwd":                 "symbolic link",
		file:                             "not a directory",
		filepath.Join(dir, "missing"):    "no such file",
	} {
		run.Project = project
		err := run.check()
		if want == "" && err != nil || want != "" && (Code(err) != CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", project, err, want)
		}
	}
}

func TestWhatAContainerIsMadeOf(t *testing.T) {
	run, _ := pinRun(t)
	for _, project := range []string{run.Project, ""} {
		run.Project = project
		if err := run.makeDirs(); err != nil {
			t.Fatal(err)
		}
		tops, err := run.pin()
		if err != nil {
			t.Fatal(err)
		}
		var honest []frame.Place
		for _, p := range tops {
			honest = append(honest, p.place)
		}
		if err := tops.swapped(honest); err != nil || len(honest) != len(run.roots())+2 {
			t.Errorf("honest: got %v for %v", err, honest)
		}
		if err := tops.swapped(nil); Code(err) != CodeSwapped {
			t.Errorf("a runner that says nothing: got %v", err)
		}
		for i := range honest {
			for _, change := range []func(*frame.Place){
				func(p *frame.Place) { p.Inode++ }, func(p *frame.Place) { p.Device++ }, func(p *frame.Place) { p.Path += "x" },
			} {
				lie := append([]frame.Place(nil), honest...)
				change(&lie[i])
				if err := tops.swapped(lie); Code(err) != CodeSwapped {
					t.Errorf("%v: got %v", lie, err)
				}
			}
		}
		tops.close()
	}
}

func TestWhatLiesInAProjectIsOpenedWithoutLinks(t *testing.T) {
	run, dir := pinRun(t)
	tops, err := run.pin()
	if err != nil {
		t.Fatal(err)
	}
	defer tops.close()
	plan := &protection{mounts: []protectedMount{{Path: ".git"}, {Path: ".git/hooks", ReadOnly: true}}}
	inner, err := tops.below(run, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.close()
	var honest []frame.Place
	for _, p := range inner {
		honest = append(honest, p.place)
	}
	last := len(honest) - 1
	if len(honest) != 2*len(run.roots()) || inner.shifted(honest) != nil || !errors.Is(inner.shifted(honest[:last]), errShifted) {
		t.Errorf("got %v and %v for %v", inner.shifted(honest), inner.shifted(honest[:last]), honest)
	}
	for name, swap := range map[string]func(at string) error{
		"a link":                func(at string) error { return os.Symlink(filepath.Join(dir, "run"), at) },
		"a link in the project": func(at string) error { return os.Symlink("away", at) },
		"nothing":               func(string) error { return nil },
	} {
		at := filepath.Join(run.Project, ".git")
		if err := errors.Join(os.Rename(at, filepath.Join(run.Project, "away")), swap(at)); err != nil {
			t.Fatal(err)
		}
		if _, err := tops.below(run, plan); !errors.Is(err, errShifted) {
			t.Errorf("%s: got %v", name, err)
		}
		_ = os.Remove(at)
		if err := os.Rename(filepath.Join(run.Project, "away"), at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingIsUndoneInAnotherProject: what a command put in the place of the
// project is not searched for what the command may have planted.
func TestNothingIsUndoneInAnotherProject(t *testing.T) {
	run, dir := pinRun(t)
	other := filepath.Join(dir, "other")
	k := newViolationGuard(run.RunDir, newProjects(protect.Rules{}))
	g, err := k.projects.enter(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	defer g.leave()
	if err := errors.Join(os.MkdirAll(filepath.Join(other, ".bothy"), 0o700), os.Rename(run.Project, run.Project+"-was"), os.Symlink(other, run.Project)); err != nil {
		t.Fatal(err)
	}
	found := k.after(g, "c", false)
	if len(found) != 1 || found[0].Path != "." || found[0].Action != ActionReported {
		t.Errorf("got %+v", found)
	}
	if _, err := os.Lstat(filepath.Join(other, ".bothy")); err != nil {
		t.Errorf("it was taken away from there: %v", err)
	}
}
