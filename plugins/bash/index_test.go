package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// repository is a folder with a repository of git in it, and one file that git knows.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T, version string) repository {
	r := repository{t, t.TempDir()}
	r.git("init", "-q")
	r.write("a", "one\n")
	r.write("folder/b", "two\n")
	r.git("add", "a", "folder/b")
	r.git("update-index", "--index-version", version)
	r.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
	return r
}

func (r repository) git(arguments ...string) {
	r.t.Helper()
	cmd := exec.Command("git", arguments...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+r.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v\n%s", arguments, err, out)
	}
}

func (r repository) write(name, text string) {
	r.t.Helper()
	at := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) index() []byte {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// TestIndexIsRefreshed: git that only looked at files changes nothing in its index that anybody misses.
func TestIndexIsRefreshed(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		for name, c := range map[string]struct {
			do   func(repository)
			want bool
		}{
			"looked at": {func(r repository) {
				if err := os.Chtimes(filepath.Join(r.dir, "a"), time.Time{}, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
				r.git("status")
			}, true},
			"added":     {func(r repository) { r.write("c", "three"); r.git("add", "c") }, false},
			"changed":   {func(r repository) { r.write("a", "other"); r.git("add", "a") }, false},
			"executed":  {func(r repository) { r.git("update-index", "--chmod=+x", "a") }, false},
			"removed":   {func(r repository) { r.git("rm", "-q", "--cached", "folder/b") }, false},
			"intended":  {func(r repository) { r.write("c", "three"); r.git("add", "-N", "c") }, false},
			"unwatched": {func(r repository) { r.git("update-index", "--assume-unchanged", "a") }, false},
		} {
			t.Run(name+" "+version, func(t *testing.T) {
				r := newRepository(t, version)
				before := r.index()
				c.do(r)
				after := r.index()
				file := sandbox.Node{Kind: sandbox.NodeFile}
				read := sandbox.Readers{
					Before: func(string, int) ([]byte, error) { return before, nil },
					After:  func(string, int) ([]byte, error) { return after, nil },
				}
				if got := refreshes(sandbox.Change{Path: ".git/index", Was: file, Is: file}, read); got != c.want || string(before) == string(after) {
					t.Errorf("%t", got)
				}
				if refreshes(sandbox.Change{Path: "src/index.html", Was: file, Is: file}, read) || refreshes(sandbox.Change{Path: ".git/index", Is: file}, read) {
					t.Error("of another file, or of a new one")
				}
			})
		}
	}
}

// FuzzIndex: whatever an index has in it, reading it comes to an end, and one that is cut off is none.
func FuzzIndex(f *testing.F) {
	head := []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01")
	entry := append(make([]byte, entryHead), "name\x00\x00\x00\x00\x00\x00"...)
	f.Add(append(append(head, entry...), make([]byte, indexSum)...))
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, index []byte) {
		all, ok := staged(index)
		if len(all) > len(index) || !ok && all != nil {
			t.Errorf("%d bytes of %d, %t", len(all), len(index), ok)
		}
		if _, whole := staged(append(index, 0)); ok && whole {
			t.Error("a byte more is as good")
		}
	})
}
