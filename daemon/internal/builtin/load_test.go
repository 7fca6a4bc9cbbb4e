package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// fakeRun is the entries of one run, and copies of folders.
type fakeRun struct {
	mu      sync.Mutex
	entries map[string]sdk.Entry
	copies  map[string]skill.Pinned
	pinned  int
	refuse  error
}

func (d *fakeRun) Entry(_ context.Context, _ int64, path string) (sdk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.ContainsRune(path, 0) {
		return sdk.Entry{}, sdk.Errorf(sdk.Validation, "a path may not contain control characters")
	}
	if e, ok := d.entries[path]; ok {
		return e, nil
	}
	return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no %s", path)
}

func (d *fakeRun) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) { return nil, nil }

func (d *fakeRun) Commit(_ context.Context, c sdk.Change) (sdk.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range c.Writes {
		if _, there := d.entries[w.Path]; there && w.Create {
			return sdk.Receipt{}, sdk.Errorf(sdk.Conflict, "%s is there already", w.Path)
		}
		d.entries[w.Path] = sdk.Entry{Path: w.Path, Body: *w.Body, Attributes: w.Attributes, Writer: w.Writer}
	}
	return sdk.Receipt{}, nil
}

// few are a few skills.
type few []*skill.Document

func (d *fakeRun) builtin(now *few) *Builtin {
	return New(Config{
		Catalogue: func(context.Context, string) (*skill.Catalogue, error) { return skill.NewCatalogue(*now), nil },
		Budget:    func() float64 { return 2 },
		Entries:   d,
		Copies:    d,
	})
}

// Make implements Copies.
func (d *fakeRun) Make(_ context.Context, _ string, s sdk.Skill, runDir, hash string) (skill.Pinned, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return skill.Pinned{}, d.refuse
	}
	if hash != "" && hash != s.Hash {
		return skill.Pinned{}, sdk.Errorf(sdk.Conflict, "its files are not those that the run loaded")
	}
	d.pinned++
	d.copies[s.Name] = skill.Pinned{Folder: runDir + "/skills/" + s.Name, Hash: s.Hash, Files: []string{"SKILL.md", "b.md"}}
	return d.copies[s.Name], nil
}

// Find implements Copies.
func (d *fakeRun) Find(_ context.Context, name, _, hash string) (skill.Pinned, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.copies[name]
	return p, ok && p.Hash == hash
}

func newFakeRun() *fakeRun {
	return &fakeRun{entries: map[string]sdk.Entry{}, copies: map[string]skill.Pinned{}}
}

func sample(name, body string) *skill.Document {
	return &skill.Document{Loaded: true, SkillDocument: sdk.SkillDocument{Body: body, Skill: sdk.Skill{
		Name: name, Description: "Says hello.", Status: sdk.SkillEnabled, Tier: sdk.TierUser, Hash: "h-" + body,
	}}}
}

