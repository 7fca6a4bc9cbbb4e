package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// What is kept of plugins that were ended because they did not answer.
const (
	mostStacks = 1 << 20
	keptStacks = 3 // for each plugin
)

// stderrCapture reads a plugin's standard error. From the moment the plugin was told
// to write its stacks, what comes is kept here and not passed on: a log is no
// place for thousands of lines.
type stderrCapture struct {
	from io.Reader

	mu     sync.Mutex
	active bool
	text   []byte
}

// Read implements io.Reader.
func (d *stderrCapture) Read(b []byte) (int, error) {
	for {
		n, err := d.from.Read(b)
		if !d.took(b[:n]) {
			return n, err
		}
		if err != nil {
			return 0, err
		}
	}
}

// took keeps b, when what comes is to be kept; the rest of too much is dropped.
func (d *stderrCapture) took(b []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active {
		d.text = append(d.text, b[:min(len(b), mostStacks-len(d.text))]...)
	}
	return d.active
}

// begin keeps from now on what comes.
func (d *stderrCapture) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active = true
}

func (d *stderrCapture) taken() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// keepStacks writes a new file for what a plugin wrote of itself at its end, and
// removes all but the newest of that plugin.
func keepStacks(dataDir, instance string, text []byte, now time.Time) (string, error) {
	dir := filepath.Join(dataDir, "plugins", "stacks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of stacks: %w", err)
	}
	name := instance + now.UTC().Format("-20060102T150405.000000000") + ".txt"
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("keep the stacks of a plugin: %w", err)
	}
	const stamp = "-????????T??????.?????????.txt"
	old, err := filepath.Glob(filepath.Join(dir, instance+stamp))
	if err != nil {
		return file, err
	}
	slices.Sort(old) // by time
	for _, f := range old[:max(0, len(old)-keptStacks)] {
		if err := os.Remove(f); err != nil {
			return file, fmt.Errorf("remove old stacks: %w", err)
		}
	}
	return file, nil
}
