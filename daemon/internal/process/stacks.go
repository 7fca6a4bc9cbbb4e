package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// keptStacks is how many files are kept of each plugin.
const keptStacks = 3

// KeepStacks writes a new file below the daemon's data for what a plugin wrote of itself
// at its end, and removes all but the newest of that plugin.
func KeepStacks(dataDir, plugin string, text []byte, now time.Time) (string, error) {
	dir := filepath.Join(dataDir, "plugins", "stacks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of stacks: %w", err)
	}
	file := filepath.Join(dir, plugin+now.UTC().Format("-20060102T150405.000000000")+".txt")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("keep the stacks of a plugin: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(dir, plugin+"-????????T??????.?????????.txt"))
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
