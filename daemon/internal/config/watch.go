package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// quiet is how long the files must have been the same to be read: editors take
// several steps.
const quiet = 100 * time.Millisecond

// Watcher tells when the content of some files may be another. Events only make
// it check; it compares the content, so that a file that is touched, or written
// again as it was, is no change. A file may come and go, be replaced by
// renaming, and lie behind symbolic links or in a folder that is not there yet.
type Watcher struct {
	changed func(still func() bool) bool
	files   *watch.Watcher
	end     func()
	running sync.WaitGroup

	mu     sync.Mutex
	wanted []string

	// Of the checks alone:
	keys  map[string]string // of the content, by file, as changed knows it
	seen  map[string]string // the same, as it was last seen
	since time.Time         // when that was seen first
}

// Watch begins to watch the files that Follow names. It calls changed from a
// goroutine of its own, one call after the other, also once for each file that
// is new to it: whatever was read of it before may be old. What changed reads is
// whole only if still answers true afterwards: an editor may be writing again.
// When changed returns false it is called again.
func Watch(log hclog.Logger, changed func(still func() bool) bool) *Watcher {
	return watchWith(log, changed, watch.Open)
}

func watchWith(log hclog.Logger, changed func(func() bool) bool, open func() (watch.Notifier, error)) *Watcher {
	w := &Watcher{changed: changed, keys: map[string]string{}}
	w.files = watch.New(watch.Config{
		Log: log, What: "files of the configuration", Check: w.check,
		Quiet: quiet, Longest: 2 * time.Second, Poll: 2 * time.Second, Every: time.Minute, Open: open,
	})
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	w.running.Go(func() { w.files.Run(ctx) })
	return w
}

// Follow names the files that count from now on, by absolute paths. It may be
// called from within changed.
func (w *Watcher) Follow(files []string) {
	w.mu.Lock()
	w.wanted = slices.Clone(files)
	w.mu.Unlock()
	w.files.Ask()
}

// Polling says why the files are read again and again instead of being watched;
// it is empty when they are watched.
func (w *Watcher) Polling() string { return w.files.Polling() }

// Close ends the watching. It waits for a call of changed that runs.
func (w *Watcher) Close() {
	w.end()
	w.running.Wait()
}

// check reads the files and tells when they are others than before. What was not
// the same for a while may be half written.
func (w *Watcher) check(p *watch.Pass) (again time.Duration) {
	w.mu.Lock()
	files := w.wanted
	w.mu.Unlock()
	for _, file := range files {
		p.Path(file) // before reading: what changes afterwards makes an event
	}
	maps.DeleteFunc(w.keys, func(file, _ string) bool { return !slices.Contains(files, file) })
	keys := contentKeys(files)
	if maps.Equal(keys, w.keys) {
		return 0
	}
	if !maps.Equal(keys, w.seen) {
		w.seen, w.since = keys, time.Now()
	}
	if time.Since(w.since) < quiet || !w.changed(func() bool { return maps.Equal(keys, contentKeys(files)) }) {
		return quiet
	}
	w.keys = keys
	return 0
}

func contentKeys(files []string) map[string]string {
	keys := map[string]string{}
	for _, file := range files {
		keys[file] = contentKey(file)
	}
	return keys
}

// contentKey is another one whenever the content of a file is, or what keeps it
// from being read.
func contentKey(path string) string {
	text, err := readRegular(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}
