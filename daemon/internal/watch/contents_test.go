package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a Watcher over one file, whose content is read at each change.
type watched struct {
	*Contents
	t    *testing.T
	path string

	mu    sync.Mutex
	texts []string
	came  chan struct{}
}

func newWatched(t *testing.T, path string, open func() (Notifier, error)) *watched {
	w := &watched{t: t, path: path, came: make(chan struct{}, 1000)}
	w.Contents = newContents(hclog.NewNullLogger(), "files", 1<<20, w.changed, open)
	t.Cleanup(w.Close)
	w.Follow([]string{path})
	w.await(func([]string) bool { return true }) // what is new is told of
	return w
}

func (w *watched) changed(still func() bool) bool {
	text, err := os.ReadFile(w.path)
	if err != nil {
		text = []byte("gone")
	}
	if !still() {
		return false
	}
	w.mu.Lock()
	w.texts = append(w.texts, string(text))
	w.mu.Unlock()
	w.came <- struct{}{}
	return true
}

// await waits until what was told satisfies ok, for a time that only a defect
// reaches.
func (w *watched) await(ok func(texts []string) bool) []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		w.mu.Lock()
		texts := append([]string(nil), w.texts...)
		w.mu.Unlock()
		if len(texts) > 0 && ok(texts) {
			return texts
		}
		select {
		case <-w.came:
		case <-ctx.Done():
			w.t.Fatalf("it was told of %q", texts)
		}
	}
}

// sees waits until the content is told of, and returns how often it was told
// since the last time.
func (w *watched) sees(text string) int {
	w.t.Helper()
	texts := w.await(func(texts []string) bool { return texts[len(texts)-1] == text })
	w.mu.Lock()
	w.texts = nil
	w.mu.Unlock()
	return len(texts)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestCatchUp: who saved a file and asks at once sees it, whether or not its folder can be
// watched; who asks when nothing was saved does not wait for a check.
func TestCatchUp(t *testing.T) {
	for name, open := range map[string]func() (Notifier, error){"watching": Open, "polling": func() (Notifier, error) { return nil, errors.New("no watches") }} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.hcl")
			w := newWatched(t, path, open)
			for i := range 5 {
				text := fmt.Sprint("text ", i)
				put(t, path, text)
				check(t, w.CatchUp(t.Context(), 20*time.Second))
				w.mu.Lock()
				if last := w.texts[len(w.texts)-1]; last != text {
					t.Errorf("behind a save of %q it was told of %q", text, last)
				}
				w.mu.Unlock()
			}
			before := w.files.Stats().Checks
			check(t, w.CatchUp(t.Context(), 20*time.Second))
			if after := w.files.Stats().Checks; name == "polling" && after != before {
				t.Errorf("nothing was saved, and %d checks were made", after-before)
			}
		})
	}
}

// TestWatchWaysOfSaving: whatever way an editor saves a file, it is told of once
// with its whole text, and the next save is seen as well.
func TestWatchWaysOfSaving(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(t *testing.T, path, text string){
		"in place": put,
		"written beside and renamed": func(t *testing.T, path, text string) {
			put(t, path+".tmp", text)
			check(t, os.Rename(path+".tmp", path))
		},
		"moved away first": func(t *testing.T, path, text string) {
			check(t, os.Rename(path, path+"~"))
			put(t, path, text)
		},
		"removed and written": func(t *testing.T, path, text string) {
			check(t, os.Remove(path))
			put(t, path, text)
		},
		"in two halves": func(t *testing.T, path, text string) {
			put(t, path, text[:2])
			time.Sleep(60 * time.Millisecond) // an editor's, shorter than the quiet that is waited for
			put(t, path, text)
		},
		"with a swap file": func(t *testing.T, path, text string) {
			put(t, path+".swp", "noise")
			put(t, path, text)
			check(t, os.Remove(path+".swp"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config.hcl")
			put(t, path, "zero")
			w := newWatched(t, path, Open)
			w.sees("zero")
			for _, text := range []string{"first", "second"} {
				save(t, path, text)
				if n := w.sees(text); n != 1 {
					t.Errorf("%s was told %d times", text, n)
				}
			}
		})
	}
}

// TestWatchWhatIsNotThere: files and folders that come, go and come back.
func TestWatchWhatIsNotThere(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "bothy")
	path := filepath.Join(dir, "config.hcl")
	w := newWatched(t, path, Open)
	w.sees("gone")
	for n := range 3 {
		check(t, os.MkdirAll(dir, 0o700))
		put(t, path, fmt.Sprint("made ", n))
		w.sees(fmt.Sprint("made ", n))
		put(t, path, fmt.Sprint("changed ", n))
		w.sees(fmt.Sprint("changed ", n))
		check(t, os.RemoveAll(dir))
		w.sees("gone")
	}
	other := filepath.Join(home, "other")
	check(t, os.Mkdir(other, 0o700))
	put(t, filepath.Join(other, "config.hcl"), "moved in")
	check(t, os.Rename(other, dir))
	w.sees("moved in")
}

