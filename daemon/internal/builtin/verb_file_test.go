package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
)

// orchard is a run whose project has files, of which those in guarded may not be read unasked.
func orchard(t testing.TB, files map[string]string) (*bench, string, func()) {
	t.Helper()
	root := t.TempDir()
	for at, text := range files {
		at = filepath.Join(root, at)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t)
	t.Cleanup(func() { _ = s.Close() })
	b := newBenchIn(t, s, root)
	tree := project.NewTree(s).Under(func(string) func(string) error {
		return func(at string) error {
			if strings.HasPrefix(at, "guarded/") {
				return sdk.Errorf(sdk.Permission, "%s is guarded", at)
			}
			return nil
		}
	})
	b.With(tree)
	p, err := s.Project(t.Context(), b.use.Run.Project)
	if err != nil {
		t.Fatal(err)
	}
	scan := func() {
		t.Helper()
		if _, err := tree.Scan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	scan()
	return b, root, scan
}

// body is that of a file's entry, whoever sees it.
func (b *bench) body(path string) string {
	b.t.Helper()
	all, err := b.s.Entries(b.t.Context(), sdk.EntryQuery{Run: b.use.Run.ID, Path: path, Shared: true})
	if err != nil || len(all) != 1 {
		b.t.Fatalf("%s: %+v, %v", path, all, err)
	}
	return all[0].Body + " " + string(all[0].Visibility)
}

func TestVerbsOnFiles(t *testing.T) {
	b, root, scan := orchard(t, map[string]string{
		"src/a.go": "package a\nvar hunter2 = 1\n", "src/b.go": "package b\n", "src/[id]/page.tsx": "page", "guarded/x": "guarded", "bin": "a\x00b", "big.txt": strings.Repeat("0123456789abcde\n", 70_000), ".env": "K=1",
	})
	d := b.must(get("src/a.go"))
	if d.Text != "package a\nvar [gone] = 1\n" || len(d.Entries) != 1 || d.Entries[0].Body != d.Text {
		t.Errorf("%+v", d)
	}
	if got := b.body("src/a.go"); got != "package a\nvar [gone] = 1\n visible" {
		t.Errorf("kept is %q", got)
	}
	seq := b.s.Seq()
	if b.must(get("src/a.go")); b.s.Seq() != seq {
		t.Errorf("got again it wrote %d rows", b.s.Seq()-seq)
	}
	if err := os.WriteFile(filepath.Join(root, "src/a.go"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := b.must(get("src/a.go")); d.Text != "changed" || b.body("src/a.go") != "changed visible" {
		t.Errorf("it answers with what was there: %+v", d)
	}
	b.must(with(sdk.EntryCall{Verb: sdk.VerbSet, Path: "src/a.go"}, func(c *sdk.EntryCall) { c.Visibility = sdk.Archived }))
	if got := b.body("src/a.go"); got != " archived" {
		t.Errorf("let go it is %q", got)
	}
	if d := b.must(get("src/*.go")); !strings.Contains(d.Text, "changed") || !strings.Contains(d.Text, "package b") || len(d.Entries) != 2 {
		t.Errorf("by a pattern: %+v", d)
	}
	b.must(with(sdk.EntryCall{Verb: sdk.VerbSet, Path: "src/**"}, func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized }))
	if got := b.body("src/b.go"); got != " summarized" {
		t.Errorf("summarized it is %q", got)
	}
	b.must(with(sdk.EntryCall{Verb: sdk.VerbSet, Path: "src/b.go"}, func(c *sdk.EntryCall) { c.Visibility = sdk.Visible }))
	if got := b.body("src/b.go"); got != "package b\n visible" {
		t.Errorf("made visible it is %q", got)
	}
	if d := b.must(with(get("src/b.go"), func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized })); d.Text != "package b\n" || b.body("src/b.go") != " summarized" {
		t.Errorf("read and summarized: %q, %s", d.Text, b.body("src/b.go"))
	}
	b.must(with(on(sdk.VerbMove, "src/b.go", ""), func(c *sdk.EntryCall) { c.Visibility = sdk.Visible }))
	if got := b.body("src/b.go"); got != "package b\n visible" {
		t.Errorf("made visible by mv it is %q", got)
	}
	if d := b.must(with(get("big.txt"), func(c *sdk.EntryCall) { c.Line, c.Limit = -1, 1 })); d.Text != "[lines 70000 to 70000 of 70000]\n0123456789abcde\n" || b.body("big.txt") != " archived" {
		t.Errorf("lines: %q, %s", d.Text, b.body("big.txt"))
	}
	if d := b.must(with(get("**"), func(c *sdk.EntryCall) { c.Preview = true })); !strings.Contains(d.Text, "src/[id]/page.tsx 200 summarized 1 tokens") || strings.Contains(d.Text, ".env") {
		t.Errorf("preview: %s", d.Text)
	}
	if d := b.must(get("src/[id]/page.tsx")); d.Text != "page" {
		t.Errorf("%+v", d)
	}
	if d := b.must(with(get("**"), func(c *sdk.EntryCall) { c.Filter, c.Preview = "package", true })); strings.Count(d.Text, "\n") != 0 || !strings.HasPrefix(d.Text, "src/b.go") {
		t.Errorf("by a text: %s", d.Text)
	}
	if err := os.WriteFile(filepath.Join(root, "huge.txt"), []byte(strings.Repeat("package huge\n", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sparse"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	scan()
	if d := b.must(with(get("**"), func(c *sdk.EntryCall) { c.Filter, c.Preview = "package", true })); !strings.HasPrefix(d.Text, "src/b.go") || strings.Contains(d.Text, "huge") {
		t.Errorf("by a text, beside a file that is too large: %s", d.Text)
	}
	if d := b.must(on(sdk.VerbCopy, "src/b.go", "known://b")); d.Entries[0].Body != "" || b.at("known://b") != `"package b\n" 200 visible model` {
		t.Errorf("copied: %+v, %s", d, b.at("known://b"))
	}
	if d := b.must(get("**/{x,b.go}")); d.Left != 1 || len(d.Entries) != 1 || strings.Contains(d.Text, "guarded\n") {
		t.Errorf("what may not be read: %+v", d)
	}
	for _, c := range []struct {
		name string
		call sdk.EntryCall
		want sdk.Outcome
	}{
		{"what may not be read unasked", get("guarded/x"), sdk.Permission},
		{"the same by a pattern", get("guarded/*"), sdk.Permission},
		{"the same in lines", with(get("guarded/x"), func(c *sdk.EntryCall) { c.Line = 1 }), sdk.Permission},
		{"the same made visible", sdk.EntryCall{Verb: sdk.VerbSet, Path: "guarded/x", Visibility: sdk.Visible}, sdk.Permission},
		{"the same as a copy", on(sdk.VerbCopy, "guarded/x", "known://g"), sdk.Permission},
		{"the same by its text", with(get("guarded/*"), func(c *sdk.EntryCall) { c.Filter = "guard" }), sdk.NotFound},
		{"a secret", get(".env"), sdk.NotFound},
		{"no text", get("bin"), sdk.Validation},
		{"a large one", get("big.txt"), sdk.Overflow},
		{"no file", get("src/none.go"), sdk.NotFound},
		{"written", set("src/a.go", "x"), sdk.Validation},
		{"moved", on(sdk.VerbMove, "src/a.go", "known://a"), sdk.Validation},
		{"removed", sdk.EntryCall{Verb: sdk.VerbRemove, Path: "src/a.go"}, sdk.Validation},
	} {
		if _, err := b.do(c.call); sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := os.Remove(filepath.Join(root, "src/b.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.do(get("src/b.go")); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("gone since the scan: %v", err)
	}
	scan()
	if b.at("src/b.go") != "" {
		t.Error("its entry is there after a scan")
	}
	private := *b
	private.use.Run.Private = true
	if _, err := private.do(get("src/a.go")); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a channel's run: %v", err)
	}
	if err := b.s.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// TestLinksAreNoWayOut: a link that is put in the place of a file, or of its folder, is not followed.
func TestLinksAreNoWayOut(t *testing.T) {
	b, root, _ := orchard(t, map[string]string{"a/x": "inside", "b": "inside"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"a", "b"} {
		if err := os.RemoveAll(filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{"a": outside, "b": filepath.Join(outside, "x")} {
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{"a/x", "b"} {
		if d, err := b.do(get(at)); err == nil {
			t.Errorf("%s: %+v", at, d)
		}
	}
}

// TestFilesThatGrewAreBounded: what is read together is bounded by what the files have, and not by what was known of them.
func TestFilesThatGrewAreBounded(t *testing.T) {
	small := map[string]string{}
	for n := range 10 {
		small[fmt.Sprintf("f%d", n)] = "x"
	}
	b, root, _ := orchard(t, small)
	big := filepath.Join(root, "big")
	if err := os.WriteFile(big, []byte(strings.Repeat("line\n", 9<<20/5)), 0o600); err != nil {
		t.Fatal(err)
	}
	for at := range small {
		if err := errors.Join(os.Remove(filepath.Join(root, at)), os.Link(big, filepath.Join(root, at))); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := b.do(with(get("f*"), func(c *sdk.EntryCall) { c.Filter, c.Preview = "nowhere", true })); sdk.OutcomeOf(err) != sdk.Overflow {
		t.Errorf("%+v, %v", d, err)
	}
	if err := os.Truncate(big, 1<<19); err != nil {
		t.Fatal(err)
	}
	if d, err := b.do(get("f*")); sdk.OutcomeOf(err) != sdk.Overflow {
		t.Errorf("got are %d bytes, %v", len(d.Text), err)
	}
	if d, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "f*", Visibility: sdk.Visible}); sdk.OutcomeOf(err) != sdk.Overflow {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestFilesOutOfReach: a file that is named like an expression is held to what its caller reaches, as one that a pattern finds.
func TestFilesOutOfReach(t *testing.T) {
	b, _, _ := orchard(t, map[string]string{"$id.tsx": "page", "!note": "note", "[id].tsx": "other"})
	b.use.Within = func(path string) bool { return sdk.SchemeOf(path) == "known" }
	for _, at := range []string{"$id.tsx", "!note", "[id].tsx"} {
		for _, c := range []sdk.EntryCall{get(at), with(get(at), func(c *sdk.EntryCall) { c.Line = 1 }), {Verb: sdk.VerbSet, Path: at, Visibility: sdk.Visible}, on(sdk.VerbCopy, at, "known://x")} {
			if d, err := b.do(c); sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("%s %s: %+v, %v", c.Verb, at, d, err)
			}
		}
	}
	b.must(set("known://a", "x"))
}
