package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// tree makes files below a new folder. A body of "pipe" is a named pipe, "folder" a
// folder, and what begins with "-> " a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, body := range files {
		at := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		target, link := strings.CutPrefix(body, "-> ")
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, at)
		case body == "pipe":
			err = syscall.Mkfifo(at, 0o600)
		case body == "folder":
			err = os.Mkdir(at, 0o700)
		default:
			err = os.WriteFile(at, []byte(body), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// files reads in projects that are all trusted, or none.
func files(folder string, trusted bool) InstructionFiles {
	return InstructionFiles{Folder: func() string { return folder }, Trusted: func(string) bool { return trusted }}
}

// TestInstructions: which file of a folder counts, and what of it.
func TestInstructions(t *testing.T) {
	secret := filepath.Join(tree(t, map[string]string{"secret": "secret"}), "secret")
	for name, c := range map[string]struct {
		files map[string]string
		want  sdk.Instructions
		err   string // of a trusted project
	}{
		"none":                    {nil, sdk.Instructions{}, ""},
		"plain":                   {map[string]string{"AGENTS.md": "Use tabs.\n"}, sdk.Instructions{File: "AGENTS.md", Text: "Use tabs."}, ""},
		"mark and line ends":      {map[string]string{"AGENTS.md": "\xef\xbb\xbfa\r\nb\r\n"}, sdk.Instructions{File: "AGENTS.md", Text: "a\nb"}, ""},
		"not UTF-8":               {map[string]string{"AGENTS.md": "a\xffb"}, sdk.Instructions{File: "AGENTS.md", Text: "ab"}, ""},
		"CLAUDE.md":               {map[string]string{"CLAUDE.md": "c"}, sdk.Instructions{File: "CLAUDE.md", Text: "c"}, ""},
		"both":                    {map[string]string{"AGENTS.md": "a", "CLAUDE.md": "c"}, sdk.Instructions{File: "AGENTS.md", Text: "a"}, ""},
		"empty goes before":       {map[string]string{"AGENTS.md": " \n", "CLAUDE.md": "c"}, sdk.Instructions{File: "AGENTS.md"}, ""},
		"a link within":           {map[string]string{"AGENTS.md": "-> doc/a", "doc/a": "a"}, sdk.Instructions{File: "AGENTS.md", Text: "a"}, ""},
		"a link out":              {map[string]string{"AGENTS.md": "-> " + secret, "CLAUDE.md": "c"}, sdk.Instructions{File: "AGENTS.md"}, "escapes"},
		"a link out of CLAUDE.md": {map[string]string{"CLAUDE.md": "-> " + secret}, sdk.Instructions{File: "CLAUDE.md"}, "escapes"},
		"a pipe":                  {map[string]string{"AGENTS.md": "pipe"}, sdk.Instructions{File: "AGENTS.md"}, "no regular file"},
		"a folder":                {map[string]string{"AGENTS.md": "folder"}, sdk.Instructions{File: "AGENTS.md"}, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.files)
			got, err := files("", true).Project(root)
			switch {
			case c.err == "" && (err != nil || got != c.want):
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || got != sdk.Instructions{}):
				t.Errorf("%+v, %v; want an error that says %q", got, err, c.err)
			}
			want := sdk.Instructions{File: c.want.File, Untrusted: c.want.File != ""}
			if got, err := files("", false).Project(root); err != nil || got != want {
				t.Errorf("untrusted: %+v, %v; want %+v", got, err, want)
			}
		})
	}
	if _, err := files("", true).Project(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("a project that is not there has instructions")
	}
}

// TestInstructionsAreCut: of a file of any size a bounded part is read.
func TestInstructionsAreCut(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.md": strings.Repeat("é", MaxInstructions)})
	for range 2 {
		got, size, err := files("", false).Show(root)
		if err != nil || !utf8.ValidString(got.Text) || len(got.Text) > MaxInstructions+200 || !strings.Contains(got.Text, "[AGENTS.md is longer than 64 KiB") || size < 2*MaxInstructions {
			t.Errorf("%d bytes of %d, %v", len(got.Text), size, err)
		}
		if err := os.Truncate(filepath.Join(root, "AGENTS.md"), 100<<20); err != nil { // and again
			t.Fatal(err)
		}
	}
}

