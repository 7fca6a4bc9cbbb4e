package skill

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// plant makes the files of a folder: "-> target" is a link, "pipe" a named
// pipe, a text that begins with #! can be executed, and a name that ends in a
// slash is a folder.
func plant(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(folder, name)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		target, link := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(at, 0o755))
		case link:
			must(t, os.Symlink(target, at))
		case text == "pipe":
			must(t, syscall.Mkfifo(at, 0o644))
		case strings.HasPrefix(text, "#!"):
			must(t, os.WriteFile(at, []byte(text), 0o755))
		default:
			must(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folderHash(t testing.TB, folder string) string {
	t.Helper()
	h, err := hashFolder(folder, func(string) {})
	must(t, err)
	return h
}

// TestFolderHashSeesEveryChange holds that whatever a skill's files say, are
// called, or may do is part of the hash, and nothing else is.
func TestFolderHashSeesEveryChange(t *testing.T) {
	base := map[string]string{"SKILL.md": "---\nname: a\n---\n", "scripts/run.sh": "#!/bin/sh\n", "notes": "ab", "same": "-> notes"}
	for name, c := range map[string]struct {
		change func(folder string) error
		same   bool
	}{
		"a byte":             {func(f string) error { return os.WriteFile(f+"/notes", []byte("aB"), 0o644) }, false},
		"a byte more":        {func(f string) error { return os.WriteFile(f+"/notes", []byte("ab\n"), 0o644) }, false},
		"a new file":         {func(f string) error { return os.WriteFile(f+"/x", nil, 0o644) }, false},
		"a hidden file":      {func(f string) error { return os.WriteFile(f+"/.x", nil, 0o644) }, false},
		"a file less":        {func(f string) error { return os.Remove(f + "/notes2") }, false},
		"another name":       {func(f string) error { return os.Rename(f+"/notes2", f+"/notes3") }, false},
		"another folder":     {func(f string) error { return os.Rename(f+"/scripts", f+"/script") }, false},
		"can be executed":    {func(f string) error { return os.Chmod(f+"/notes", 0o755) }, false},
		"no longer executed": {func(f string) error { return os.Chmod(f+"/scripts/run.sh", 0o644) }, false},
		"the link's target":  {func(f string) error { return relink(f+"/same", "SKILL.md") }, false},
		"other rights":       {func(f string) error { return os.Chmod(f+"/notes", 0o600) }, true},
		"an empty folder":    {func(f string) error { return os.Mkdir(f+"/empty", 0o755) }, true},
		"another time": {func(f string) error {
			return os.WriteFile(f+"/notes", []byte("ab"), 0o644)
		}, true},
		"another place": {func(f string) error { return os.Rename(f, f+"-moved") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "a")
			plant(t, folder, base)
			plant(t, folder, map[string]string{"notes2": "two"})
			before := folderHash(t, folder)
			must(t, c.change(folder))
			if name == "another place" {
				folder += "-moved"
			}
			if after := folderHash(t, folder); (after == before) != c.same {
				t.Errorf("the hash was %s and is %s", before, after)
			}
		})
	}
}

func relink(at, target string) error {
	if err := os.Remove(at); err != nil {
		return err
	}
	return os.Symlink(target, at)
}

// TestFolderHashRefuses holds that nothing outside of a skill's folder, and
// nothing that is no file, is opened for it.
func TestFolderHashRefuses(t *testing.T) {
	outside := t.TempDir()
	plant(t, outside, map[string]string{"secret": "s"})
	many := map[string]string{"SKILL.md": "x"}
	for i := range MaxFiles {
		many[fmt.Sprint("f", i)] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		also  func(t *testing.T, folder string)
		says  string
	}{
		"link out":              {map[string]string{"x": "-> " + outside + "/secret"}, nil, "leads out"},
		"link up":               {map[string]string{"x": "-> ../../secret"}, nil, "leads out"},
		"link to etc":           {map[string]string{"a/x": "-> /etc/passwd"}, nil, "leads out"},
		"link to a folder out":  {map[string]string{"x": "-> " + outside}, nil, "leads out"},
		"link to a folder":      {map[string]string{"a/b": "b", "x": "-> a"}, nil, "link to a folder"},
		"link to itself":        {map[string]string{"x": "-> x"}, nil, "leads out of the skill's folder, or nowhere"},
		"link to its folder":    {map[string]string{"x": "-> ."}, nil, "link to a folder"},
		"link through a folder": {map[string]string{"d": "-> " + outside, "x": "-> d/secret"}, nil, "leads out"},
		"named pipe":            {map[string]string{"x": "pipe"}, nil, "named pipe"},
		"link to a named pipe":  {map[string]string{"p": "pipe"}, nil, "named pipe"},
		"socket": {nil, func(t *testing.T, folder string) {
			l, err := net.Listen("unix", filepath.Join(folder, "s"))
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
		}, "socket"},
		"too many files": {many, nil, "one file too many"},
		"too large": {nil, func(t *testing.T, folder string) {
			must(t, os.WriteFile(folder+"/big", nil, 0o644))
			must(t, os.Truncate(folder+"/big", 1<<40))
		}, "too large"},
		"too large together": {nil, func(t *testing.T, folder string) {
			for i := range 6 {
				at := fmt.Sprintf("%s/big%d", folder, i)
				must(t, os.WriteFile(at, nil, 0o644))
				must(t, os.Truncate(at, 5<<20))
			}
		}, "too large"},
		"name that is no UTF-8":        {map[string]string{"a\xffb": "x"}, nil, "no UTF-8"},
		"name with a control":          {map[string]string{"a\x1b[2Jb": "x"}, nil, "control characters"},
		"name with a line break":       {map[string]string{"a\nb": "x"}, nil, "control characters"},
		"name that turns text around":  {map[string]string{"a\u202eb": "x"}, nil, "control characters"},
		"a great many folders":         {nil, func(t *testing.T, f string) { plantFolders(t, f, maxSeen+1) }, "more than can be looked at"},
		"a path that is far too long":  {nil, func(t *testing.T, f string) { plantDeep(t, f) }, "has a path of more than"},
		"a file that nobody may read":  {nil, func(t *testing.T, f string) { plantClosed(t, f) }, "cannot be read"},
		"a link to a socket somewhere": {map[string]string{"x": "-> /run/docker.sock"}, nil, "leads out"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "a", "b")
			plant(t, folder, map[string]string{"SKILL.md": "---\nname: b\n---\n"})
			plant(t, folder, c.files)
			if c.also != nil {
				c.also(t, folder)
			}
			hash, err := hashFolder(folder, func(string) {})
			if hash != "" || sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), c.says) {
				t.Errorf("FolderHash = %q, %v; want an error that says %q", hash, err, c.says)
			}
		})
	}
	if _, err := hashFolder(filepath.Join(outside, "not there"), func(string) {}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a folder that is not there gives %v", err)
	}
}