// TestWatchLinks: dotfiles are links, to a file or of a folder on the way.
func TestWatchLinks(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(home string) (place, target string){
		"of the file":   func(h string) (string, string) { return filepath.Join(h, "bothy", "config.hcl"), "config.hcl" },
		"of the folder": func(h string) (string, string) { return filepath.Join(h, "bothy"), "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for _, version := range []string{"one", "two"} {
				check(t, os.MkdirAll(filepath.Join(home, "dotfiles", version), 0o700))
				put(t, filepath.Join(home, "dotfiles", version, "config.hcl"), version)
			}
			place, file := link(home)
			check(t, os.MkdirAll(filepath.Dir(place), 0o700))
			check(t, os.Symlink(filepath.Join("..", "x"), filepath.Join(home, "unused")))
			check(t, os.Symlink(filepath.Join(home, "dotfiles", "one", file), place))
			w := newWatched(t, filepath.Join(home, "bothy", "config.hcl"), Open)
			w.sees("one")
			put(t, filepath.Join(home, "dotfiles", "one", "config.hcl"), "one, edited")
			w.sees("one, edited")
			check(t, os.Symlink(filepath.Join(home, "dotfiles", "two", file), place+".new"), os.Rename(place+".new", place))
			w.sees("two")
			put(t, filepath.Join(home, "dotfiles", "one", "config.hcl"), "not meant any more")
			put(t, filepath.Join(home, "dotfiles", "two", "config.hcl"), "two, edited")
			if n := w.sees("two, edited"); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// TestWatchNoChange: what leaves the content as it was is not told of.
func TestWatchNoChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.hcl")
	put(t, path, "same")
	w := newWatched(t, path, Open)
	w.sees("same")
	now := time.Now()
	check(t, os.Chtimes(path, now, now))
	put(t, path, "same")
	check(t, os.Chmod(path, 0o640))
	put(t, filepath.Join(filepath.Dir(path), "other"), "not followed")
	time.Sleep(3 * quiet) // longer than a change would take to be told of
	put(t, path, "another")
	if n := w.sees("another"); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}

// TestWatchManySaves: a storm is told of a few times, and its end is.
func TestWatchManySaves(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.hcl")
	put(t, path, "0")
	w := newWatched(t, path, Open)
	w.sees("0")
	for n := range 1000 {
		put(t, path, fmt.Sprint(n+1))
	}
	if n := w.sees("1000"); n > 7 {
		t.Errorf("1000 saves were told of %d times", n)
	}
}

// TestWatchTornRead: what was read while somebody wrote is read again, although
// the content is at last what it was at first.
func TestWatchTornRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.hcl")
	put(t, path, "whole")
	var torn sync.Once
	calls := make(chan bool, 10)
	w := newContents(hclog.NewNullLogger(), "files", 1<<20, func(still func() bool) bool {
		torn.Do(func() { put(t, path, "who") })
		ok := still()
		calls <- ok
		if !ok {
			put(t, path, "whole")
		}
		return ok
	}, Open)
	defer w.Close()
	w.Follow([]string{path})
	if first, second := <-calls, <-calls; first || !second {
		t.Errorf("the torn read was taken: %v, the whole one not: %v", first, second)
	}
}

