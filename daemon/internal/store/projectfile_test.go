package store

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"pgregory.net/rapid"
)

func factsOf(text string) *sdk.FileFacts {
	return &sdk.FileFacts{Size: int64(len(text)), Time: time.Unix(1, 5).UTC(), SHA256: hexHash([]byte(text)), Tokens: (len(text) + 3) / 4}
}

func (f *fixture) put(files ...sdk.FileWrite) {
	f.t.Helper()
	if err := f.PutFiles(f.t.Context(), f.project.ID, files); err != nil {
		f.t.Fatal(err)
	}
}

// promote puts a file in sight of a run, as get does.
func promote(path, text string) sdk.Write {
	return sdk.Write{Path: path, Writer: sdk.WriterSystem, Body: &text, Visibility: sdk.Visible, Attributes: factsOf(text).Patch(), Turn: 1}
}

// holds is the body of a file's entry as any run finds it.
func (f *fixture) holds(path string) string {
	f.t.Helper()
	all, err := f.Entries(f.t.Context(), sdk.EntryQuery{Project: f.project.Root, Pattern: path})
	if err != nil || len(all) != 1 {
		f.t.Fatalf("%s: %v, %v", path, all, err)
	}
	return all[0].Body
}

// TestPutFiles: an entry for each file, a row for each that is another, and nothing where nothing is.
func TestPutFiles(t *testing.T) {
	f := newFixture(t)
	files := []sdk.FileWrite{{Path: "a.go", Facts: factsOf("one")}, {Path: "b*(c).go", Facts: factsOf("two")}}
	f.put(files...)
	known, err := f.ProjectFiles(t.Context(), f.project.ID)
	if err != nil || len(known) != 2 || known[0].Path != "a.go" || !known[0].Same(*files[0].Facts) || known[0].InSight {
		t.Fatalf("%+v, %v", known, err)
	}
	found, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: "*.go", Shared: true})
	if err != nil || len(found) != 2 || found[0].Visibility != sdk.Archived || found[0].Body != "" || found[0].Version != 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	at := f.Seq()
	if f.put(files...); f.Seq() != at {
		t.Errorf("what is so already was written: %d rows", f.Seq()-at)
	}
	f.put(sdk.FileWrite{Path: "a.go", Facts: &sdk.FileFacts{Size: 9, Time: time.Unix(2, 0)}}, sdk.FileWrite{Path: "b*(c).go"}, sdk.FileWrite{Path: "none"})
	one, is, err := f.ProjectFile(t.Context(), f.project.ID, "a.go")
	if err != nil || !is || one.SHA256 != "" || one.Size != 9 || f.Seq() != at+2 {
		t.Errorf("%+v, %v, %v, %d rows", one, is, err, f.Seq()-at)
	}
	if _, is, err := f.ProjectFile(t.Context(), f.project.ID, "b*(c).go"); is || err != nil {
		t.Errorf("what went is there: %v, %v", is, err)
	}
	for _, path := range []string{"known://x", "a\nb", ""} {
		if err := f.PutFiles(t.Context(), f.project.ID, []sdk.FileWrite{{Path: path, Facts: factsOf("")}}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, w := range []sdk.Writer{sdk.WriterModel, sdk.WriterPlugin, sdk.WriterClient} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{{Path: "a.go", Body: body("mine"), Writer: w}}}); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("written by %s: %v", w, err)
		}
	}
	f.verified()
}

