package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// quiet is how long the files must have been the same to be read: editors take
// several steps.
const quiet = 100 * time.Millisecond

// Contents tells when the content of some files may be another. Events only make
// it check; it compares the content, so that a file that is touched, or written
// again as it was, is no change. A file may come and go, be replaced by
// renaming, and lie behind symbolic links or in a folder that is not there yet.
type Contents struct {
	most    int64
	changed func(still func() bool) bool
	files   *Watcher
	end     func()
	running sync.WaitGroup

	mu     sync.Mutex
	wanted []string
	known  map[string]string // what Reading found; nil since the last check
	looked map[string]Key    // the files as the last check found them

	// Of the checks alone:
	keys map[string]string // of the content, by file, as changed knows it
	rest Rest
}

// NewContents begins to watch the files that Follow names, of at most most bytes each. It
// calls changed from a goroutine of its own, one call after the other, also once
// for each file that is new to it: whatever was read of it before may be old. What
// changed reads is whole only if still answers true afterwards: an editor may be
// writing again. When changed returns false it is called again.
func NewContents(log hclog.Logger, what string, most int64, changed func(still func() bool) bool) *Contents {
	return newContents(log, what, most, changed, Open)
}

func newContents(log hclog.Logger, what string, most int64, changed func(func() bool) bool, open func() (Notifier, error)) *Contents {
	c := &Contents{most: most, changed: changed, keys: map[string]string{}}
	c.files = New(Config{
		Log: log, What: what, Check: c.check,
		Quiet: quiet, Longest: 2 * time.Second, Poll: 2 * time.Second, Every: time.Minute, Open: open,
	})
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	c.running.Go(func() { c.files.Run(ctx) })
	return c
}

// Follow names the files that count from now on, by absolute paths. It may be
// called from within changed.
func (c *Contents) Follow(files []string) {
	c.mu.Lock()
	c.wanted = slices.Clone(files)
	c.mu.Unlock()
	c.files.Ask()
}

// Reading tells that somebody is about to read the files without having been told that
// they changed: what they are now is what the next change is compared with. Without it a
// file that is written as it was at the last change would be none.
func (c *Contents) Reading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = c.keysOf(c.wanted)
}

// CatchUp waits until what was written before is told, but no longer than patience: who saved
// a file and asks about it then sees it.
func (c *Contents) CatchUp(ctx context.Context, patience time.Duration) error {
	c.mu.Lock()
	same := maps.Equal(c.looked, looksOf(c.wanted))
	c.mu.Unlock()
	if !same {
		c.files.Ask() // its event, if there is one, may still be on its way
	}
	return c.files.CatchUp(ctx, patience)
}

// Polling says why the files are read again and again instead of being watched;
// it is empty when they are watched.
func (c *Contents) Polling() string { return c.files.Polling() }

// Close ends the watching. It waits for a call of changed that runs.
func (c *Contents) Close() {
	c.end()
	c.running.Wait()
}

// check reads the files and tells when they are others than before. What was not
// the same for a while may be half written.
func (c *Contents) check(p *Pass) (again time.Duration) {
	c.mu.Lock()
	files := c.wanted
	if c.known != nil {
		c.keys, c.known = c.known, nil
	}
	c.looked = looksOf(files)
	c.mu.Unlock()
	for _, file := range files {
		p.Path(file) // before reading: what changes afterwards makes an event
	}
	maps.DeleteFunc(c.keys, func(file, _ string) bool { return !slices.Contains(files, file) })
	keys := c.keysOf(files)
	if maps.Equal(keys, c.keys) {
		return 0
	}
	if c.rest.Left(fmt.Sprint(keys), quiet) > 0 {
		return quiet
	}
	if !c.changed(func() bool { return maps.Equal(keys, c.keysOf(files)) }) {
		// Changed may have kept what it read: also files that are as they were before are another content.
		c.mu.Lock()
		c.keys, c.known = map[string]string{}, nil
		c.mu.Unlock()
		return quiet
	}
	c.keys = keys
	return 0
}

// looksOf has for each file that is there what is mostly another one when its content is.
func looksOf(files []string) map[string]Key {
	looks := map[string]Key{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			looks[file] = KeyOf(info)
		}
	}
	return looks
}

// keysOf has for each file what is another one whenever its content is, or what
// keeps it from being read.
func (c *Contents) keysOf(files []string) map[string]string {
	keys := map[string]string{}
	for _, file := range files {
		text, err := ReadRegular(file, c.most)
		if keys[file] = fmt.Sprintf("%x", sha256.Sum256(text)); err != nil {
			keys[file] = err.Error()
		}
	}
	return keys
}

// Rest knows since when something is as it is: what was not the same for a while
// may be half written. The zero value has seen nothing.
type Rest struct {
	seen  string
	since time.Time
}

// Left is how long something, as a key tells it, must still stay the same to have
// rested for long enough; 0 when it has.
func (r *Rest) Left(key string, enough time.Duration) time.Duration {
	if r.seen != key || r.since.IsZero() {
		r.seen, r.since = key, time.Now()
	}
	return max(0, enough-time.Since(r.since))
}

// ReadRegular reads a regular file of at most most bytes. It waits for no pipe.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d MiB, which is more than is read", path, most>>20)
	}
	return text, err
}
