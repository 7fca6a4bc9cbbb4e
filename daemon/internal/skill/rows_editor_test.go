package skill

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The names of the tests say which row of the cases they are.

// look waits until everything was looked at once more.
func (h *testLibrary) look() {
	h.t.Helper()
	h.views.Base.Ask()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.views.Base.CatchUp(ctx, 10*time.Second); err != nil {
		h.t.Fatal(err)
	}
}

// once acts and expects that the skill then reads so, after one reload.
func (h *testLibrary) once(act func(), name, body string) {
	h.t.Helper()
	before := h.reloads()
	act()
	h.reads(name, body)
	h.look()
	if n := h.reloads() - before; n != 1 {
		h.t.Errorf("%d reloads, want 1", n)
	}
}

// showed are all bodies of a skill that anybody could have seen.
func (h *testLibrary) showed(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, c := range h.seen {
		if d, ok := c.Find(name); ok {
			out = append(out, strings.TrimSpace(d.Body))
		}
	}
	return out
}

func TestRow01WriteInPlace(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	h.once(func() { write(t, path, skillText("one", "second")) }, "one", "second")
}

func TestRow02RenameOver(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	for _, body := range []string{"second", "third"} { // what was renamed is still watched
		h.once(func() {
			write(t, path+".tmp", skillText("one", body))
			rename(t, path+".tmp", path)
		}, "one", body)
	}
}

func TestRow03Vim(t *testing.T) {
	t.Parallel()
	for mode, save := range map[string]func(t *testing.T, path, text string){
		"backupcopy=yes": func(t *testing.T, path, text string) {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path+"~", string(old))
			write(t, path, text)
			remove(t, path+"~")
		},
		"backupcopy=no": func(t *testing.T, path, text string) {
			rename(t, path, path+"~")
			write(t, path, text)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			remove(t, path+"~")
		},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := newTestLibrary(t, Settings{}, Options{})
			folder := lay(t, h.user, "one", "first")
			h.reads("one", "first")
			swap := filepath.Join(folder, ".SKILL.md.swp")
			h.once(func() {
				write(t, filepath.Join(folder, "4913"), "") // may it write here?
				remove(t, filepath.Join(folder, "4913"))
				write(t, swap, "b0VIM 9.1")
				save(t, filepath.Join(folder, "SKILL.md"), skillText("one", "second"))
				remove(t, swap)
			}, "one", "second")
			h.only("one")
		})
	}
}

// only checks that nobody could ever have seen another skill.
func (h *testLibrary) only(name string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.seen {
		for _, d := range c.All() {
			if d.Name != name {
				h.t.Errorf("%s was listed", d.Path)
			}
		}
	}
}

func TestRow04AtomicSave(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := lay(t, h.user, "one", "first")
	h.reads("one", "first")
	h.once(func() {
		f, err := os.CreateTemp(folder, "SKILL.md.*.tmp")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(skillText("one", "second")); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		rename(t, f.Name(), filepath.Join(folder, "SKILL.md"))
	}, "one", "second")
	h.only("one")
}

func TestRow05Sed(t *testing.T) {
	t.Parallel()
	sed, err := exec.LookPath("sed")
	if err != nil {
		t.Skip("no sed here")
	}
	h := newTestLibrary(t, Settings{}, Options{})
	folder := lay(t, h.user, "one", "first")
	h.reads("one", "first")
	h.once(func() {
		if out, err := exec.Command(sed, "-i", "s/first/second/", filepath.Join(folder, "SKILL.md")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}, "one", "second")
	h.only("one")
}

func TestRow06HalfAFile(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	whole := skillText("one", "second, which is "+strings.Repeat("long ", 2000))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := len(whole) / 2
	if _, err := f.WriteString(whole[:half]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(80 * time.Millisecond) // the case: so long an editor takes for the rest
	if _, err := f.WriteString(whole[half:]); err != nil {
		t.Fatal(err)
	}
	body := strings.TrimSpace(whole[strings.LastIndex(whole, "---\n")+4:])
	h.reads("one", body)
	for _, b := range h.showed("one") {
		if b != "first" && b != body {
			t.Errorf("half a file was shown: %d bytes", len(b))
		}
	}
}

func TestRow07HalfAFileForEver(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	write(t, path, "---\nname: one\ndescr")
	h.await("the error", func(c *Catalogue) bool {
		d, ok := c.Find("one")
		return ok && d.Stale && len(d.Diagnostics) > 0 && d.Diagnostics[0].Severity == "error" && strings.TrimSpace(d.Body) == "first"
	})
	write(t, path, skillText("one", "second"))
	h.await("what heals it", func(c *Catalogue) bool {
		d, ok := c.Find("one")
		return ok && !d.Stale && len(d.Diagnostics) == 0 && strings.TrimSpace(d.Body) == "second"
	})
}

func TestBrokenFromTheStart(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := filepath.Join(h.user, "one")
	mkdir(t, folder)
	write(t, filepath.Join(folder, "SKILL.md"), "---\nname: one\ndescr")
	h.await("the broken skill", func(c *Catalogue) bool {
		all := c.Named("one")
		return len(all) == 1 && string(all[0].Status) == "broken" && all[0].Reason != "" && len(c.Usable()) == 0
	})
	write(t, filepath.Join(folder, "SKILL.md"), skillText("one", "first"))
	h.reads("one", "first")
}

func TestRow21ThousandSaves(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	before := h.reloads()
	tick := time.NewTicker(time.Millisecond) // the case: 1,000 in one second
	defer tick.Stop()
	for i := range 1000 {
		write(t, path, skillText("one", fmt.Sprintf("save %d", i)))
		<-tick.C
	}
	h.reads("one", "save 999")
	h.look()
	if n := h.reloads() - before; n > 7 {
		t.Errorf("%d reloads, want at most 7", n)
	}
}

func TestRow22Touch(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	before := h.reloads()
	for _, at := range []time.Time{time.Now(), time.Now().Add(-time.Hour)} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		h.look()
	}
	if n := h.reloads() - before; n != 0 {
		t.Errorf("%d reloads, want none", n)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
