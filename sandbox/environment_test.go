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
