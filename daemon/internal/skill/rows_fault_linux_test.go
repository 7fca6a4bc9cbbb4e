package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

func TestRow18Overflow(t *testing.T) {
	gate := make(chan struct{})
	dir := fastDir(t)
	folder := lay(t, dir, "one", "first")
	h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: dir}}}, Options{times: places.Times{Watch: watch.Config{Stall: func() { <-gate }}}})
	h.user = dir
	h.has("one")
	queue := 16384
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		queue, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if queue > 100_000 {
		close(gate)
		t.Skipf("the queue holds %d events here", queue)
	}
	// Nobody reads the events now.
	for i := range max(20_000, queue+8192) {
		f, err := os.Create(filepath.Join(h.user, fmt.Sprintf("file%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	write(t, filepath.Join(folder, "SKILL.md"), skillText("one", "second"))
	lay(t, filepath.Join(h.user, "new"), "two", "made while nobody listened")
	close(gate)
	h.has("one", "two")
	h.reads("one", "second")
	h.look()
	if lost := h.views.Base.Stats().Lost; lost != 1 {
		t.Errorf("events were lost %d times, want once", lost)
	}
	write(t, filepath.Join(h.user, "new", "two", "SKILL.md"), skillText("two", "later"))
	h.reads("two", "later")
}

func TestRow19NoWatchesLeft(t *testing.T) {
	if !alone(t, ownUsers(), noUsers) {
		return
	}
	limit := "/proc/sys/user/max_inotify_watches"
	if err := os.WriteFile(limit, []byte("5"), 0o644); err != nil {
		t.Skipf("the limit cannot be set: %v", err)
	}
	h := newTestLibrary(t, Settings{}, Options{times: places.Times{Watch: watch.Config{Poll: time.Second, Every: time.Second}}})
	for i := range 10 {
		lay(t, h.user, fmt.Sprintf("s%d", i), "first")
	}
	h.has("s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9")
	degraded := func() bool {
		s := h.Folders("")[0]
		return s.Watching == "polling" && strings.Contains(s.Problem, "max_user_watches")
	}
	h.await("that it is degraded", func(*Catalogue) bool { return degraded() })
	write(t, filepath.Join(h.user, "s7", "SKILL.md"), skillText("s7", "second"))
	h.reads("s7", "second")
	if err := os.WriteFile(limit, []byte("5000"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.await("that it watches again", func(*Catalogue) bool { return h.Folders("")[0].Watching == "inotify" })
	write(t, filepath.Join(h.user, "s8", "SKILL.md"), skillText("s8", "second"))
	h.reads("s8", "second")
}

func TestRow20NoDescriptorsLeft(t *testing.T) {
	if !alone(t, nil, "") {
		return
	}
	before := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(realDir(t), "user")
	lay(t, user, "one", "first")
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: user}}}, Options{times: places.Times{Watch: watch.Config{Poll: 500 * time.Millisecond, Every: time.Second}}})
	h.has()
	s := h.Folders("")[0]
	if s.Watching != "polling" || !strings.Contains(s.Problem, "too many open files") {
		t.Errorf("without descriptors: %+v", s)
	}
	for _, f := range taken {
		f.Close()
	}
	h.has("one")
	h.await("that it watches again", func(*Catalogue) bool { return h.Folders("")[0].Watching == "inotify" })

	// With some later, what was good stays.
	taken = taken[:0]
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	h.look()
	h.has("one")
	for _, f := range taken {
		f.Close()
	}
	h.look()
	h.reads("one", "first")
}

func TestRow24To26Unreadable(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	lay(t, h.user, "good", "first")
	file := func(name string) string {
		mkdir(t, filepath.Join(h.user, name))
		return filepath.Join(h.user, name, "SKILL.md")
	}
	if err := syscall.Mkfifo(file("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	mkdir(t, file("folder"))
	large, err := os.Create(file("large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	large.Close()
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	at, err := os.Open(filepath.Dir(file("socket"))) // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := syscall.Bind(socket, &syscall.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/SKILL.md", at.Fd())}); err != nil {
		t.Fatal(err)
	}
	write(t, file("nul"), skillText("nul", "a\x00b"))
	write(t, file("latin"), skillText("latin", "caf\xe9"))
	write(t, file("bom"), "\ufeff"+skillText("bom", "ok"))
	write(t, file("crlf"), strings.ReplaceAll(skillText("crlf", "ok"), "\n", "\r\n"))
	h.has("bom", "crlf", "good")
	h.await("the rest refused", func(c *Catalogue) bool {
		for name, code := range map[string]string{
			"pipe": "not-a-file", "folder": "not-a-file", "socket": "not-a-file", "large": "file-too-large", "nul": "nul", "latin": "encoding",
		} {
			all := c.Named(name)
			if len(all) != 1 || all[0].Status != sdk.SkillBroken || len(all[0].Diagnostics) != 1 || all[0].Diagnostics[0].Code != code {
				return false
			}
		}
		return true
	})
}

func TestRow27NoPermission(t *testing.T) {
	if os.Getuid() == 0 { // to whom all is permitted
		if !alone(t, nil, "") {
			return
		}
		if err := syscall.Setuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	h := newTestLibrary(t, Settings{}, Options{})
	folder := lay(t, h.user, "one", "first")
	h.reads("one", "first")
	for _, path := range []string{filepath.Join(folder, "SKILL.md"), folder, h.user} {
		chmod(t, path, 0)
		h.await("the error of "+path, func(c *Catalogue) bool {
			d, ok := c.Find("one")
			return ok && d.Stale && strings.TrimSpace(d.Body) == "first" && d.Diagnostics[0].Code == "unreadable"
		})
		chmod(t, path, 0o755)
		h.await("that it heals", func(c *Catalogue) bool {
			d, ok := c.Find("one")
			return ok && !d.Stale && h.Folders("")[0].Problem == ""
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestRow32Unmounted(t *testing.T) {
	if !alone(t, ownUsers(), noUsers) {
		return
	}
	dir := realDir(t)
	user := filepath.Join(dir, "user")
	mkdir(t, user)
	if err := syscall.Mount("none", user, "tmpfs", 0, ""); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	lay(t, user, "one", "first")
	h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: user}}}, Options{times: places.Times{Watch: watch.Config{Mounts: time.Second}}})
	h.has("one")
	if err := syscall.Unmount(user, 0); err != nil {
		t.Fatal(err)
	}
	h.await("gone, and why", func(c *Catalogue) bool {
		return len(c.All()) == 0 && strings.Contains(h.Folders("")[0].Problem, "file system")
	})
	before := h.built("")
	looks := h.looks()
	time.Sleep(2 * time.Second) // to see that it does not spin
	if n := h.looks() - looks; n > 4 {
		t.Errorf("%d looks in two seconds", n)
	}
	if h.built("") != before {
		t.Error("it changes though nothing happens")
	}
	lay(t, user, "two", "on the disk below")
	h.has("two")
	if err := syscall.Mount("none", user, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(user, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	lay(t, user, "three", "on another file system")
	h.has("three")
	if s := h.Folders("")[0]; s.Problem != "" {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(usable(h.now("")), []string{"three"}) {
		t.Error(describe(h.now("")))
	}
}

func (h *testLibrary) looks() int {
	return h.views.Base.Stats().Checks
}
