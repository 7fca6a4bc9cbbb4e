package skill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// lots lays skills of the usual size into groups.
func lots(t testing.TB, root string, n int) {
	t.Helper()
	line := strings.Repeat("Do this with care, and say what you did. ", 3) + "\n"
	for i := range n {
		folder := filepath.Join(root, fmt.Sprintf("group%d", i%40), fmt.Sprintf("skill-%d", i))
		mkdir(t, folder)
		write(t, filepath.Join(folder, "SKILL.md"), fmt.Sprintf("---\nname: skill-%d\ndescription: What number %d is for, and when to use it.\nlicense: MIT\ntags: [one, two]\nmetadata:\n  author: somebody\n---\n# Skill %d\n\n%s", i, i, i, strings.Repeat(line, 48)))
	}
}

func TestRow23TenThousand(t *testing.T) {
	root := fastDir(t)
	lots(t, root, 10_000)
	before := heap()
	h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: root}}}, Options{})
	c, err := h.Catalogue(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Usable()) != 10_000 {
		t.Fatalf("%d skills of 10,000; %+v", len(c.Usable()), h.Folders(""))
	}
	each := (heap() - before) / 10_000
	t.Logf("10,000 skills of 6 kB: %d bytes of memory for each", each)
	if each > 20<<10 { // its text is 6 kB
		t.Errorf("%d bytes of memory for each skill", each)
	}
	runtime.KeepAlive(c)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTooManyFolders(t *testing.T) {
	root := fastDir(t)
	for i := range mostFolders + 10 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprintf("f%05d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lay(t, root, "a", "first") // by name before the limit
	sc := &scan{at: Folder{Path: root}, pass: &watch.Pass{}}
	defer func() { sc.roots.Close() }()
	sc.run()
	if len(sc.found) != 1 || sc.found[0].folder != filepath.Join(root, "a") || !strings.Contains(sc.problem, "20000 folders") {
		t.Errorf("%v, %q", sc.found, sc.problem)
	}
}

// TestTooMuchText has a folder not fill the memory.
func TestTooMuchText(t *testing.T) {
	root := realDir(t)
	const n = mostText/MaxFile + 10
	for i := range n {
		folder := filepath.Join(root, fmt.Sprintf("f%05d", i))
		mkdir(t, folder)
		f, err := os.Create(filepath.Join(folder, fileName))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(MaxFile), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	large := filepath.Join(root, "g")
	mkdir(t, large)
	write(t, filepath.Join(large, fileName), strings.Repeat("x", MaxFile+1)) // is never read, and so told of
	sc := &scan{at: Folder{Path: root}, pass: &watch.Pass{}}
	defer func() { sc.roots.Close() }()
	sc.run()
	if len(sc.found) != mostText/MaxFile+1 || !strings.Contains(sc.problem, "256 MiB") {
		t.Errorf("%d are read; %q", len(sc.found), sc.problem)
	}
}

// TestConfigureLeavesNothing has settings turned a hundred times, while others
// ask, and what was followed before let go.
func TestConfigureLeavesNothing(t *testing.T) {
	h := newTestLibrary(t, Settings{}, Options{})
	var settings []Settings
	for i := range 4 {
		dir := filepath.Join(h.dir, fmt.Sprint(i))
		lay(t, dir, fmt.Sprintf("s%d", i), "first")
		settings = append(settings, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: dir}}, Workspace: []string{".bothy/skills", fmt.Sprint("w", i)}})
	}
	lay(t, filepath.Join(h.project, ".bothy", "skills"), "one", "first")
	turn := func(n int) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n {
					if _, err := h.Catalogue(context.Background(), h.project); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range n {
			h.Configure(settings[i%len(settings)])
		}
		wg.Wait()
		h.Configure(settings[0])
		if err := h.Check(context.Background(), h.project); err != nil {
			t.Fatal(err)
		}
	}
	watched := func() int { return h.views.Base.Stats().Folders }
	turn(10)
	goroutines, files, watches := runtime.NumGoroutine(), openFiles(t), watched()
	turn(100)
	restsAt(t, goroutines, files)
	if w := watched(); w > watches {
		t.Errorf("%d watches, %d before", w, watches)
	}
	h.has("s0")
}

// TestRemoteFileSystem has changes found by looking, where there are no events.
func TestRemoteFileSystem(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{
		times: places.Times{Watch: watch.Config{Poll: 200 * time.Millisecond, Open: func() (watch.Notifier, error) { return silent{}, nil }}}, remote: func(string) string { return "NFS" },
	})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	write(t, path, skillText("one", "second"))
	h.reads("one", "second")
	if s := h.Folders("")[0]; s.Watching != "polling" || !strings.Contains(s.Problem, "NFS") {
		t.Errorf("%+v", s)
	}
}

// silent is a notifier without events.
type silent struct{}

func (silent) Add(string) error              { return nil }
func (silent) Remove(string) error           { return nil }
func (silent) Events() <-chan fsnotify.Event { c := make(chan fsnotify.Event); close(c); return c }
func (silent) Errors() <-chan error          { return nil }
func (silent) Close() error                  { return nil }

func TestRow31ThousandReloads(t *testing.T) {
	h := newTestLibrary(t, Settings{}, Options{times: places.Times{Watch: watch.Config{Quiet: time.Microsecond}, Settle: time.Microsecond}})
	path := filepath.Join(lay(t, h.user, "one", "first"), "SKILL.md")
	h.reads("one", "first")
	reload := func(i int) {
		before := h.reloads()
		write(t, path+".new", skillText("one", fmt.Sprintf("save %d", i)))
		rename(t, path+".new", path)
		for h.reloads() == before {
			select {
			case <-h.came:
			case <-time.After(inTime):
				t.Fatalf("save %d is not seen", i)
			}
		}
	}
	for i := range 20 {
		reload(i)
	}
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for i := range 1000 {
		reload(100 + i)
	}
	restsAt(t, goroutines, files)
}

// restsAt waits until no more goroutines and descriptors are there than before:
// a last look may still be at work.
func restsAt(t *testing.T, goroutines, files int) {
	t.Helper()
	for late := time.Now().Add(inTime); runtime.NumGoroutine() > goroutines || openFiles(t) > files; runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("%d goroutines and %d descriptors, %d and %d before", runtime.NumGoroutine(), openFiles(t), goroutines, files)
		}
	}
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skipf("descriptors cannot be counted: %v", err)
	}
	return len(entries)
}