// TestFilesInSight holds that a text is there while a run has it in sight, by whatever it gets out of it.
func TestFilesInSight(t *testing.T) {
	look := func(level sdk.Visibility) sdk.Write {
		return sdk.Write{Path: "a.go", Look: true, Visibility: level, Writer: sdk.WriterModel}
	}
	for name, leave := range map[string]func(f *fixture, other sdk.Run) error{
		"looked away": func(f *fixture, other sdk.Run) error { return f.try(other, look(sdk.Archived)) },
		"summarized":  func(f *fixture, other sdk.Run) error { return f.try(other, look(sdk.Summarized)) },
		"removed": func(f *fixture, other sdk.Run) error {
			return f.try(other, sdk.Write{Path: "a.go", Remove: true, Writer: sdk.WriterSystem})
		},
		"the run went": func(f *fixture, other sdk.Run) error {
			_, err := f.DeleteRun(f.t.Context(), other.ID, "test")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put(sdk.FileWrite{Path: "a.go", Facts: factsOf("one")})
			other := f.newRun(sdk.Run{})
			f.commit(promote("a.go", "one"))
			if err := f.try(other, look(sdk.Visible)); err != nil {
				t.Fatal(err)
			}
			f.commit(look(sdk.Archived))
			if got := f.holds("a.go"); got != "one" {
				t.Errorf("another run has it in sight, and it is %q", got)
			}
			known, err := f.ProjectFiles(t.Context(), f.project.ID)
			if err != nil || !known[0].InSight {
				t.Errorf("%+v, %v", known, err)
			}
			f.put(sdk.FileWrite{Path: "a.go", Facts: factsOf("two"), Text: body("two")})
			if e, err := f.Entry(t.Context(), other.ID, "a.go"); err != nil || e.Body != "two" || e.Visibility != sdk.Visible {
				t.Errorf("after a change: %+v, %v", e, err)
			}
			for _, run := range []int64{f.run.ID, other.ID} {
				rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: run})
				if err != nil || rows[len(rows)-1].Path != "a.go" || rows[len(rows)-1].BodyHash != factsOf("two").SHA256 || rows[len(rows)-1].Turn != 0 {
					t.Errorf("the run %d is told %+v, %v", run, rows[len(rows)-1], err)
				}
			}
			f.verified()
			if err := leave(f, other); err != nil {
				t.Fatal(err)
			}
			if got := f.holds("a.go"); got != "" {
				t.Errorf("nobody has it in sight, and it is %q", got)
			}
			f.verified()
			f.put(sdk.FileWrite{Path: "a.go", Facts: factsOf("three"), Text: body("three")})
			if got := f.holds("a.go"); got != "" {
				t.Errorf("a text is kept that nobody asked for: %q", got)
			}
			f.put(sdk.FileWrite{Path: "a.go"})
			if _, err := f.Entry(t.Context(), f.run.ID, "a.go"); sdk.OutcomeOf(err) != sdk.NotFound {
				t.Errorf("what went is seen: %v", err)
			}
			f.verified()
		})
	}
}

func (f *fixture) try(run sdk.Run, w sdk.Write) error {
	_, err := f.Commit(f.t.Context(), sdk.Change{Run: run.ID, Writes: []sdk.Write{w}})
	return err
}

func (f *fixture) verified() {
	f.t.Helper()
	if err := f.Verify(f.t.Context(), 0); err != nil {
		f.t.Error(err)
	}
}

