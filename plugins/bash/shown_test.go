package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// fill makes a folder of texts by their paths.
func fill(t *testing.T, dir string, texts map[string]string) string {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFoldersAreShownWithTheirFiles: who is asked about a folder sees what is in it, and
// an answer is bound to all that is there now.
func TestFoldersAreShownWithTheirFiles(t *testing.T) {
	now := fill(t, t.TempDir(), map[string]string{
		"tasks.json": "run me\n", "deep/er/launch.json": "start me\n", "binary": "\xff\x00", "empty": "", "large": strings.Repeat("x", mostShown+1),
	})
	old := fill(t, t.TempDir(), map[string]string{"tasks.json": "run it\n", "gone": "old\n", "same": "same\n"})
	fill(t, now, map[string]string{"same": "same\n"})
	show := func(oldAt, newAt string) (string, string) {
		s := stager{base: sha256.New(), deep: true}
		s.show(".vscode", oldAt, newAt)
		return s.diff.String(), hex.EncodeToString(s.base.Sum(nil))
	}
	diff, base := show(old, now)
	for _, want := range []string{
		"-run it\n+run me\n", "+++ b/.vscode/deep/er/launch.json\n", "+start me\n", ".vscode/deep: nothing becomes a folder\n",
		".vscode/binary: other contents (2 bytes), not shown\n", ".vscode/large: other contents (1048577 bytes), not shown\n",
		".vscode/empty: nothing becomes a file of mode 600\n", "-old\n", ".vscode/gone: a file of mode 600 becomes nothing\n",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is not in\n%s", want, diff)
		}
	}
	if strings.Contains(diff, "same") {
		t.Errorf("what stays is shown:\n%s", diff)
	}
	fill(t, old, map[string]string{"same": "another\n"})
	if _, again := show(old, now); again == base {
		t.Error("an answer holds though a file of the project is another one")
	}
	if diff, _ := show(filepath.Join(old, "nowhere"), now); !strings.Contains(diff, ".vscode: nothing becomes a folder\n") || !strings.Contains(diff, "+run me\n") {
		t.Errorf("of a new folder is shown\n%s", diff)
	}
}

// TestHalfAppliedChangesAreFinishedAtTheStart: a plan that nobody finished, as after the
// machine's end, has the sandbox opened before anybody asks anything.
func TestHalfAppliedChangesAreFinishedAtTheStart(t *testing.T) {
	t.Setenv("BOTHY_PODMAN", "/nonexistent")
	for name, files := range map[string]map[string]string{
		"planned": {"sandbox/views/k/n/note": "", "sandbox/views/k/n/plan": ""},
		"done":    {"sandbox/views/k/n/note": "", "sandbox/views/k/n/plan": "", "sandbox/views/k/n/done": ""},
	} {
		data := fill(t, t.TempDir(), files)
		r := newRig(t, func(s *sdk.Settings) { s.DataDir = data })
		r.b.recovery.Wait()
		if err := r.b.health(t.Context()); (err != nil) != (name == "planned") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