func plantFolders(t *testing.T, folder string, n int) {
	for i := range n {
		must(t, os.Mkdir(fmt.Sprintf("%s/d%d", folder, i), 0o755))
	}
}

// plantDeep makes folders in folders until a path has more bytes than count.
func plantDeep(t *testing.T, folder string) {
	root, err := os.OpenRoot(folder)
	must(t, err)
	name := strings.Repeat("n", 250)
	for range MaxPath/250 + 1 {
		must(t, root.Mkdir(name, 0o755))
		next, err := root.OpenRoot(name)
		must(t, err)
		must(t, root.Close())
		root = next
	}
	must(t, root.Close())
}

func plantClosed(t *testing.T, folder string) {
	if os.Geteuid() == 0 {
		t.Skip("for root no file is closed")
	}
	must(t, os.WriteFile(folder+"/closed", []byte("x"), 0o200))
}

// TestFolderHashTellsFoldersApart compares the hash with what it stands for.
func TestFolderHashTellsFoldersApart(t *testing.T) {
	name := rapid.StringMatching(`[a-c]{1,2}(/[a-c]{1,2})?`)
	files := rapid.MapOfN(name, rapid.StringMatching(`(#!)?[ab]{0,2}`), 0, 4)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		var hashes, texts [2]string
		for i := range 2 {
			m := files.Draw(rt, "files")
			for path := range m {
				if parent := filepath.Dir(path); m[parent] != "" || parent == path {
					delete(m, parent)
				}
				delete(m, filepath.Dir(path))
			}
			n++
			folder := filepath.Join(dir, fmt.Sprint(n))
			must(t, os.Mkdir(folder, 0o755))
			plant(t, folder, m)
			hashes[i], texts[i] = folderHash(t, folder), fmt.Sprint(m)
		}
		if (hashes[0] == hashes[1]) != (texts[0] == texts[1]) {
			rt.Fatalf("%s has %s, %s has %s", texts[0], hashes[0], texts[1], hashes[1])
		}
	})
}

// TestLookKeepsTexts holds what is kept to show differences: texts, as long as
// they are within the cap.
func TestLookKeepsTexts(t *testing.T) {
	folder := t.TempDir()
	plant(t, folder, map[string]string{
		"SKILL.md": "skill", "binary": "a\x00b", "bad": "\xff", "long": strings.Repeat("x", 40), "run": "#!/bin/sh", "z": strings.Repeat("z", 10),
	})
	c, err := ReadContents(context.Background(), folder, 30)
	must(t, err)
	var got []string
	for _, f := range c.Files {
		got = append(got, fmt.Sprintf("%s %d %v %q", f.Path, f.Size, f.Script, f.Text))
	}
	want := []string{`SKILL.md 5 false "skill"`, `bad 1 false ""`, `binary 3 false ""`, `long 40 false ""`, `run 9 true "#!/bin/sh"`, `z 10 false "zzzzzzzzzz"`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Look gave\n%q, want\n%q", got, want)
	}
}

// TestFiles lists what can be listed and opens nothing that could block.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	plant(t, folder, map[string]string{"b/run": "#!x", "a": "a", "p": "pipe", "out": "-> /etc/passwd", "in": "-> a", "c/": ""})
	must(t, os.WriteFile(folder+"/bang", []byte("#! not executable"), 0o644))
	files, more, err := Files(folder)
	must(t, err)
	if want := "[a b/run bang in]"; fmt.Sprint(files) != want || more != 0 {
		t.Errorf("Files = %v and %d more, want %s", files, more, want)
	}
	for i := range MaxFiles {
		must(t, os.WriteFile(fmt.Sprintf("%s/c/%d", folder, i), nil, 0o644))
	}
	if files, more, err := Files(folder); err != nil || len(files) != MaxFiles || more != 4 {
		t.Errorf("%d files and %d more, %v", len(files), more, err)
	}
}

// TestFolderHashStays: what a person trusted with one version of Bothy is trusted with
// the next.
func TestFolderHashStays(t *testing.T) {
	folder := t.TempDir()
	plant(t, folder, map[string]string{"SKILL.md": "skill", "scripts/run": "#!/bin/sh\n", "ä": "x"})
	if got, want := folderHash(t, folder), "e22090c496123e4a679353878c4e780f982bf5174cd205988a51bace5458b203"; got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
}
