package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestGitTakesNoFolderForARepository: a folder with the files of a bare
// repository, which anybody can make who writes files, names a program for git
// diff. Git runs it when nothing speaks against it, and not here.
func TestGitTakesNoFolderForARepository(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("this machine has no git, whose reading of settings is tested")
	}
	ran := func(environ []string) bool {
		dir := t.TempDir()
		mark, repo := filepath.Join(dir, "mark"), filepath.Join(dir, "r")
		for name, text := range map[string]string{
			"a": "a\n", "b": "b\n", "r/HEAD": "ref: refs/heads/x\n", "r/objects/x": "", "r/refs/x": "",
			"r/config": "[core]\nrepositoryformatversion=0\nbare=true\n[diff]\nexternal=touch " + mark + " #\n",
		} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(git, "diff", "../a", "../b")
		cmd.Dir, cmd.Env = repo, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, environ...)
		out, _ := cmd.CombinedOutput() // it fails, or says that the files differ
		t.Logf("%s", out)
		_, err := os.Stat(mark)
		return err == nil
	}
	if !ran(nil) {
		t.Fatal("git runs no program of a repository's even when nothing is set, so that this tests nothing")
	}
	if ran(slices.Clone(gitEmptied)) {
		t.Error("git ran a program that a folder named which is no repository")
	}
}

// TestWhatGitRunsOfARepository: with the environment of a command git runs neither
// the monitor of files nor the hooks that a repository names. It does run filters
// and what makes texts of files, which docs/sandbox.md says.
func TestWhatGitRunsOfARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this machine has no git, whose reading of settings is tested")
	}
	ran := func(environ []string) []string {
		dir := t.TempDir()
		repo := filepath.Join(dir, "r")
		git := func(args ...string) {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = repo, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, environ...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Logf("git %v: %v %s", args, err, out)
			}
		}
		write := func(name, text string, mode os.FileMode) {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
		write("a", "one\n", 0o600)
		git("init", "-q")
		git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m")
		git("add", "a")
		mark := func(name string) string { return "touch " + filepath.Join(dir, "ran-"+name) }
		write(".gitattributes", "a filter=x diff=x\n", 0o600)
		write("h/pre-commit", "#!/bin/sh\n"+mark("hook")+"\n", 0o700)
		write(".git/config", "[core]\nrepositoryformatversion=0\nfsmonitor=\""+mark("monitor")+"; false\"\nhooksPath="+filepath.Join(repo, "h")+
			"\n[filter \"x\"]\nclean=\""+mark("filter")+"; cat\"\n[diff \"x\"]\ntextconv=\""+mark("converter")+"; cat\"\n", 0o600)
		write("a", "two\n", 0o600)
		git("status")
		git("diff")
		git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m")
		marks, err := filepath.Glob(filepath.Join(dir, "ran-*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range marks {
			marks[i] = filepath.Base(marks[i])[len("ran-"):]
		}
		return marks
	}
	if got, want := ran(nil), []string{"converter", "filter", "hook", "monitor"}; !slices.Equal(got, want) {
		t.Fatalf("git runs %v of a repository when nothing is set, and not %v, so that this tests nothing", got, want)
	}
	if got, want := ran(slices.Clone(gitEmptied)), []string{"converter", "filter"}; !slices.Equal(got, want) {
		t.Errorf("git ran %v of a repository, want %v", got, want)
	}
}