// TestWatchReadInVain: what was read is read again where it was not taken, although the files are by then as they were
// when they were taken last: whoever read them may have kept what it read.
func TestWatchReadInVain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	put(t, path, "kept")
	calls := make(chan string, 10)
	var w *Contents
	made := make(chan struct{})
	w = newContents(hclog.NewNullLogger(), "files", 1<<20, func(still func() bool) bool {
		text, err := os.ReadFile(path)
		if err != nil {
			put(t, path, "kept") // it is back before the end of the read
			text = []byte("away")
			<-made
			w.Reading() // somebody else reads them meanwhile
		}
		ok := still()
		calls <- fmt.Sprintf("%s %v", text, ok)
		return ok
	}, Open)
	close(made)
	defer w.Close()
	w.Follow([]string{path})
	for _, want := range []string{"kept true", "away false", "kept true"} {
		select {
		case got := <-calls:
			if got != want {
				t.Fatalf("%s, not %s", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s never came", want)
		}
		if want == "kept true" {
			_ = os.Remove(path) // the last time for nobody
		}
	}
}

// TestReadRegular: a named pipe is not waited for, and what is too long is not
// read.
func TestReadRegular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	check(t, syscall.Mkfifo(pipe, 0o600))
	put(t, file, "text")
	for _, c := range []struct {
		path string
		most int64
		want string
	}{{file, 4, ""}, {file, 3, "more than"}, {pipe, 4, "no regular file"}, {dir, 4, "no regular file"}, {filepath.Join(dir, "none"), 4, "no such file"}} {
		done := make(chan error, 1)
		go func() {
			text, err := ReadRegular(c.path, c.most)
			if err == nil && string(text) != "text" {
				err = fmt.Errorf("read %q", text)
			}
			done <- err
		}()
		select {
		case err := <-done:
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s up to %d: %v, want %q", c.path, c.most, err, c.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("it waits for %s", c.path)
		}
	}
}

// full is a notifier whose kernel has no watches left.
type full struct{ Notifier }

func (full) Add(string) error { return syscall.ENOSPC }

// TestPolling: where watching is impossible the files are read again and again,
// until it is possible.
func TestPolling(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (Notifier, error){
		"no watches": func() (Notifier, error) {
			n, err := Open()
			return full{n}, err
		},
		"no descriptors": func() (Notifier, error) { return nil, syscall.EMFILE },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config.hcl")
			put(t, path, "zero")
			var mu sync.Mutex
			mended := false
			w := newWatched(t, path, func() (Notifier, error) {
				mu.Lock()
				defer mu.Unlock()
				if mended {
					return Open()
				}
				return open()
			})
			w.sees("zero")
			if w.Polling() == "" {
				t.Error("it does not say that it polls")
			}
			put(t, path, "polled")
			if n := w.sees("polled"); n != 1 {
				t.Errorf("told %d times", n)
			}
			mu.Lock()
			mended = true
			mu.Unlock()
			put(t, path, "at last")
			w.sees("at last")
			if why := w.Polling(); why != "" {
				t.Errorf("it still polls: %s", why)
			}
		})
	}
}

// overflowing tells once that events were lost, in the place of one.
type overflowing struct {
	Notifier
	lost chan error
}

func (o overflowing) Events() <-chan fsnotify.Event { return nil }
func (o overflowing) Errors() <-chan error          { return o.lost }

// TestWatchOverflow: when events are lost the files are read.
func TestWatchOverflow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.hcl")
	put(t, path, "zero")
	lost := make(chan error, 1)
	w := newWatched(t, path, func() (Notifier, error) {
		n, err := Open()
		return overflowing{n, lost}, err
	})
	w.sees("zero")
	put(t, path, "unheard")
	lost <- fsnotify.ErrEventOverflow
	w.sees("unheard")
}

// TestWatchReadMeanwhile: a file that somebody reads when it is another, and that is then
// written as it was at the last change, is told of.
func TestWatchReadMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "one")
	w := newWatched(t, path, Open)
	put(t, path, "two")
	w.Reading()
	put(t, path, "one")
	w.await(func(texts []string) bool { return len(texts) > 1 && texts[len(texts)-1] == "one" })
}
