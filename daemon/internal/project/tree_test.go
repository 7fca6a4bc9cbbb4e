package project

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// forest is a project on disk, and its entries in a store.
type forest struct {
	*Tree
	t    testing.TB
	s    *store.Store
	p    sdk.Project
	root string
	puts int // commits that were made
	fail int // the commit that fails; 0 is none
}

func (f *forest) Project(ctx context.Context, id int64) (sdk.Project, error) {
	return f.s.Project(ctx, id)
}

func (f *forest) ProjectFiles(ctx context.Context, id int64) ([]sdk.ProjectFile, error) {
	return f.s.ProjectFiles(ctx, id)
}

func (f *forest) ProjectFile(ctx context.Context, id int64, at string) (sdk.ProjectFile, bool, error) {
	return f.s.ProjectFile(ctx, id, at)
}

func (f *forest) Constraints(ctx context.Context, id int64) ([]sdk.FileConstraint, error) {
	return f.s.Constraints(ctx, id)
}

func (f *forest) ConstraintsAt(ctx context.Context, root string) ([]sdk.FileConstraint, error) {
	return f.s.ConstraintsAt(ctx, root)
}

func (f *forest) Constrain(ctx context.Context, id int64, pattern string, to sdk.Constraint) error {
	return f.s.Constrain(ctx, id, pattern, to)
}

var errPulled = errors.New("the plug was pulled")

func (f *forest) PutFiles(ctx context.Context, id int64, files []sdk.FileWrite) error {
	if f.puts++; f.puts == f.fail {
		return errPulled
	}
	return f.s.PutFiles(ctx, id, files)
}

