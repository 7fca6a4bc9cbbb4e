package markdown

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/places"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLibrary is a Library over folders of its own.
type testLibrary struct {
	*Library
	t             testing.TB
	user, project string
	cfg           atomic.Pointer[config.Config]
}

func newTestLibrary(t testing.TB, trusted map[string]string) *testLibrary {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &testLibrary{t: t, user: filepath.Join(dir, "home", ".claude", "agents"), project: filepath.Join(dir, "home", "project")}
	for _, folder := range []string{h.user, filepath.Join(h.project, ".git"), filepath.Join(h.project, ".claude", "agents")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home", ".config"))
	h.cfg.Store(&config.Config{Skills: config.Skills{Agents: true, Claude: true}, Models: []config.Model{{Alias: "mine"}}})
	h.Library = NewLibrary(h.cfg.Load, Options{
		Log: hclog.NewNullLogger(), Trusted: func(string) map[string]string { return trusted },
	})
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// write writes a file below the folder of the project's agents, or at an absolute path.
func (h *testLibrary) write(path, text string) string {
	h.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.project, ".claude", "agents", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// found are the files by what Check finds now, as NAME, or NAME: CODE for one that is refused.
func (h *testLibrary) found() string {
	h.t.Helper()
	if err := h.Check(context.Background(), h.project); err != nil {
		h.t.Fatal(err)
	}
	files, err := h.Files(context.Background(), h.project)
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, x := range files {
		text := x.Agent.Name
		if !x.Loaded {
			text += ": " + x.Diagnostics[0].Code
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func agentText(name string) string {
	return "---\nname: " + name + "\ndescription: Does things.\n---\nYou do things.\n"
}

func TestFolders(t *testing.T) {
	h := newTestLibrary(t, nil)
	h.write(filepath.Join(h.user, "mine.md"), agentText("mine"))
	h.write("b/theirs.md", agentText("theirs"))
	h.write("a.md", agentText("first"))
	h.write("README.md", "# Agents\n")
	h.write("notes.txt", "no agent")
	h.write(".hidden/x.md", agentText("hidden"))
	h.write("a/b/c/deep.md", agentText("deep"))
	h.write("a/b/c/d/deeper.md", agentText("deeper"))
	h.write(filepath.Join(h.project, ".bothy", "agents", "own.md"), agentText("own"))
	h.write(filepath.Join(h.project, ".agents", "agents", "shared.md"), agentText("shared"))
	if got := h.found(); got != "mine, own, shared, first, deep, theirs" {
		t.Errorf("found %s", got)
	}
	h.cfg.Store(&config.Config{Skills: config.Skills{Agents: true}})
	if got := h.found(); got != "own, shared" {
		t.Errorf("with .claude switched off found %s", got)
	}
}

// TestHostileFiles: what is no regular file of a sensible size is never waited for, and what
// lies elsewhere is not read.
func TestHostileFiles(t *testing.T) {
	h := newTestLibrary(t, nil)
	folder := filepath.Join(h.project, ".claude", "agents")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	outside := h.write(filepath.Join(filepath.Dir(h.project), "outside.md"), agentText("outside"))
	inside := h.write(filepath.Join(h.project, "docs", "inside.md"), agentText("inside"))
	check(syscall.Mkfifo(filepath.Join(folder, "fifo.md"), 0o600))
	check(os.Symlink(outside, filepath.Join(folder, "out.md")))
	check(os.Symlink("/dev/zero", filepath.Join(folder, "zero.md")))
	check(os.Symlink(inside, filepath.Join(folder, "in.md")))
	check(os.Symlink("loop.md", filepath.Join(folder, "loop.md")))
	check(os.Symlink("nowhere", filepath.Join(folder, "broken.md")))
	check(os.Symlink("..", filepath.Join(folder, "up")))
	check(os.Symlink("/etc", filepath.Join(folder, "etc")))
	check(os.Mkdir(filepath.Join(folder, "folder.md"), 0o700))
	check(os.WriteFile(filepath.Join(folder, "sparse.md"), nil, 0o600))
	check(os.Truncate(filepath.Join(folder, "sparse.md"), 100<<20))
	h.write("nul.md", agentText("nul")+"\x00")
	h.write("shut.md", agentText("shut"))
	want := "broken: unreadable, fifo: not-a-file, inside, loop: link, nul: nul, out: link, shut, sparse: file-too-large, zero: link"
	if got := h.found(); got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
}

// TestFollowing: what a person saves counts with the next question, also where an editor moves
// files about; one that cannot be read any more is told as what it is.
func TestFollowing(t *testing.T) {
	h := newTestLibrary(t, nil)
	path := h.write("one.md", agentText("one"))
	await := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; {
			files, err := h.Files(context.Background(), h.project)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, x := range files {
				got += x.Agent.Name + fmt.Sprint(x.Loaded) + " "
			}
			if got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("found %q, want %q", got, want)
			}
		}
	}
	await("onetrue ")
	h.write("one.md", agentText("two"))
	await("twotrue ")
	h.write("one.md~", agentText("three"))
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
	await("threetrue ")
	h.write("one.md", "---\nname: three\n")
	await("onefalse ")
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	await("")
	h.write("sub/four.md", agentText("four"))
	await("fourtrue ")
}

func TestBoundsOfAFolder(t *testing.T) {
	h := newTestLibrary(t, nil)
	for i := range mostFiles + 5 {
		h.write(fmt.Sprintf("f%04d.md", i), agentText(fmt.Sprintf("f%04d", i)))
	}
	if got := strings.Count(h.found(), ",") + 1; got != mostFiles {
		t.Errorf("%d files are read", got)
	}
}

// TestTooManyFolders: a project cannot have the daemon walk and watch as many folders as it likes.
func TestTooManyFolders(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostFolders + 5 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprintf("d%04d", i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"d0000/first", fmt.Sprintf("d%04d/last", mostFolders)} {
		if err := os.WriteFile(filepath.Join(root, name+".md"), []byte(agentText(filepath.Base(name))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := index{at: places.Folder{Path: root}}
	x.look()
	if len(x.files) != 1 || x.files[0].Agent.Name != "first" || !strings.Contains(x.problem, "2000 folders") {
		t.Errorf("%d files, %q", len(x.files), x.problem)
	}
}

// BenchmarkCheck looks through a folder of 1,000 files of which none changed.
func BenchmarkCheck(b *testing.B) {
	h := newTestLibrary(b, nil)
	for i := range 1000 {
		path := h.write(fmt.Sprintf("f%04d.md", i), agentText(fmt.Sprintf("f%04d", i)))
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, long, long); err != nil {
			b.Fatal(err)
		}
	}
	h.found()
	for b.Loop() {
		if err := h.Check(context.Background(), h.project); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse reads one file of the usual length.
func BenchmarkParse(b *testing.B) {
	text := []byte("---\nname: code-reviewer\ndescription: Reviews code: quality, security, tests.\ntools: Read, Grep, Glob, Bash\nmodel: sonnet\n---\n" + strings.Repeat("You look at each change and say what is wrong with it.\n", 60))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text, "/a/code-reviewer.md")
	}
}