// TestUserInstructions: they are always read, where links lead as well.
func TestUserInstructions(t *testing.T) {
	elsewhere := filepath.Join(tree(t, map[string]string{"mine": "mine"}), "mine")
	for name, c := range map[string]struct {
		files map[string]string
		want  sdk.Instructions
		fails bool
	}{
		"none":      {nil, sdk.Instructions{}, false},
		"AGENTS.md": {map[string]string{"AGENTS.md": "a", "CLAUDE.md": "c"}, sdk.Instructions{File: "AGENTS.md", Text: "a"}, false},
		"CLAUDE.md": {map[string]string{"CLAUDE.md": "c"}, sdk.Instructions{File: "CLAUDE.md", Text: "c"}, false},
		"a link":    {map[string]string{"AGENTS.md": "-> " + elsewhere}, sdk.Instructions{File: "AGENTS.md", Text: "mine"}, false},
		"a pipe":    {map[string]string{"AGENTS.md": "pipe"}, sdk.Instructions{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := files(tree(t, c.files), false).User(); got != c.want || (err != nil) != c.fails {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
	for _, folder := range []string{"", filepath.Join(t.TempDir(), "gone")} {
		if got, err := files(folder, false).User(); err != nil || got != (sdk.Instructions{}) {
			t.Errorf("%q: %+v, %v", folder, got, err)
		}
	}
}

// TestNestedInstructions: which folders lie on the way to a path, the outermost first,
// and none of them the root.
func TestNestedInstructions(t *testing.T) {
	root := tree(t, map[string]string{
		"AGENTS.md": "root", "a/AGENTS.md": "a", "a/b/CLAUDE.md": "b", "a/b/c/x.go": "x", "d/x": "x", "empty/AGENTS.md": "\n",
		"pipe/AGENTS.md": "pipe", "out": "-> " + t.TempDir(), "into": "-> a",
	})
	for _, c := range []struct {
		paths []string
		want  string
		fails bool
	}{
		{nil, "", false},
		{[]string{"."}, "", false},
		{[]string{"x.go"}, "", false},
		{[]string{"AGENTS.md"}, "", false},
		{[]string{"a"}, "a/AGENTS.md", false},
		{[]string{"a/x.go", "./a/../a/y"}, "a/AGENTS.md", false},
		{[]string{"a/b/c/x.go"}, "a/AGENTS.md a/b/CLAUDE.md", false},
		{[]string{"a/b/new/deep/x"}, "a/AGENTS.md a/b/CLAUDE.md", false},
		{[]string{"d/x", "a/b"}, "a/AGENTS.md a/b/CLAUDE.md", false},
		{[]string{"d/x", "empty/x", "a/*.go", "../a/x", "/a/x", "a\x00/x", strings.Repeat("n", 300) + "/x"}, "a/AGENTS.md", false},
		{[]string{"pipe/x", "a/x"}, "a/AGENTS.md", true},
		{[]string{"into/x"}, "into/AGENTS.md", false}, // whoever names paths follows links
		{[]string{"out/x"}, "", true},
	} {
		var got []string
		found, err := files("", true).Nested(root, c.paths, func(sdk.Instructions) bool { return true })
		for _, in := range found {
			got = append(got, in.File)
		}
		if strings.Join(got, " ") != c.want || (err != nil) != c.fails {
			t.Errorf("%q: %q, %v; want %s", c.paths, got, err, c.want)
		}
	}
	found, err := files("", false).Nested(root, []string{"a/b/x"}, func(in sdk.Instructions) bool { return in.File != "a/AGENTS.md" })
	if want := []sdk.Instructions{{File: "a/b/CLAUDE.md", Untrusted: true}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("untrusted: %+v, %v", found, err)
	}
}

// TestNestedInstructionsAreBounded: a call is told of a few files, and the next one of
// the rest.
func TestNestedInstructionsAreBounded(t *testing.T) {
	tall := map[string]string{}
	deep := ""
	for i := range 2 * MaxNested {
		deep += fmt.Sprintf("d%d/", i)
		tall[deep+"AGENTS.md"] = deep
	}
	root := tree(t, tall)
	told := map[string]bool{}
	for range 2 {
		found, err := files("", true).Nested(root, []string{deep + "x"}, func(in sdk.Instructions) bool { return !told[in.File] })
		if err != nil || len(found) != MaxNested {
			t.Fatalf("%d, %v", len(found), err)
		}
		for _, in := range found {
			told[in.File] = true
		}
	}
	if got := foldersTo([]string{strings.Repeat("d/", 4*maxFolders)}); len(got) != maxFolders || got[0] != "d" {
		t.Errorf("%d folders are looked at", len(got))
	}
}