// grown is a project with files; see tree.
func grown(t testing.TB, root string) *forest {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bothy-tree-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := store.Open(t.Context(), filepath.Join(dir, "bothy.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return grownIn(t, s, root)
}

// grownIn is grown, in a store that is there.
func grownIn(t testing.TB, s *store.Store, root string) *forest {
	t.Helper()
	p, err := s.OpenProject(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	f := &forest{t: t, s: s, p: p, root: root}
	f.Tree = NewTree(f).Under(func(string) func(string) error {
		return func(at string) error {
			if strings.HasPrefix(at, "guarded") {
				return sdk.Errorf(sdk.Permission, "a rule guards it")
			}
			return nil
		}
	})
	return f
}

func (f *forest) scan() sdk.Scanned {
	f.t.Helper()
	done, err := f.Scan(context.Background(), f.p)
	if err != nil {
		f.t.Fatal(err)
	}
	return done
}

func (f *forest) known() map[string]sdk.ProjectFile {
	f.t.Helper()
	all, err := f.s.ProjectFiles(context.Background(), f.p.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	known := map[string]sdk.ProjectFile{}
	for _, x := range all {
		known[x.Path] = x
	}
	return known
}

func (f *forest) paths() []string { return slices.Sorted(maps.Keys(f.known())) }

func (f *forest) write(at, text string) {
	f.t.Helper()
	at = filepath.Join(f.root, at)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *forest) constrain(pattern string, to sdk.Constraint) {
	f.t.Helper()
	if _, err := f.Tree.Constrain(context.Background(), f.p, pattern, to); err != nil {
		f.t.Fatal(err)
	}
}

func TestScan(t *testing.T) {
	f := grown(t, tree(t, map[string]string{
		".gitignore": "*.log\n/build/\n", ".git/HEAD": "x", "main.go": "package main\n", "a/b.go": "é", "a/x.log": "", "build/out": "",
		".env": "SECRET=1", "a/id_rsa": "k", "a/.gitignore": "!x.log\n", "sub/.git/config": "x", "sub/c.txt": "c", "link": "-> main.go", "out": "-> /etc", "pipe": "pipe", "bin": "a\x00b",
	}))
	if done := f.scan(); done != (sdk.Scanned{Files: 7, Changed: 7}) {
		t.Errorf("%+v", done)
	}
	if got, want := strings.Join(f.paths(), " "), ".gitignore a/.gitignore a/b.go a/x.log bin main.go sub/c.txt"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	known := f.known()
	if x := known["main.go"]; x.Size != 13 || x.Tokens != 4 || x.SHA256 != sum("package main\n") || x.Time.IsZero() {
		t.Errorf("%+v", x)
	}
	if known["a/b.go"].Tokens != 1 || known["bin"].Tokens != 0 || known["bin"].SHA256 == "" {
		t.Errorf("%+v, %+v", known["a/b.go"], known["bin"])
	}
	list, err := f.Manifest(t.Context(), f.p)
	if err != nil || !strings.HasPrefix(list, "* .gitignore - 4 tokens\n* a/.gitignore - 2 tokens\n* a/b.go - 1 tokens\n") || strings.Count(list, "\n") != 7 {
		t.Errorf("%s, %v", list, err)
	}
	at := f.s.Seq()
	if done := f.scan(); done != (sdk.Scanned{Files: 7}) || f.s.Seq() != at {
		t.Errorf("again: %+v, %d rows", done, f.s.Seq()-at)
	}
	f.write("main.go", "package main \n")
	if err := os.RemoveAll(filepath.Join(f.root, "a")); err != nil {
		t.Fatal(err)
	}
	f.write("new/x", "")
	if done := f.scan(); done != (sdk.Scanned{Files: 5, Changed: 2, Removed: 3}) {
		t.Errorf("after changes: %+v", done)
	}
	if x := f.known()["main.go"]; x.SHA256 != sum("package main \n") {
		t.Errorf("%+v", x)
	}
	if err := os.Chtimes(filepath.Join(f.root, "main.go"), time.Time{}, time.Unix(9, 0)); err != nil {
		t.Fatal(err)
	}
	if done := f.scan(); done.Changed != 1 || !f.known()["main.go"].Time.Equal(time.Unix(9, 0)) {
		t.Errorf("touched: %+v", done)
	}
	if _, err := f.Scan(t.Context(), sdk.Project{ID: f.p.ID, Root: f.root + "/none"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("no project: %v", err)
	}
}

// TestScanAgainWritesNothing: 5,000 files, in ten commits and then in none.
func TestScanAgainWritesNothing(t *testing.T) {
	f := grown(t, t.TempDir())
	plant(t, f.root, 5000)
	if done := f.scan(); done.Files != 5000 || done.Changed != 5000 || f.puts != 10 {
		t.Fatalf("%+v in %d commits", done, f.puts)
	}
	at := f.s.Seq()
	if done := f.scan(); done != (sdk.Scanned{Files: 5000}) || f.s.Seq() != at || f.puts != 10 {
		t.Errorf("again: %+v, %d rows in %d commits", done, f.s.Seq()-at, f.puts-10)
	}
}

// plant makes so many files in folders of 50.
func plant(t testing.TB, root string, n int) {
	t.Helper()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i/50), "src")
		if i%50 == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(strings.Repeat(fmt.Sprintf("line %d of a file\n", i), 40)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScanCutShort holds that the next scan goes on with what one had committed.
func TestScanCutShort(t *testing.T) {
	f := grown(t, t.TempDir())
	plant(t, f.root, 1200)
	f.fail = 2
	if _, err := f.Scan(t.Context(), f.p); !errors.Is(err, errPulled) || len(f.known()) != 500 {
		t.Fatalf("%d entries, %v", len(f.known()), err)
	}
	if done := f.scan(); done != (sdk.Scanned{Files: 1200, Changed: 700}) || len(f.known()) != 1200 {
		t.Errorf("%+v, %d entries", done, len(f.known()))
	}
	if err := os.RemoveAll(f.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.root, 0o700); err != nil {
		t.Fatal(err)
	}
	f.puts, f.fail = 0, 2
	if _, err := f.Scan(t.Context(), f.p); !errors.Is(err, errPulled) || len(f.known()) != 700 {
		t.Fatalf("%d entries, %v", len(f.known()), err)
	}
	if done := f.scan(); done != (sdk.Scanned{Removed: 700}) {
		t.Errorf("%+v", done)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errPulled)
	f.write("x", "")
	if _, err := f.Scan(ctx, f.p); err == nil {
		t.Error("a scan that nobody waits for went on")
	}
}

// TestHostileTrees: nothing is followed, nothing blocks, and what is odd costs what is odd.
func TestHostileTrees(t *testing.T) {
	outside := tree(t, map[string]string{"secret.txt": "outside"})
	f := grown(t, tree(t, map[string]string{
		"plain.txt": "x", "a*b(c)[d].txt": "star", "pipe": "pipe", "loop": "-> .", "deep/x": "", "up": "-> ..",
		"out": "-> " + outside, "out.txt": "-> " + outside + "/secret.txt", "gone": "-> nowhere", "known:/x": "scheme", ".env.local": "K=1",
		".gitignore": "**/a/**/a/**/a/**/a/**/a/**/a/**/b\n[\n\\\n!\n/\n**\n!**\n" + strings.Repeat("x", 100_000),
	}))
	for _, name := range []string{"new\nline", "bell\a", "latin\xe9", "nul\x7f"} {
		f.write(name, "odd")
	}
	if err := os.WriteFile(filepath.Join(f.root, "huge"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(f.root, "huge"), 1<<40); err != nil {
		t.Fatal(err)
	}
	down := filepath.Join(f.root, strings.Repeat("a/", 100))
	if err := os.MkdirAll(down, 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(strings.Repeat("a/", 100)+"b", "deep")
	if err := syscall.Mkfifo(filepath.Join(f.root, "deep", ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.write("shut/x", "")
	f.write("closed.txt", "closed")
	done := f.scan()
	if !done.Partial || done.Left != 4 {
		t.Errorf("%+v", done)
	}
	want := ".gitignore a*b(c)[d].txt closed.txt deep/x huge known:/x plain.txt shut/x"
	if got := strings.Join(f.paths(), " "); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if x := f.known()["huge"]; x.Size != 1<<40 || x.SHA256 != "" {
		t.Errorf("%+v", x)
	}
	for at, want := range map[string]sdk.Outcome{
		"out.txt": sdk.Permission, "out/secret.txt": sdk.NotFound, "loop/plain.txt": sdk.NotFound, "pipe": sdk.Permission, ".env.local": sdk.Permission, "huge": sdk.Overflow,
		"../x": sdk.Permission, "nowhere": sdk.NotFound, "guarded.txt": sdk.Permission, "bin": sdk.Validation,
	} {
		f.write("guarded.txt", "x")
		f.write("bin", "a\x00b")
		if text, _, err := f.Text(t.Context(), sdk.Run{Project: f.p.ID}, at); sdk.OutcomeOf(err) != want || text != "" {
			t.Errorf("%s: %q, %v, want %s", at, text, err, want)
		}
	}
	if text, facts, err := f.Text(t.Context(), sdk.Run{Project: f.p.ID}, "a*b(c)[d].txt"); err != nil || text != "star" || facts.SHA256 != sum("star") {
		t.Errorf("%q, %+v, %v", text, facts, err)
	}
	if _, _, err := f.Text(t.Context(), sdk.Run{Project: f.p.ID, Private: true}, "plain.txt"); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a private run: %v", err)
	}
	if os.Geteuid() == 0 {
		return // who may read everything is kept from nothing
	}
	for at, mode := range map[string]os.FileMode{"shut": 0, "closed.txt": 0} {
		if err := os.Chmod(filepath.Join(f.root, at), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(f.root, "shut"), 0o700) })
	f.write("plain.txt", "other")
	if done := f.scan(); !done.Partial || f.known()["shut/x"].Path == "" || f.known()["plain.txt"].SHA256 != sum("other") {
		t.Errorf("%+v, %v", done, f.paths())
	}
	if _, _, err := f.Text(t.Context(), sdk.Run{Project: f.p.ID}, "closed.txt"); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("unreadable: %v", err)
	}
}

// spec: file_constraints
func TestConstraintsOfFiles(t *testing.T) {
	f := grown(t, tree(t, map[string]string{
		".gitignore": "made/\n*.tmp\n", "made/in/a.go": "", "made/b.go": "", "x.tmp": "", "docs/a.md": "", "docs/keep.md": "", "src/a.go": "", "made/.env": "", "made/.git/x": "",
	}))
	f.scan()
	if got := strings.Join(f.paths(), " "); got != ".gitignore docs/a.md docs/keep.md src/a.go" {
		t.Fatal(got)
	}
	f.constrain("made/in", sdk.ConstraintAdd)
	f.constrain("docs", sdk.ConstraintIgnore)
	f.constrain("docs/keep.md", sdk.ConstraintReadOnly)
	f.constrain("**/*.tmp", sdk.ConstraintAdd)
	if got := strings.Join(f.paths(), " "); got != ".gitignore docs/keep.md made/in/a.go src/a.go x.tmp" {
		t.Errorf("constrained: %s", got)
	}
	all, err := f.Tree.Tree(t.Context(), f.p, "docs/**")
	if err != nil || len(all) != 1 || all[0].Constraint != sdk.ConstraintReadOnly {
		t.Errorf("%+v, %v", all, err)
	}
	by := f.ReadOnly(f.root)
	if by("docs/keep.md", false) != "docs/keep.md" || by("docs", true) != "docs/keep.md" || by("docs", false) != "" || by("src/a.go", true) != "" {
		t.Error("readonly means other paths")
	}
	if f.ReadOnly("/nowhere") != nil {
		t.Error("a folder that is no project has constraints")
	}
	f.constrain("docs", "")
	f.constrain("made", sdk.ConstraintAdd)
	if got := strings.Join(f.paths(), " "); got != ".gitignore docs/a.md docs/keep.md made/b.go made/in/a.go src/a.go x.tmp" {
		t.Errorf("changed: %s", got)
	}
	for pattern, want := range map[string]sdk.Outcome{
		"": sdk.Validation, "/x": sdk.Validation, "../x": sdk.Validation, "a/../b": sdk.Validation, "[": sdk.Validation, ".env": sdk.Permission, ".": sdk.Validation, strings.Repeat("x", 600): sdk.Validation,
	} {
		if _, err := f.Tree.Constrain(t.Context(), f.p, pattern, sdk.ConstraintAdd); sdk.OutcomeOf(err) != want {
			t.Errorf("%.20q: %v", pattern, err)
		}
	}
	if _, err := f.Tree.Constrain(t.Context(), f.p, "x", "some"); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("no constraint: %v", err)
	}
}

// TestRefresh holds that a path that is named is looked at whatever its time, and by the rules of a scan.
func TestRefresh(t *testing.T) {
	f := grown(t, tree(t, map[string]string{".gitignore": "*.log\n", "a/b.go": "one", "a/gone.go": "", "a/.gitignore": "no.go\n"}))
	f.scan()
	before := f.known()["a/b.go"].Time
	f.write("a/b.go", "two")
	f.write("a/new.go", "new")
	f.write("a/no.go", "")
	f.write("a/x.log", "")
	f.write(".git/HEAD", "")
	f.write("a/.env", "")
	if err := errors.Join(os.Remove(filepath.Join(f.root, "a/gone.go")), os.Chtimes(filepath.Join(f.root, "a/b.go"), time.Time{}, before)); err != nil {
		t.Fatal(err)
	}
	link(t, "/etc", filepath.Join(f.root, "out"))
	if err := f.Refresh(t.Context(), f.p, []string{"a/b.go", "a/new.go", "a/gone.go", "a/no.go", "a/x.log", ".git/HEAD", "a/.env", "out/passwd", "../x", "/etc/passwd", "a", "none/x", "", "."}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.paths(), " "); got != ".gitignore a/.gitignore a/b.go a/new.go" {
		t.Error(got)
	}
	if x := f.known()["a/b.go"]; x.SHA256 != sum("two") {
		t.Errorf("%+v", x)
	}
	at := f.s.Seq()
	if err := f.Refresh(t.Context(), f.p, []string{"a/b.go", "a/new.go"}); err != nil || f.s.Seq() != at {
		t.Errorf("again: %v, %d rows", err, f.s.Seq()-at)
	}
}

// TestScanOfWhatIsInSight: its text is read again, unless it may not be read any more.
func TestScanOfWhatIsInSight(t *testing.T) {
	f := grown(t, tree(t, map[string]string{"a.go": "one", "guarded.go": "g"}))
	f.scan()
	r, err := f.s.CreateRun(t.Context(), sdk.Run{Project: f.p.ID, Agent: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"a.go", "guarded.go"} {
		w := sdk.Write{Path: at, Writer: sdk.WriterSystem, Body: new("was"), Visibility: sdk.Visible}
		if _, err := f.s.Commit(t.Context(), sdk.Change{Run: r.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	f.write("a.go", "two two")
	f.write("guarded.go", "secret")
	f.scan()
	for at, want := range map[string]string{"a.go": "two two", "guarded.go": ""} {
		if e, err := f.s.Entry(t.Context(), r.ID, at); err != nil || e.Body != want || e.Visibility != sdk.Visible {
			t.Errorf("%s: %+v, %v", at, e, err)
		}
	}
	f.write("a.go", "\x00\x01\x02")
	if err := f.Refresh(t.Context(), f.p, []string{"a.go"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.s.Entry(t.Context(), r.ID, "a.go"); err != nil || e.Body != "" {
		t.Errorf("no text: %+v, %v", e, err)
	}
}

// TestScanIsTheModel: whatever is done to a tree, a scan makes the entries what a walk of it says.
func TestScanIsTheModel(t *testing.T) {
	n, base := 0, t.TempDir()
	s := grown(t, base).s
	names := []string{"a", "b.go", "c.log", "d", ".env", ".git", "x*y", "made"}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(root, 0o700); err != nil {
			rt.Fatal(err)
		}
		f := grownIn(t, s, root)
		at := func() string {
			parts := rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(rt, "path")
			return path.Join(parts...)
		}
		ignores := rapid.Bool().Draw(rt, "ignores")
		if ignores {
			f.write(".gitignore", "*.log\nmade/\n")
		}
		clock := time.Unix(1000, 0)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			full := filepath.Join(root, at())
			switch rapid.IntRange(0, 4).Draw(rt, "do") {
			case 0, 1:
				_ = os.MkdirAll(filepath.Dir(full), 0o700) // a file may be in the way
				clock = clock.Add(time.Second)
				if os.WriteFile(full, []byte(rapid.SampledFrom([]string{"", "one", "two"}).Draw(rt, "text")), 0o600) == nil {
					_ = os.Chtimes(full, clock, clock)
				}
			case 2:
				_ = os.RemoveAll(full)
			case 3:
				_ = os.Rename(full, filepath.Join(root, at()))
			default:
				f.scan()
			}
		}
		f.scan()
		want := map[string]string{}
		err := filepath.WalkDir(root, func(full string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, full)
			switch {
			case err != nil || rel == ".":
				return err
			case d.Name() == ".git" || protect.Secret(rel) || ignores && (strings.HasSuffix(d.Name(), ".log") || d.IsDir() && d.Name() == "made"):
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			case d.Type().IsRegular():
				text, err := os.ReadFile(full)
				want[rel] = sum(string(text))
				return err
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{}
		for at, x := range f.known() {
			got[at] = x.SHA256
		}
		if !maps.Equal(got, want) {
			rt.Fatalf("entries %v, the walk says %v", got, want)
		}
		seq := f.s.Seq()
		if f.scan(); f.s.Seq() != seq {
			rt.Fatalf("a second scan wrote %d rows", f.s.Seq()-seq)
		}
	})
}
