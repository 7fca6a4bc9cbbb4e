package answer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// TestTrustIsWhatTheEntriesSay holds that a yes is for one name, one hash and
// one project, and ends when it is taken back.
func TestTrustIsWhatTheEntriesSay(t *testing.T) {
	entries, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{Log: hclog.NewNullLogger(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := entries.Close(); err != nil {
			t.Error(err)
		}
	}()
	p, err := entries.OpenProject(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := entries.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "default", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	x := NewTrust(entries, hclog.New(&hclog.LoggerOptions{Output: &log}))
	say := func(w sdk.Write, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entries.Commit(t.Context(), sdk.Change{Run: run.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(project, name, hash string, want bool) {
		t.Helper()
		if got := hash != "" && x.Trusted(project)[name] == hash; log.Len() > 0 || got != want {
			t.Errorf("%s of hash %q in %s: %t, %s", name, hash, project, got, log.String())
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.Root, link); err != nil {
		t.Fatal(err)
	}
	want(p.Root, "a", "h1", false)
	say(trustWrite("a", &skill.Contents{Hash: "h1", Files: []skill.File{{Path: "SKILL.md", Size: 1, Hash: "f", Text: "x"}}}, time.Now()))
	want(p.Root, "a", "h1", true)
	want(link, "a", "h1", true)
	want(p.Root, "a", "h2", false)
	want(p.Root, "a", "", false)
	want(p.Root, "A", "h1", false)
	want(p.Root, "b", "h1", false)
	want(t.TempDir(), "a", "h1", false)
	want("", "a", "h1", false)
	say(trustWrite("a", &skill.Contents{Hash: "h2"}, time.Now()))
	want(p.Root, "a", "h1", false)
	want(p.Root, "a", "h2", true)
	say(trustWrite("a", nil, time.Now()))
	want(p.Root, "a", "h2", false)
	want(p.Root, "a", "", false)
	answers, err := x.answers(t.Context(), p.Root, false)
	if a := answers.skills["a"]; err != nil || a.Hash != "" || a.skill.Hash != "h2" {
		t.Errorf("what was trusted last is %+v, %v", answers, err)
	}
	follows := func(project string, want bool) {
		t.Helper()
		if got := x.Follows(project); log.Len() > 0 || got != want {
			t.Errorf("the instructions of %s are followed: %t, %s", project, got, log.String())
		}
	}
	say(trustWrite("instructions", &skill.Contents{Hash: "h"}, time.Now()))
	say(trustWrite("folder/instructions", &skill.Contents{Hash: "h"}, time.Now()))
	follows(p.Root, false) // a yes to a skill is none to them
	say(instructionsWrite(true, time.Now()))
	follows(p.Root, true)
	follows(link, true)
	follows(t.TempDir(), false)
	follows("", false)
	want(p.Root, "", "", false)
	want(p.Root, "folder/instructions", "h", true)
	want(p.Root, "a", "h2", false)
	say(instructionsWrite(false, time.Now()))
	follows(p.Root, false)
	if got, err := x.answers(t.Context(), p.Root, false); err != nil || got.instructions.Answered.IsZero() || len(got.skills) != 3 {
		t.Errorf("a no is kept as %+v, %v", got, err)
	}
	if len(x.Trusted(filepath.Join(p.Root, "gone"))) > 0 || !strings.Contains(log.String(), "cannot be read") {
		t.Errorf("a project that is not there is asked about without a word: %s", log.String())
	}
}

// TestTrustPath holds that no name is kept where another is, and none leaves
// the scheme.
func TestTrustPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringN(1, 200, 200)).Filter(func(s string) bool { return s != "" && len(s) <= 200 })
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if a != b && trustPath(a) == trustPath(b) {
			t.Fatalf("%q and %q are both at %s", a, b, trustPath(a))
		}
		path := trustPath(a)
		if rest := strings.TrimPrefix(path, trustScheme); rest == path || rest == "" || strings.ContainsAny(rest, "/*?[{\\\x00\n") || len(path) > sdk.MaxPath {
			t.Fatalf("%q is at %q", a, path)
		}
	})
}

// TestDifferenceSinceTrust holds what a person is shown when a trusted skill
// changed: each file by what became of it, and texts line by line.
func TestDifferenceSinceTrust(t *testing.T) {
	before := []skill.File{
		{Path: "bin", Size: 3, Hash: "b1"}, {Path: "gone", Size: 2, Hash: "g", Text: "g\n"}, {Path: "mode", Size: 2, Hash: "m", Text: "m\n"},
		{Path: "same", Size: 2, Hash: "s", Text: "s\n"}, {Path: "text", Size: 2, Hash: "t1", Text: "1\n"},
	}
	now := []skill.File{
		{Path: "bin", Size: 4, Hash: "b2"}, {Path: "mode", Size: 2, Hash: "m", Text: "m\n", Executable: true, Script: true},
		{Path: "new", Size: 2, Hash: "n", Text: "n\n"}, {Path: "same", Size: 2, Hash: "s", Text: "s\n"}, {Path: "text", Size: 2, Hash: "t2", Text: "2\n"},
	}
	files, diff := compare(before, now)
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s:%s:%t", f.Path, f.Change, f.Script))
	}
	if want := "bin:changed:false mode:changed:true new:added:false same::false text:changed:false gone:removed:false"; strings.Join(got, " ") != want {
		t.Errorf("files are %v", got)
	}
	want := `bin differs and is not shown: no text, or a long one (4 bytes, before 3)
mode can be executed: true, before: false
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+n
--- a/text
+++ b/text
@@ -1 +1 @@
-1
+2
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-g
`
	if diff != want {
		t.Errorf("the difference is\n%s", diff)
	}
	if files, diff := compare(nil, now[2:3]); files[0].Change != "" || !strings.Contains(diff, "+n") {
		t.Errorf("of a skill that was never trusted: %+v, %q", files, diff)
	}
	if cut := cutDiff(want, 100, "x", "it"); !strings.HasPrefix(want, cut[:70]) || !strings.Contains(cut, "bytes more: `bothy trust x`") || cutDiff(want, len(want), "x", "it") != want {
		t.Errorf("cut it is %q", cut)
	}
	if cut := cutDiff(want, -5, "x", "it"); !strings.HasPrefix(cut, "(") {
		t.Errorf("without room it is %q", cut)
	}
}

// TestShownIsWhatWasRead holds that a skill cannot be trusted while its SKILL.md
// is another than the one whose fields are shown.
func TestShownIsWhatWasRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "SKILL.md")
	text := "---\nname: a\ndescription: It.\n---\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := skill.Parse([]byte(text), folder)
	d.Tier, d.Folder, d.Path = sdk.TierWorkspace, folder, path
	shown := trustSkill(t.Context(), &d, keptAnswer{})
	if shown.Problem != "" || shown.Hash == "" {
		t.Fatalf("as it was read: %+v", shown)
	}
	if _, err := asShown(t.Context(), []*skill.Document{&d}, d.Name, shown.Hash); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("---\nallowed-tools: Bash\nhalf"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := skill.ReadContents(t.Context(), folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := asShown(t.Context(), []*skill.Document{&d}, d.Name, c.Hash); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("another SKILL.md is trusted: %v", err)
	}
	if s := trustSkill(t.Context(), &d, keptAnswer{}); s.Hash != "" || !strings.Contains(s.Problem, "try again") {
		t.Errorf("another SKILL.md is shown: %+v", s)
	}
	d.Stale, d.Diagnostics = true, []sdk.FileDiagnostic{{Message: "the frontmatter does not end"}}
	if s := trustSkill(t.Context(), &d, keptAnswer{}); s.Hash != "" || !strings.Contains(s.Problem, "does not end") {
		t.Errorf("a last good version is shown: %+v", s)
	}
}

// TestTrustKeepsItsForm: an answer of today is read as those that are stored already.
func TestTrustKeepsItsForm(t *testing.T) {
	at := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	w, err := trustWrite("a", &skill.Contents{Hash: "h", Files: []skill.File{{Path: "run", Size: 2, Executable: true, Script: true, Hash: "f", Text: "#!"}}}, at)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"a","hash":"h","answered":"2026-03-06T12:00:00Z"}`; w.Path != "trust://a" || string(w.Attributes) != want {
		t.Errorf("at %s the attributes are %s, want %s", w.Path, w.Attributes, want)
	}
	if want := `{"hash":"h","files":[{"path":"run","size":2,"executable":true,"hash":"f","text":"#!"}]}`; w.Body == nil || *w.Body != want {
		t.Errorf("the body is %v, want %s", w.Body, want)
	}
	if w, err = trustWrite("a", nil, at); err != nil || w.Body != nil || string(w.Attributes) != `{"name":"a","hash":"","answered":"2026-03-06T12:00:00Z"}` {
		t.Errorf("taken back: %s, %v, %v", w.Attributes, w.Body, err)
	}
}