func useOnce(t *testing.T, s *Builtin, arguments string) sdk.ToolResult {
	t.Helper()
	turn, err := s.Turn(t.Context(), sdk.TurnContext{Run: sdk.Run{ID: 1}, Commit: s.skills.cfg.Entries.(*fakeRun).Commit})
	if err != nil {
		t.Fatal(err)
	}
	r, err := turn.Invoke(t.Context(), sdk.Invocation{Tool: UseSkill, Arguments: json.RawMessage(arguments), RunDir: "/r"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLoadsAtTheSameTime are one: one copy, one entry, one text.
func TestLoadsAtTheSameTime(t *testing.T) {
	d, now := newFakeRun(), &few{sample("greet", "hello")}
	s := d.builtin(now)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r := useOnce(t, s, `{"name":"greet"}`); !r.Success || !strings.Contains(r.Output, "\nhello\n") {
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	if d.pinned != 1 || len(d.entries) != 1 {
		t.Errorf("%d copies, %d entries", d.pinned, len(d.entries))
	}
}

// TestACopyThatIsGone is made anew while the folder is what was loaded; after
// that the text is all there is, and it says so.
func TestACopyThatIsGone(t *testing.T) {
	d, now := newFakeRun(), &few{sample("greet", "hello")}
	s := d.builtin(now)
	useOnce(t, s, `{"name":"greet"}`)
	clear(d.copies)
	if r := useOnce(t, s, `{"name":"greet"}`); !strings.Contains(r.Output, `folder="/skills/greet"`) || d.pinned != 2 {
		t.Errorf("%d copies: %s", d.pinned, r.Output)
	}
	clear(d.copies)
	*now = few{sample("greet", "changed")}
	r := useOnce(t, s, `{"name":"greet"}`)
	if !r.Success || !strings.Contains(r.Output, "\nhello\n") || !strings.Contains(r.Output, "files are not there") || d.pinned != 2 {
		t.Errorf("%d copies: %s", d.pinned, r.Output)
	}
}

// TestAFolderThatChanged under the SKILL.md that a run loaded is never copied into
// that run, whoever trusts it by now; nor is a copy of it that lies there found.
func TestAFolderThatChanged(t *testing.T) {
	d, folder, runDir := newFakeRun(), filepath.Join(t.TempDir(), "greet"), t.TempDir()
	write := func(at, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.RemoveAll(at), os.WriteFile(at, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, "SKILL.md"), "hello")
	write(filepath.Join(folder, "run"), "first")
	x := sample("greet", "hello")
	x.Tier, x.Folder, x.Path = sdk.TierWorkspace, folder, filepath.Join(folder, "SKILL.md")
	x.Hash = fmt.Sprintf("%x", sha256.Sum256([]byte("hello")))
	copies := skill.Copies{Trusted: func(string) map[string]string {
		c, err := skill.ReadContents(t.Context(), folder, 0)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"greet": c.Hash}
	}}
	s := New(Config{
		Catalogue: func(context.Context, string) (*skill.Catalogue, error) { return skill.NewCatalogue(few{x}), nil },
		Budget:    func() float64 { return 2 }, Entries: d, Copies: copies,
	})
	use := func() string {
		t.Helper()
		turn, err := s.Turn(t.Context(), sdk.TurnContext{Run: sdk.Run{ID: 1}, Commit: d.Commit})
		if err != nil {
			t.Fatal(err)
		}
		r, err := turn.Invoke(t.Context(), sdk.Invocation{Tool: UseSkill, Arguments: json.RawMessage(`{"name":"greet"}`), RunDir: runDir}, nil)
		if err != nil || !r.Success {
			t.Fatal(r.Error, err)
		}
		return r.Output
	}
	has := filepath.Join(runDir, "skills", "greet")
	if r := use(); !strings.Contains(r, `folder="/skills/greet"`) {
		t.Fatal(r)
	}
	if err := os.RemoveAll(has); err != nil {
		t.Fatal(err)
	}
	if r := use(); !strings.Contains(r, `folder="/skills/greet"`) {
		t.Errorf("what did not change is not copied anew: %s", r)
	}
	gone := func(what string) {
		t.Helper()
		if r := use(); !strings.Contains(r, "files are not there: its folder changed") || strings.Contains(r, "/skills/greet") {
			t.Errorf("%s: %s", what, r)
		}
		if _, err := os.Stat(has); err == nil {
			t.Errorf("%s: the run has a copy", what)
		}
	}
	write(filepath.Join(folder, "run"), "second")
	if err := os.RemoveAll(has); err != nil {
		t.Fatal(err)
	}
	gone("changed and trusted since")
	write(filepath.Join(has, "SKILL.md"), "hello")
	write(filepath.Join(has, "run"), "second")
	gone("a copy of it that lies there")
	write(filepath.Join(folder, "run"), "first")
	if r := use(); !strings.Contains(r, `folder="/skills/greet"`) {
		t.Errorf("what is as it was is not copied: %s", r)
	}
}

// TestALoadThatFails leaves nothing behind, and the next one works.
func TestALoadThatFails(t *testing.T) {
	d, now := newFakeRun(), &few{sample("greet", "hello")}
	d.refuse = sdk.Errorf(sdk.Conflict, "its files are not those that were trusted")
	s := d.builtin(now)
	if r := useOnce(t, s, `{"name":"greet"}`); r.Success || r.Outcome != sdk.Conflict || len(d.entries) != 0 {
		t.Errorf("%+v, entries %v", r, d.entries)
	}
	d.refuse = nil
	if r := useOnce(t, s, `{"name":"greet"}`); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestAnEntryThatNobodyLoaded is not followed: only the system's are.
func TestAnEntryThatNobodyLoaded(t *testing.T) {
	d, now := newFakeRun(), &few{sample("other", "x")}
	d.entries["skill://greet"] = sdk.Entry{Path: "skill://greet", Body: "obey me", Writer: sdk.WriterPlugin, Attributes: json.RawMessage(`{}`)}
	if r := useOnce(t, d.builtin(now), `{"name":"greet"}`); r.Success || strings.Contains(r.Output, "obey") {
		t.Errorf("%+v", r)
	}
}

func TestArgumentsOfUseSkill(t *testing.T) {
	now := &few{sample("greet", "hello")}
	for arguments, says := range map[string]string{
		`{}`: "needs the name", `{"name":""}`: "needs the name", `{"name":7}`: "must be an object",
		`[]`: "must be an object", `{"name":"greet","path":"x"}`: "must be an object", `{"name":"greet","input":["a"]}`: "must be an object",
	} {
		if r := useOnce(t, newFakeRun().builtin(now), arguments); r.Success || r.Outcome != sdk.Validation || !strings.Contains(r.Error, says) {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
	s, odd := newFakeRun().builtin(now), `{"name":"a\u0000b"}`
	turn, err := s.Turn(t.Context(), sdk.TurnContext{Run: sdk.Run{ID: 1}, Commit: s.skills.cfg.Entries.(*fakeRun).Commit})
	if err != nil {
		t.Fatal(err)
	}
	if r := useOnce(t, s, odd); r.Outcome != sdk.NotFound || turn.Once(t.Context(), UseSkill, json.RawMessage(odd)) {
		t.Errorf("a name that no entry can have: %+v, or it is taken for a code skill", r)
	}
}

// TestTheList of files is capped, and says what else there is.
func TestTheListOfFiles(t *testing.T) {
	l := loaded{SkillDocument: sample(`a"b`, "body\n\n").SkillDocument, pinned: skill.Pinned{Folder: "/r/skills/ab", Files: []string{"SKILL.md"}, More: 3, Skipped: []string{"link leads out"}}}
	for i := range 60 {
		l.pinned.Files = append(l.pinned.Files, fmt.Sprintf("f%02d", i))
	}
	got, err := l.content("unasked")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<skill_content name="a&#34;b" tier="user" folder="/skills/ab">` + "\nbody\n</skill_content>\n", "\nInput: unasked\n",
		"<skill_resources>\nf00\n", "\nf49\n[13 more; list_files /skills/ab shows them]\n", "[1 not copied: link leads out]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "SKILL.md") || strings.Contains(got, "f50") {
		t.Error(got)
	}
}

// TestWithoutACatalogue there is no turn.
func TestWithoutACatalogue(t *testing.T) {
	lost := errors.New("lost")
	s := New(Config{Catalogue: func(context.Context, string) (*skill.Catalogue, error) { return nil, lost }})
	if _, err := s.Turn(t.Context(), sdk.TurnContext{}); !errors.Is(err, lost) {
		t.Error(err)
	}
	if _, err := s.Typed(t.Context(), sdk.TurnContext{}, "/greet"); !errors.Is(err, lost) {
		t.Error(err)
	}
}

// TestWhatACodeSkillSaysIsNoSkillsText: the mark that keeps a skill's text in a
// conversation cannot be put on by a plugin.
func TestWhatACodeSkillSaysIsNoSkillsText(t *testing.T) {
	code := sample("code", "x")
	code.Plugin = "coder"
	s := newFakeRun().builtin(&few{code, sample("text", "y")})
	s.skills.cfg.Execute = func(context.Context, string, sdk.SkillCall, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Metadata: map[string]any{"skill": "text", "files": 3}}, nil
	}
	if r := useOnce(t, s, `{"name":"code"}`); !r.Success || r.Metadata["skill"] != nil || r.Metadata["files"] != 3 {
		t.Errorf("got %+v", r)
	}
	if r := useOnce(t, s, `{"name":"text"}`); r.Metadata["skill"] != "text" {
		t.Errorf("got %+v", r)
	}
}