// TestFilesOfAPrivateRun: a channel's run has nothing of the project.
func TestFilesOfAPrivateRun(t *testing.T) {
	f := newFixture(t)
	f.put(sdk.FileWrite{Path: "a.go", Facts: factsOf("one")})
	f.commit(promote("a.go", "one"))
	private := f.newRun(sdk.Run{Private: true})
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: private.ID, Shared: true})
	if err != nil || len(all) != 0 {
		t.Errorf("it finds %+v, %v", all, err)
	}
	paths, err := f.Paths(t.Context(), private.ID)
	if err != nil || len(paths) != 0 {
		t.Errorf("it finds %v, %v", paths, err)
	}
	for _, w := range []sdk.Write{promote("a.go", "one"), {Path: "a.go", Look: true, Visibility: sdk.Visible, Writer: sdk.WriterPlugin}} {
		if err := f.try(private, w); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// spec: file_constraints
func TestConstraints(t *testing.T) {
	f := newFixture(t)
	set := func(pattern string, to sdk.Constraint) error {
		return f.Constrain(t.Context(), f.project.ID, pattern, to)
	}
	for _, c := range []struct{ pattern, to string }{{"a", "ignore"}, {"b", "add"}, {"a", "readonly"}} {
		if err := set(c.pattern, sdk.Constraint(c.to)); err != nil {
			t.Fatal(err)
		}
	}
	at := f.Seq()
	if err := set("a", sdk.ConstraintReadOnly); err != nil || f.Seq() != at {
		t.Errorf("the last one again: %v, %d rows", err, f.Seq()-at)
	}
	listed := func() string {
		all, err := f.ConstraintsAt(t.Context(), f.project.Root)
		if err != nil {
			t.Fatal(err)
		}
		byID, err := f.Constraints(t.Context(), f.project.ID)
		if err != nil || !slices.Equal(all, byID) {
			t.Errorf("%+v, %v", byID, err)
		}
		text := ""
		for _, c := range all {
			text += fmt.Sprintf("%s=%s ", c.Pattern, c.Constraint)
		}
		return strings.TrimSpace(text)
	}
	if got := listed(); got != "b=add a=readonly" {
		t.Errorf("set: %s", got)
	}
	if err := set("b", sdk.ConstraintAdd); err != nil || listed() != "a=readonly b=add" {
		t.Errorf("set again: %s, %v", listed(), err)
	}
	if err := set("b", ""); err != nil || listed() != "a=readonly" {
		t.Errorf("taken away: %s, %v", listed(), err)
	}
	if err := set("b", ""); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("none: %v", err)
	}
	f.verified()
}

