package skill

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/hashicorp/go-hclog"
)

// inTime is what every outcome of the cases has, on a machine as busy as may be:
// who waits for it waits no longer than it takes.
const inTime = time.Minute

// testLibrary is a Library over folders of its own, and what it told.
type testLibrary struct {
	*Library
	t       testing.TB
	dir     string // holds all folders
	user    string
	project string

	mu      sync.Mutex
	changes []rpc.SkillsChanged
	seen    []*Catalogue // after each
	came    chan struct{}
}

// newTestLibrary opens a Library over one user folder, which is there, unless the
// options say other folders.
func newTestLibrary(t testing.TB, s Settings, o Options) *testLibrary {
	t.Helper()
	h := &testLibrary{t: t, dir: realDir(t), came: make(chan struct{}, 10_000)}
	h.user, h.project = filepath.Join(h.dir, "user"), filepath.Join(h.dir, "project")
	if s.Folders == nil {
		mkdir(t, h.user)
		s.Folders = []Folder{{Tier: sdk.TierUser, Path: h.user}}
	}
	if o.Home == "" {
		o.Home = filepath.Join(h.dir, "home")
	}
	o.Changed, o.Log = h.note, hclog.NewNullLogger()
	if o.Trusted == nil {
		o.Trusted = trusts("")
	}
	h.mu.Lock() // what is told is told of a library that is there
	l := NewLibrary(s, o)
	h.Library = l
	h.mu.Unlock()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// realDir is a temporary folder without links in its path.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (h *testLibrary) note(c rpc.SkillsChanged) {
	h.mu.Lock()
	h.changes = append(h.changes, c)
	h.seen = append(h.seen, h.built(c.Project).catalogue)
	h.mu.Unlock()
	h.came <- struct{}{}
}

// built is what a project, or without one what all share, has now.
func (h *testLibrary) built(project string) *built {
	h.building.Lock()
	defer h.building.Unlock()
	h.Library.mu.Lock()
	v := cmp.Or(h.views.Projects[project], h.views.Base)
	h.Library.mu.Unlock()
	return h.build(v)
}

// reloads is how often a change was told.
func (h *testLibrary) reloads() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.changes)
}

// catalogues are those after each change that was told.
func (h *testLibrary) catalogues() []*Catalogue {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// now is the catalogue as it is shown, without waiting for what is under way.
func (h *testLibrary) now(project string) *Catalogue {
	h.t.Helper()
	for _, v := range h.inUse(project) {
		if err := v.First(context.Background()); err != nil {
			h.t.Fatal(err)
		}
	}
	return h.built(project).catalogue
}

// await waits until the catalogue is as it must be, as long as the cases allow.
func (h *testLibrary) await(what string, ok func(c *Catalogue) bool) {
	h.t.Helper()
	h.awaitIn("", what, ok)
}

func (h *testLibrary) awaitIn(project, what string, ok func(c *Catalogue) bool) {
	h.t.Helper()
	late := time.NewTimer(inTime)
	defer late.Stop()
	for {
		c := h.now(project)
		if ok(c) {
			return
		}
		select {
		case <-h.came:
		case <-time.After(50 * time.Millisecond):
		case <-late.C:
			h.t.Fatalf("%s: not in time; there is\n%s", what, describe(c))
		}
	}
}

func describe(c *Catalogue) string {
	var b strings.Builder
	for _, d := range c.All() {
		fmt.Fprintf(&b, "%s %s %s %.40q stale=%v %s %v\n", d.Name, d.Status, d.Path, d.Body, d.Stale, d.Reason, d.Diagnostics)
	}
	return b.String()
}

// has waits until exactly these names can be used.
func (h *testLibrary) has(names ...string) {
	h.t.Helper()
	h.await(fmt.Sprintf("the skills %v", names), func(c *Catalogue) bool { return slices.Equal(usable(c), names) })
}

func usable(c *Catalogue) []string {
	out := []string{}
	for _, d := range c.Usable() {
		out = append(out, d.Name)
	}
	return out
}

// reads waits until a skill can be used with that body.
func (h *testLibrary) reads(name, body string) {
	h.t.Helper()
	h.await(fmt.Sprintf("the body %q of %s", body, name), func(c *Catalogue) bool {
		d, ok := c.Find(name)
		return ok && strings.TrimSpace(d.Body) == body
	})
}

// skillText is a SKILL.md.
func skillText(name, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: What %s is for.\n---\n%s\n", name, name, body)
}

// lay makes a skill folder.
func lay(t testing.TB, root, name, body string) string {
	t.Helper()
	folder := filepath.Join(root, name)
	mkdir(t, folder)
	write(t, filepath.Join(folder, "SKILL.md"), skillText(name, body))
	return folder
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fastDir is a temporary folder in memory, where there is one: for many files.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "skills")
	if err != nil {
		return realDir(t)
	}
	t.Cleanup(func() { remove(t, dir) })
	return dir
}

func TestSkillsAreFound(t *testing.T) {
	h := newTestLibrary(t, Settings{}, Options{})
	lay(t, h.user, "one", "first")
	lay(t, filepath.Join(h.user, "group"), "two", "second")
	lay(t, filepath.Join(h.user, ".git"), "hidden", "")
	lay(t, filepath.Join(h.user, "node_modules"), "package", "")
	lay(t, filepath.Join(h.user, "one", "examples"), "inner", "")
	h.has("one", "two")
	h.reads("one", "first")
}

func TestCatalogueWaitsForWhatChanges(t *testing.T) {
	h := newTestLibrary(t, Settings{}, Options{})
	h.has()
	lay(t, h.user, "one", "first")
	h.has("one")
	c, err := h.Catalogue(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Find("one"); !ok {
		t.Errorf("the next catalogue lacks it:\n%s", describe(c))
	}
}

// TestCheckAtOnce: where nothing can be watched, what was saved is found when
// somebody asks for a check, long before the next one would be due.
func TestCheckAtOnce(t *testing.T) {
	o := Options{times: places.Times{Watch: watch.Config{Poll: time.Hour, Mounts: time.Hour}}}
	o.times.Watch.Open = func() (watch.Notifier, error) { return nil, syscall.EMFILE }
	h := newTestLibrary(t, Settings{}, o)
	h.has()
	lay(t, h.user, "one", "first")
	if err := h.Check(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	if got := usable(h.now("")); !slices.Equal(got, []string{"one"}) {
		t.Errorf("there are %v", got)
	}
}
