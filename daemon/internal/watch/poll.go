package watch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Native is how people call what the system watches with.
func Native() string {
	if runtime.GOOS == "linux" {
		return "inotify"
	}
	return "kqueue"
}

// beginWatching opens a notifier, if there is none. It does not try too often:
// to take all watches that are left and give them back costs much.
func (w *Watcher) beginWatching() {
	if w.set != nil || !w.tried.IsZero() && time.Since(w.tried) < max(w.cfg.Retry, w.cfg.Poll/2) {
		return
	}
	w.tried = time.Now()
	n, err := w.cfg.Open()
	if err != nil {
		w.poll(err)
		return
	}
	w.use(newSet(n, w))
}

// fail makes the check at work give the notifier up at its end, or the next one.
func (w *Watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// overflow notes that the system dropped events.
func (w *Watcher) overflow() {
	w.mu.Lock()
	w.lost++
	w.mu.Unlock()
	w.cfg.Log.Warn("events were lost, so that all " + w.cfg.What + " are checked")
}

// settle gives a notifier up that failed during a check, and otherwise notes
// that it works.
func (w *Watcher) settle() {
	w.mu.Lock()
	err := w.failed
	w.failed = nil
	if err == nil && w.set != nil {
		w.why = ""
	}
	w.mu.Unlock()
	if err != nil {
		w.stopWatching()
		w.poll(err)
	}
}

// poll notes why files are checked again and again.
func (w *Watcher) poll(err error) {
	why := remedy(err)
	w.mu.Lock()
	fresh := w.why != why
	w.why = why
	w.mu.Unlock()
	if fresh {
		w.cfg.Log.Warn(w.cfg.What+" cannot be watched and are checked again and again", "every", w.cfg.Poll, "reason", why)
	}
}

// remedy says what a person can do about an error, where that is known.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("%v: raise the sysctl fs.inotify.max_user_watches", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Sprintf("%v: raise the sysctl fs.inotify.max_user_instances, or the limit on open files", err)
	}
	return err.Error()
}

func (w *Watcher) stopWatching() {
	if w.set != nil {
		w.set.close()
	}
	w.use(nil)
}

func (w *Watcher) use(s *set) {
	w.mu.Lock()
	w.set = s
	w.mu.Unlock()
}

// watchAnew makes the next check watch all folders anew: some watches may have
// gone without an event.
func (w *Watcher) watchAnew() {
	if w.set != nil {
		w.set.expire()
	}
}

// replaced reports whether something else is at one of the paths than at the
// last check.
func (w *Watcher) replaced() bool {
	for path, was := range w.places {
		if is, ok := placeOf(path); ok && is != was {
			return true
		}
	}
	return false
}

// placeOf is what is at a path: nothing is an Identity too. False means that it
// cannot be found out.
func placeOf(path string) (Identity, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, Missing(err)
	}
	return KeyOf(info).Identity, true
}
