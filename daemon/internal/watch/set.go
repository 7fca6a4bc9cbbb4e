package watch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// set is the folders that one notifier watches. A goroutine takes the events,
// so that the queue of the system stays empty while a check takes long. All that
// is kept of an event is that there was one.
type set struct {
	notify Notifier
	w      *Watcher
	done   chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	added  map[string]bool // the folders that are watched
	inside map[string]bool // the ones of them in which all events count
	names  map[string]bool // paths that count elsewhere
	stale  bool            // another folder may be at the path of one that is watched

	// Of the check at work:
	wanted     map[string]bool
	wantInside map[string]bool
	wantNames  map[string]bool
	failed     bool
	anew       bool
}

func newSet(n Notifier, w *Watcher) *set {
	s := &set{notify: n, w: w, done: make(chan struct{}), added: map[string]bool{}, inside: map[string]bool{}, names: map[string]bool{}}
	s.wg.Go(s.drain)
	return s
}

func (s *set) close() {
	close(s.done)
	_ = s.notify.Close() // nothing is waited for any more
	s.wg.Wait()
}

func (s *set) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.added)
}

// drain takes the events until the set is closed.
func (s *set) drain() {
	events, errs := s.notify.Events(), s.notify.Errors()
	for {
		s.w.cfg.Stall()
		select {
		case <-s.done:
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if s.counts(e) {
				s.w.hint()
			}
		case err, ok := <-errs:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				s.expire()
				s.w.overflow()
			} else {
				s.w.fail(err)
			}
			s.w.hint()
		}
	}
}

// counts reports whether an event may concern what is watched.
func (s *set) counts(e fsnotify.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename)
	if !s.inside[filepath.Dir(e.Name)] && !s.inside[e.Name] && !s.names[e.Name] && !(moved && s.added[e.Name]) {
		return false
	}
	s.stale = s.stale || moved
	return true
}

// expire makes the next check watch all folders anew.
func (s *set) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// begin begins a check. The system watches what lies at a path and not the path:
// when something came or went since the last check, all folders are added again,
// which costs nothing for the same ones.
func (s *set) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anew, s.stale = s.stale, false
	s.wanted, s.wantInside, s.wantNames = map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// folder watches a folder in which all counts.
func (s *set) folder(path string) {
	s.mu.Lock()
	s.inside[path], s.wantInside[path] = true, true
	s.mu.Unlock()
	s.add(path)
}

// name watches a folder for what happens to one path in it.
func (s *set) name(folder, path string) {
	s.mu.Lock()
	s.names[path], s.wantNames[path] = true, true
	s.mu.Unlock()
	s.add(folder)
}

// add is called without the lock: fsnotify holds its own while it hands over
// what drain waits for.
func (s *set) add(folder string) {
	if s.failed || s.wanted[folder] {
		return
	}
	s.wanted[folder] = true
	s.mu.Lock()
	known := s.added[folder]
	s.mu.Unlock()
	if known && !s.anew {
		return
	}
	err := s.notify.Add(folder)
	switch {
	case err == nil:
		s.mu.Lock()
		s.added[folder] = true
		s.mu.Unlock()
	case passing(err):
	default:
		s.failed = true
		s.w.fail(&fs.PathError{Op: "watch", Path: folder, Err: Cause(err)})
	}
}

// end stops watching the folders that the check did not name.
func (s *set) end() {
	s.mu.Lock()
	var old []string
	for folder := range s.added {
		if !s.wanted[folder] {
			old = append(old, folder)
			delete(s.added, folder)
		}
	}
	s.inside, s.names = s.wantInside, s.wantNames
	s.mu.Unlock()
	for _, folder := range old {
		_ = s.notify.Remove(folder) // it may be gone by itself
	}
}

// passing reports whether an error is about the folder, which is gone or closed
// to us: the one above is watched, and tells when the folder comes back.
func passing(err error) bool {
	return Missing(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP)
}

// Missing reports whether an error says that something is not there, in contrast
// to unreadable.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Cause is an error without the operation and the path, which stand beside it.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
