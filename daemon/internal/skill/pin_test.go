package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// planted is a document of a folder that plant made.
func planted(t testing.TB, name string, files map[string]string) *Document {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if files["SKILL.md"] == "" {
		files["SKILL.md"] = "---\nname: " + name + "\n---\nbody\n"
	}
	plant(t, folder, files)
	sum := sha256.Sum256([]byte(files["SKILL.md"]))
	return &Document{Loaded: true, SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{
		Name: name, Folder: folder, Path: filepath.Join(folder, "SKILL.md"), Hash: hex.EncodeToString(sum[:]),
	}}}
}

// only trusts one hash.
func only(trusted string) func(string) bool {
	return func(hash string) bool { return hash == trusted }
}

// tree is a folder as text, with rights.
func tree(t testing.TB, folder string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(folder, path)
		text := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf(" %q", raw)
		}
		fmt.Fprintf(&b, "%s %s%s\n", info.Mode(), rel, text)
		return nil
	}))
	return b.String()
}

func TestPin(t *testing.T) {
	d := planted(t, "pdf", map[string]string{"SKILL.md": "skill", "scripts/run.sh": "#!/bin/sh\n", "notes": "n", "also": "-> notes"})
	run := t.TempDir()
	p, err := pin(t.Context(), d.Skill, run, "", only(folderHash(t, d.Folder)))
	must(t, err)
	at := filepath.Join(run, "skills", "pdf")
	if p.Folder != at || p.Hash != folderHash(t, d.Folder) || fmt.Sprint(p.Files, p.More, p.Skipped) != "[SKILL.md also notes scripts/run.sh] 0 []" {
		t.Errorf("Pin = %+v", p)
	}
	want := `drwxr-xr-x .
-r--r--r-- SKILL.md "skill"
-r--r--r-- also "n"
-r--r--r-- notes "n"
drwxr-xr-x scripts
-r-xr-xr-x scripts/run.sh "#!/bin/sh\n"
`
	if got := tree(t, at); got != want {
		t.Errorf("the copy is\n%s", got)
	}
	if folderHash(t, at) != p.Hash {
		t.Error("the copy has another hash than Pin says")
	}
	if left, err := os.ReadDir(filepath.Join(run, "skills.new")); err != nil || len(left) > 0 {
		t.Errorf("%v is left of making it, %v", left, err)
	}

	// It is found, and another one takes its place.
	plant(t, d.Folder, map[string]string{"new": "x"})
	if found, ok := (Copies{}).Find(t.Context(), "pdf", run, p.Hash); !ok || found.Hash != p.Hash || found.Folder != at || len(found.Files) != 4 {
		t.Errorf("Find = %+v, %v", found, ok)
	}
	again, err := pin(t.Context(), d.Skill, run, "", only(folderHash(t, d.Folder)))
	must(t, err)
	if again.Hash == p.Hash || again.Folder != at || len(again.Files) != 5 {
		t.Errorf("the second Pin = %+v", again)
	}
	must(t, os.RemoveAll(d.Folder))
	if _, err = pin(t.Context(), d.Skill, run, "", nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("without the folder: %v", err)
	}
	if _, ok := (Copies{}).Find(t.Context(), "pdf", run, again.Hash); ok {
		t.Error("what a run could not load is there")
	}
	must(t, os.RemoveAll(run)) // a run can be deleted
}