// TestFilesOfBefore: what runs kept under bare paths is the project's afterwards, and no body is lost that one has in sight; a
// run of a channel keeps its own.
func TestFilesOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{path: path}
	if err := s.connectWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), s.conn, path, steps[:8]); err != nil {
		t.Fatal(err)
	}
	const made = `INSERT INTO projects VALUES (1, 'p', '/p', 0), (2, 'q', '/q', 0);
		INSERT INTO runs (id, project, alias, key, agent, model, created, updated) VALUES (1, 1, 'a', 'a', '', '', 0, 0), (2, 1, 'b', 'b', '', '', 0, 0), (3, 2, 'c', 'c', '', '', 0, 0), (4, 1, 'd', 'd', '', '', 0, 0);
		UPDATE runs SET private = 1 WHERE id = 4;
		INSERT INTO entries (id, scope, path, body, hash, created) VALUES
		  (1, 'run:1', 'x.go', 'old', zeroblob(32), 0), (2, 'run:2', 'x.go', 'new', zeroblob(32), 0), (3, 'run:3', 'x.go', 'else', zeroblob(32), 0),
		  (4, 'run:1', 'known://x.go', 'fact', zeroblob(32), 0), (5, 'run:4', 'x.go', 'strange', zeroblob(32), 0), (6, 'run:1', 'y.go', 'unseen', zeroblob(32), 0);
		INSERT INTO run_views (run, entry, state, visibility, writer, updated) SELECT substr(scope, 5), id, 'resolved', iif(id = 6, 'archived', 'visible'), 'plugin', 0 FROM entries;`
	if _, err := s.conn.ExecContext(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := s.disconnect(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	for run, want := range map[int64][2]string{1: {"run:1", "old"}, 2: {"project:1", "new"}, 3: {"project:2", "else"}, 4: {"run:4", "strange"}} {
		e, err := s.Entry(t.Context(), run, "x.go")
		if err != nil || e.Scope != want[0] || e.Body != want[1] {
			t.Errorf("run %d: %+v, %v", run, e, err)
		}
	}
	if e, err := s.Entry(t.Context(), 1, "y.go"); err != nil || e.Scope != "project:1" || e.Body != "" {
		t.Errorf("what no run has in sight: %+v, %v", e, err)
	}
	if e, err := s.Entry(t.Context(), 1, "known://x.go"); err != nil || e.Scope != "run:1" {
		t.Errorf("another scheme: %+v, %v", e, err)
	}
	// The run that has its own is given the project's with its next look at the file.
	if _, err := s.Commit(t.Context(), sdk.Change{Run: 1, Writes: []sdk.Write{promote("x.go", "disk")}}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []int64{1, 2} {
		if e, err := s.Entry(t.Context(), run, "x.go"); err != nil || e.Scope != "project:1" || e.Body != "disk" {
			t.Errorf("run %d then: %+v, %v", run, e, err)
		}
	}
}

// TestFilesAreTheModel: whatever runs and scans do, an entry has the text of the disk as long as a run has it in sight that
// has seen that text, and none else; and the journal verifies.
func TestFilesAreTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t)
		paths := []string{"a.go", "b*.go", "src/[id]/c"}
		disk := map[string]string{}                               // of the files that there are
		runs := []int64{f.run.ID}                                 // that are there
		sees := map[int64]map[string]sdk.Visibility{f.run.ID: {}} // what each has in view
		text := func() string { return rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(rt, "text") }
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			path, run := rapid.SampledFrom(paths).Draw(rt, "path"), rapid.SampledFrom(runs).Draw(rt, "run")
			_, there := disk[path]
			write := func(w sdk.Write) {
				if _, err := f.Commit(rt.Context(), sdk.Change{Run: run, Writes: []sdk.Write{w}}); err != nil {
					rt.Fatal(err)
				}
			}
			switch rapid.IntRange(0, 6).Draw(rt, "do") {
			case 0: // a scan that finds it, made or changed
				disk[path] = text()
				f.put(sdk.FileWrite{Path: path, Facts: factsOf(disk[path]), Text: body(disk[path])})
			case 1: // one that finds it gone
				delete(disk, path)
				for _, view := range sees {
					delete(view, path)
				}
				f.put(sdk.FileWrite{Path: path})
			case 2:
				if there {
					write(promote(path, disk[path]))
					sees[run][path] = sdk.Visible
				}
			case 3:
				if _, viewed := sees[run][path]; viewed {
					level := rapid.SampledFrom([]sdk.Visibility{sdk.Summarized, sdk.Archived}).Draw(rt, "level")
					write(sdk.Write{Path: path, Look: true, Visibility: level, Writer: sdk.WriterModel})
					sees[run][path] = level
				}
			case 4:
				if _, viewed := sees[run][path]; viewed {
					write(sdk.Write{Path: path, Remove: true, Writer: sdk.WriterSystem})
					delete(sees[run], path)
				}
			case 5:
				fork, err := f.CreateRun(rt.Context(), sdk.Run{Project: f.project.ID, Agent: "chat", Parent: run})
				if err != nil {
					rt.Fatal(err)
				}
				runs, sees[fork.ID] = append(runs, fork.ID), maps.Clone(sees[run])
			default:
				if len(runs) > 1 {
					if _, err := f.DeleteRun(rt.Context(), run, "test"); err != nil {
						rt.Fatal(err)
					}
					runs = slices.DeleteFunc(runs, func(id int64) bool { return id == run })
					delete(sees, run)
				}
			}
		}
		for _, path := range paths {
			want := ""
			for _, view := range sees {
				if view[path] == sdk.Visible {
					want = disk[path]
				}
			}
			all, err := f.Entries(rt.Context(), sdk.EntryQuery{Project: f.project.Root, Pattern: path})
			_, there := disk[path]
			if err != nil || there != (len(all) == 1) || there && all[0].Body != want {
				rt.Fatalf("%s: %+v (%v), want %q", path, all, err, want)
			}
			for run, view := range sees {
				e, err := f.Entry(rt.Context(), run, path)
				if level, viewed := view[path]; viewed != (err == nil) || viewed && e.Visibility != level {
					rt.Fatalf("%s in run %d: %+v (%v), want %q", path, run, e, err, view[path])
				}
			}
		}
		if err := f.Verify(rt.Context(), 0); err != nil {
			rt.Fatal(err)
		}
	})
}
