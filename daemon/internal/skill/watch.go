package skill

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/bothyd/bothy/daemon/internal/notify"
)

// nativeName is how people call what fsnotify uses here.
func nativeName() string {
	if runtime.GOOS == "linux" {
		return "inotify"
	}
	return "kqueue"
}

// watches are the folders that one notifier watches. A goroutine of it drains
// the events, so that the kernel's queue stays empty while a look takes long:
// all that is kept of them is that there was one.
type watches struct {
	notify notify.Notifier
	hint   func()          // something may have changed
	fail   func(err error) // it cannot be watched any more
	lost   func()          // events were lost
	stall  func()          // for tests: is called before each event is taken
	wg     sync.WaitGroup

	mu     sync.Mutex
	added  map[string]bool // folders that are watched
	inside map[string]bool // of those, the ones in which all events count
	names  map[string]bool // what counts elsewhere
	moved  bool            // something came or went, so that what is watched may not be what has that path

	// Of the look at work:
	wanted     map[string]bool
	wantInside map[string]bool
	wantNames  map[string]bool
	failed     bool
	again      bool
}

func (w *watches) start() {
	w.added, w.inside, w.names = map[string]bool{}, map[string]bool{}, map[string]bool{}
	w.wg.Go(w.drain)
}

// close ends the watching and waits for the drain.
func (w *watches) close() {
	_ = w.notify.Close() // nothing is waited for any more
	w.wg.Wait()
}

func (w *watches) drain() {
	events, errs := w.notify.Events(), w.notify.Errors()
	for {
		w.stall()
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			if w.counts(e) {
				w.hint()
			}
		case err, ok := <-errs:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.shake()
				w.lost()
			} else {
				w.fail(err)
			}
			w.hint()
		}
	}
}

// counts reports whether an event may concern a skill.
func (w *watches) counts(e fsnotify.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.inside[filepath.Dir(e.Name)] && !w.inside[e.Name] && !w.names[e.Name] {
		return false
	}
	if e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename) {
		w.moved = true
	}
	return true
}

// shake makes the next look watch everything anew.
func (w *watches) shake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved = true
}

// begin begins a look. What came or went since the last may have taken the
// place of a folder that is watched: the kernel watches what lies there, not
// the path. So all are added again then, which costs nothing for those that
// are the same.
func (w *watches) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again, w.moved = w.moved, false
	w.wanted, w.wantInside, w.wantNames = map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// whole watches a folder in which all counts.
func (w *watches) whole(folder string) {
	w.mu.Lock()
	w.inside[folder], w.wantInside[folder] = true, true
	w.mu.Unlock()
	w.add(folder)
}

// name watches a folder for what happens to one name in it.
func (w *watches) name(folder, path string) {
	w.mu.Lock()
	w.names[path], w.wantNames[path] = true, true
	w.mu.Unlock()
	w.add(folder)
}

// add is called without the lock: fsnotify takes its own, which it holds while
// it handles what drain waits for.
func (w *watches) add(folder string) {
	if w.failed || w.wanted[folder] {
		return
	}
	w.wanted[folder] = true
	w.mu.Lock()
	known := w.added[folder]
	w.mu.Unlock()
	if known && !w.again {
		return
	}
	err := w.notify.Add(folder)
	switch {
	case err == nil:
		w.mu.Lock()
		w.added[folder] = true
		w.mu.Unlock()
	case passing(err):
	default:
		w.failed = true
		w.fail(&fs.PathError{Op: "watch", Path: folder, Err: cause(err)})
	}
}

// passing reports whether an error is about the folder, which is gone or closed
// to us: the one above is watched, and tells of its return.
func passing(err error) bool {
	return missing(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP)
}

// end lets go of the folders that the look did not come by.
func (w *watches) end() {
	w.mu.Lock()
	var old []string
	for folder := range w.added {
		if !w.wanted[folder] {
			old = append(old, folder)
			delete(w.added, folder)
		}
	}
	w.inside, w.names = w.wantInside, w.wantNames
	w.mu.Unlock()
	for _, folder := range old {
		_ = w.notify.Remove(folder) // it may be gone by itself
	}
}