// TestPinOnlyWhatWasTrusted holds that a copy that a person did not say yes to
// never gets its name.
func TestPinOnlyWhatWasTrusted(t *testing.T) {
	for name, change := range map[string]func(d *Document) error{
		"another byte":     func(d *Document) error { return os.WriteFile(d.Folder+"/run", []byte("#!/bin/ls\n"), 0o755) },
		"another SKILL.md": func(d *Document) error { return os.WriteFile(d.Path, []byte("evil"), 0o644) },
		"a new file":       func(d *Document) error { return os.WriteFile(d.Folder+"/new", nil, 0o644) },
		"a link out":       func(d *Document) error { return os.Symlink("/etc/passwd", d.Folder+"/x") },
		"no folder":        func(d *Document) error { return os.RemoveAll(d.Folder) },
		"another document": func(d *Document) error { d.Hash = strings.Repeat("0", 64); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := planted(t, "a", map[string]string{"run": "#!/bin/sh\n"})
			run, want := t.TempDir(), folderHash(t, d.Folder)
			must(t, change(d))
			if p, err := pin(t.Context(), d.Skill, run, "", only(want)); err == nil || p.Folder != "" {
				t.Fatalf("Pin = %+v, %v", p, err)
			}
			if got := tree(t, filepath.Join(run, "skills")); strings.Count(got, "\n") != 1 {
				t.Errorf("the run has\n%s", got)
			}
			if left, _ := os.ReadDir(filepath.Join(run, "skills.new")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestPinLeavesOut holds what becomes of a person's own skill that is not all
// files: it can be used, and what is missing is named.
func TestPinLeavesOut(t *testing.T) {
	d := planted(t, "a", map[string]string{"x": "-> /etc/passwd", "p": "pipe", "d/f": "f", "l": "-> d"})
	run := t.TempDir()
	p, err := pin(t.Context(), d.Skill, run, "", nil)
	must(t, err)
	if fmt.Sprint(p.Files) != "[SKILL.md d/f]" || len(p.Skipped) != 3 || !strings.Contains(fmt.Sprint(p.Skipped), `"x" is a link that leads out`) {
		t.Errorf("Pin = %+v", p)
	}
	if p.Hash != folderHash(t, p.Folder) {
		t.Error("the copy has another hash than Pin says")
	}
}

func TestPinNamesNoMoreThanCanBeShown(t *testing.T) {
	files := map[string]string{}
	for i := range maxNamed + 7 {
		files[fmt.Sprintf("f%03d", i)] = "x"
	}
	p, err := pin(t.Context(), planted(t, "a", files).Skill, t.TempDir(), "", nil)
	if err != nil || len(p.Files) != maxNamed || p.More != 8 {
		t.Errorf("%d files are named, %d more, %v", len(p.Files), p.More, err)
	}
}

func TestPinRefusesNamesThatArePaths(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", "a\x00"} {
		run := t.TempDir()
		d := planted(t, "a", map[string]string{})
		d.Name = name
		if _, err := pin(t.Context(), d.Skill, run, "", nil); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("Pin(%q) = %v", name, err)
		}
		if left, _ := os.ReadDir(run); len(left) > 0 {
			t.Errorf("Pin(%q) left %v", name, left)
		}
	}
}

// TestPinTogether loads many skills into one run at once.
func TestPinTogether(t *testing.T) {
	run := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		d := planted(t, fmt.Sprint("a", i), map[string]string{"run": "#!/bin/sh\n", "b/c": "c"})
		want := folderHash(t, d.Folder)
		all.Go(func() {
			if p, err := pin(t.Context(), d.Skill, run, "", only(want)); err != nil || p.Hash != want || len(p.Files) != 3 {
				t.Errorf("Pin = %+v, %v", p, err)
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(filepath.Join(run, "skills.new")); err != nil || len(left) > 0 {
		t.Errorf("%v is left of making it, %v", left, err)
	}
}

// TestPinAfterCrash holds that what a dead daemon left half made of a skill goes
// when that is loaded, and is never taken for a copy.
func TestPinAfterCrash(t *testing.T) {
	run := t.TempDir()
	plant(t, filepath.Join(run, "skills.new", "a"), map[string]string{"SKILL.md": "half", "d/f": "x"})
	if _, ok := (Copies{}).Find(t.Context(), "a", run, ""); ok {
		t.Error("it is taken for a copy")
	}
	p, err := pin(t.Context(), planted(t, "a", map[string]string{}).Skill, run, "", nil)
	must(t, err)
	if left, err := os.ReadDir(filepath.Join(run, "skills.new")); err != nil || len(left) != 0 || len(p.Files) != 1 {
		t.Errorf("%v is left, %v; %+v", left, err, p)
	}
}

func TestPinCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run := t.TempDir()
	if p, err := pin(ctx, planted(t, "a", map[string]string{}).Skill, run, "", nil); err == nil {
		t.Errorf("Pin = %+v", p)
	}
	if left, _ := os.ReadDir(filepath.Join(run, "skills.new")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// forked are the runs of one fork.
type forked struct{ loaded map[string]string } // folders' hashes by name

func (forked) Run(context.Context, int64) (sdk.Run, error) { return sdk.Run{Key: "parent"}, nil }

func (f forked) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) {
	var all []sdk.Entry
	for name, hash := range f.loaded {
		all = append(all, sdk.Entry{Path: "skill://" + name, Attributes: json.RawMessage(`{"folder_hash":"` + hash + `"}`)})
	}
	return all, nil
}

// TestCopies: the skill of a workspace is copied as it was trusted or not at all, a
// person's own without a question, and a fork gets what its parent had.
func TestCopies(t *testing.T) {
	runs := t.TempDir()
	parent, child := filepath.Join(runs, "parent"), filepath.Join(runs, "child")
	d := planted(t, "pdf", map[string]string{"run": "#!/bin/sh\n"})
	trusted := ""
	c := Copies{
		Trusted: func(project string) map[string]string {
			return map[string]map[string]string{"/p": {"pdf": trusted}}[project]
		},
		Runs: forked{map[string]string{"pdf": "", "gone": "", "../up": ""}},
	}
	d.Tier = sdk.TierWorkspace
	if p, err := c.Make(t.Context(), "/p", d.Skill, parent, ""); sdk.OutcomeOf(err) != sdk.Permission || p.Folder != "" {
		t.Errorf("without trust: %+v, %v", p, err)
	}
	trusted = folderHash(t, d.Folder)
	p, err := c.Make(t.Context(), "/p", d.Skill, parent, "")
	must(t, err)
	if p.Hash != trusted || len(p.Files) != 2 {
		t.Errorf("trusted: %+v", p)
	}
	if found, ok := c.Find(t.Context(), "pdf", parent, trusted); !ok || found.Hash != p.Hash {
		t.Errorf("found %+v, %v", found, ok)
	}
	for _, name := range []string{"other", "../skills/pdf", "/etc"} {
		if found, ok := c.Find(t.Context(), name, parent, trusted); ok {
			t.Errorf("%s is found: %+v", name, found)
		}
	}
	d.Tier = sdk.TierUser
	must(t, os.WriteFile(filepath.Join(d.Folder, "run"), []byte("#!/bin/ls\n"), 0o755))
	if p, err = c.Make(t.Context(), "/p", d.Skill, parent, ""); err != nil || p.Hash == trusted {
		t.Errorf("a person's own: %+v, %v", p, err)
	}
	must(t, c.Fork(t.Context(), sdk.RunEvent{Run: sdk.Run{ID: 2}, RunDir: child}))
	if _, ok := c.Find(t.Context(), "pdf", child, p.Hash); ok {
		t.Error("a run that is no fork has a copy")
	}
	fork := sdk.RunEvent{Run: sdk.Run{ID: 2, Parent: 1}, RunDir: child}
	c.Runs = forked{map[string]string{"pdf": trusted}}
	if err := c.Fork(t.Context(), fork); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a copy of another folder than the run loaded is taken over: %v", err)
	}
	if _, ok := c.Find(t.Context(), "pdf", child, p.Hash); ok {
		t.Error("the fork has a copy of what its parent never loaded")
	}
	c.Runs = forked{map[string]string{"pdf": p.Hash, "gone": "", "../up": ""}}
	must(t, c.Fork(t.Context(), fork))
	if found, ok := c.Find(t.Context(), "pdf", child, p.Hash); !ok || found.Hash != p.Hash {
		t.Errorf("the fork has %+v, %v", found, ok)
	}
	if got := tree(t, filepath.Join(child, "skills")); strings.Count(got, "SKILL.md") != 1 {
		t.Errorf("the fork has\n%s", got)
	}

	// A copy that is made anew is of what the run loaded, or none, and what is there stays until it is.
	if _, err := c.Make(t.Context(), "/p", d.Skill, child, trusted); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("made anew of another folder: %v", err)
	}
	if found, ok := c.Find(t.Context(), "pdf", child, p.Hash); !ok {
		t.Errorf("what could not be made anew is gone: %+v", found)
	}
	must(t, os.Symlink("/etc/passwd", filepath.Join(child, "skills", "pdf", "out")))
	if found, ok := c.Find(t.Context(), "pdf", child, p.Hash); ok {
		t.Errorf("a copy with a link that leads out is found: %+v", found)
	}
	if got := tree(t, filepath.Join(child, "skills")); strings.Count(got, "\n") != 1 {
		t.Errorf("the run has\n%s", got)
	}
	if again, err := c.Make(t.Context(), "/p", d.Skill, child, p.Hash); err != nil || again.Hash != p.Hash {
		t.Errorf("made anew: %+v, %v", again, err)
	}
	if found, ok := c.Find(t.Context(), "pdf", child, trusted); ok {
		t.Errorf("another copy than that of what was loaded is found: %+v", found)
	}
	if got := tree(t, filepath.Join(child, "skills")); strings.Count(got, "\n") != 1 {
		t.Errorf("a copy that is not of what was loaded is left\n%s", got)
	}
}
