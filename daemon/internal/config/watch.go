package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/notify"
)

// When a Watcher looks at its files.
const (
	quiet     = 100 * time.Millisecond // after the last event, and again: editors take several steps
	pollEvery = 2 * time.Second        // where watching is impossible
	lookEvery = time.Minute            // in any case: not everything makes an event
)

// Watcher tells when the content of some files may be another. Events only make
// it look; what it compares is the content, so that a file that is touched, or
// written again as it was, is no change. A file may come and go, be replaced by
// renaming, and lie behind symbolic links or in a folder that is not there yet.
type Watcher struct {
	log     hclog.Logger
	changed func(still func() bool) bool
	open    func() (notify.Notifier, error)

	asked chan struct{} // filled when wanted is another
	done  chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	wanted []string
	why    string // for polling; empty when it watches
}

// Watch begins to watch the files that Follow names. It calls changed from a
// goroutine of its own, one call after the other, also once for each file that
// is new to it: whatever was read of it before may be old. What changed reads is
// whole only if still answers true afterwards: an editor may be writing again.
// When changed returns false it is called again.
func Watch(log hclog.Logger, changed func(still func() bool) bool) *Watcher {
	return watch(log, changed, notify.Open)
}

func watch(log hclog.Logger, changed func(func() bool) bool, open func() (notify.Notifier, error)) *Watcher {
	w := &Watcher{log: log, changed: changed, open: open, asked: make(chan struct{}, 1), done: make(chan struct{})}
	w.wg.Go(w.run)
	return w
}

// Follow names the files that count from now on, by absolute paths. It may be
// called from within changed.
func (w *Watcher) Follow(files []string) {
	w.mu.Lock()
	w.wanted = slices.Clone(files)
	w.mu.Unlock()
	select {
	case w.asked <- struct{}{}:
	default: // it will look anyway
	}
}

// Polling says why the files are read again and again instead of being watched;
// it is empty when they are watched.
func (w *Watcher) Polling() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// Close ends the watching. It waits for a call of changed that runs.
func (w *Watcher) Close() {
	close(w.done)
	w.wg.Wait()
}

// vigil is the state of a Watcher's goroutine.
type vigil struct {
	w       *Watcher
	files   []string
	keys    map[string]string // of the content, by file, as changed knows it
	seen    map[string]string // the same, as it was last seen
	since   time.Time         // when that was seen first
	notify  notify.Notifier   // nil when it polls
	folders map[string]string // the identity of each that is watched
	names   map[string]bool   // whose events count
}

func (w *Watcher) run() {
	v := &vigil{w: w, keys: map[string]string{}, folders: map[string]string{}}
	defer v.end()
	v.begin()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	later := time.NewTimer(lookEvery)
	defer later.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-w.asked:
			v.follow()
		case e, ok := <-v.events():
			if ok && !v.counts(e) {
				continue
			}
			due.Reset(quiet)
			continue
		case err := <-v.errors():
			w.log.Debug("events were lost, so that the files are read", "error", err)
		case <-due.C:
		case <-later.C:
			v.begin() // again, should it poll
		}
		if !v.look() {
			due.Reset(quiet)
		}
		later.Reset(v.pause())
	}
}

func (v *vigil) events() <-chan fsnotify.Event {
	if v.notify == nil {
		return nil
	}
	return v.notify.Events()
}

func (v *vigil) errors() <-chan error {
	if v.notify == nil {
		return nil
	}
	return v.notify.Errors()
}

func (v *vigil) pause() time.Duration {
	if v.notify == nil {
		return pollEvery
	}
	return lookEvery
}

// begin opens the notifier, if it is not open.
func (v *vigil) begin() {
	if v.notify != nil {
		return
	}
	n, err := v.w.open()
	if err != nil {
		v.poll(err)
		return
	}
	v.notify = n
	v.rewatch()
	if v.notify != nil {
		v.w.setWhy("")
	}
}

// poll gives the notifier up.
func (v *vigil) poll(reason error) {
	v.end()
	if v.w.setWhy(reason.Error()) {
		v.w.log.Warn("the configuration cannot be watched and is read again and again", "every", pollEvery, "reason", reason)
	}
}

func (w *Watcher) setWhy(why string) (fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh = w.why != why
	w.why = why
	return fresh
}

func (v *vigil) end() {
	if v.notify != nil {
		_ = v.notify.Close() // nothing is waited for any more
	}
	v.notify, v.folders = nil, map[string]string{}
}

func (v *vigil) follow() {
	v.w.mu.Lock()
	v.files = v.w.wanted
	v.w.mu.Unlock()
	maps.DeleteFunc(v.keys, func(file, _ string) bool { return !slices.Contains(v.files, file) })
}

// counts reports whether an event may concern one of the files.
func (v *vigil) counts(e fsnotify.Event) bool {
	_, folder := v.folders[e.Name]
	if folder && e.Has(fsnotify.Remove|fsnotify.Rename) {
		delete(v.folders, e.Name) // the kernel has let go of it
	}
	return folder || v.names[e.Name]
}

// look reads the files and tells when they are others than before. False asks
// to look again soon: what was not the same for a while may be half written.
func (v *vigil) look() bool {
	v.rewatch() // before reading: what changes afterwards makes an event
	keys := contentKeys(v.files)
	if maps.Equal(keys, v.keys) {
		return true
	}
	if !maps.Equal(keys, v.seen) {
		v.seen, v.since = keys, time.Now()
	}
	if time.Since(v.since) < quiet {
		return false
	}
	if !v.w.changed(func() bool { return maps.Equal(keys, contentKeys(v.files)) }) {
		return false
	}
	v.keys = keys
	return true
}

// rewatch watches the folders in which something can happen to the files, as
// they are now.
func (v *vigil) rewatch() {
	if v.notify == nil {
		return
	}
	folders := map[string]bool{}
	v.names = map[string]bool{}
	for _, file := range v.files {
		route(file, folders, v.names)
	}
	for folder, id := range v.folders {
		if !folders[folder] || identity(folder) != id {
			_ = v.notify.Remove(folder) // it may be gone by itself
			delete(v.folders, folder)
		}
	}
	for folder := range folders {
		if _, known := v.folders[folder]; known {
			continue
		}
		id := identity(folder)
		err := v.notify.Add(folder)
		if err != nil && !os.IsNotExist(err) {
			v.poll(fmt.Errorf("watch %s: %w", folder, err))
			return
		}
		if err == nil {
			v.folders[folder] = id
		}
	}
}

// identity tells a folder from another one at the same path.
func identity(folder string) string {
	info, err := os.Lstat(folder)
	if err != nil {
		return err.Error()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}
