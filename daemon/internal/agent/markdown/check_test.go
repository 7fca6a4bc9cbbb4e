package markdown

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// TestCheck: files that a person names are read whatever they are called, and those of a folder
// by their endings.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agents/good.md", agentText("good"))
	write("agents/README.md", "# Agents\n")
	write("agents/.draft/bad.md", "no agent")
	write("other.txt", strings.Replace(agentText("other"), "\nname", "\nmodel: yours\nname", 1))
	files, err := Check(t.Context(), &config.Config{}, []string{filepath.Join(dir, "agents"), filepath.Join(dir, "other.txt")})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, x := range files {
		got += x.Agent.Name
		for _, d := range x.Diagnostics {
			got += " " + d.Severity + ":" + d.Code
		}
		got += "\n"
	}
	if want := "bad error:frontmatter-missing\ngood\nother warning:model-unknown\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := Check(t.Context(), &config.Config{}, []string{filepath.Join(dir, "nowhere")}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a path that is not there: %v", err)
	}
}

// TestLook finds what a library finds.
func TestLook(t *testing.T) {
	h := newTestLibrary(t, nil)
	h.write(filepath.Join(h.user, "mine.md"), agentText("mine"))
	h.write("sub/theirs.md", agentText("theirs"))
	files, problems := Look(h.cfg.Load(), h.project)
	if len(files) != 2 || len(problems) != 0 || files[0].Agent.Name != "mine" || files[1].Tier != sdk.TierWorkspace {
		t.Errorf("%+v, %v", files, problems)
	}
	if alone, _ := Look(h.cfg.Load(), ""); len(alone) != 1 {
		t.Errorf("%+v", alone)
	}
}
