package kept

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// abandoned is for how long nothing was written to a file that its writer left.
const abandoned = time.Hour

// Prune removes contents that were not used for longer than age, and then of the
// others those that were used longest ago, until what is left takes up no more
// than size bytes. Zero is no bound. It returns how many it removed; what it
// cannot remove keeps it from nothing else.
func (s Store) Prune(size int64, age time.Duration) (removed int, err error) {
	unlock, err := s.lock(alone)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nothing was ever kept
	}
	if err != nil {
		return 0, fmt.Errorf("prune kept contents: %w", err)
	}
	defer unlock()
	files, err := s.files()
	if err != nil {
		return 0, fmt.Errorf("prune kept contents: %w", err)
	}
	var total int64
	for _, f := range files {
		total += f.Size()
	}
	var failed []error
	now := time.Now()
	for _, f := range files {
		rests := now.Sub(f.ModTime())
		whole := strings.HasSuffix(f.Name(), ending)
		old := age > 0 && rests > age || size > 0 && total > size
		if whole && !old || !whole && rests < abandoned {
			continue
		}
		if err := os.Remove(filepath.Join(s.Dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
			continue
		}
		total -= f.Size()
		if whole {
			removed++
		}
	}
	return removed, errors.Join(failed...)
}

// files are what is in the folder but for the lock, that first which was not used
// for longest.
func (s Store) files() ([]fs.FileInfo, error) {
	names, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, name := range names {
		info, err := name.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has its name now, or is gone
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && (strings.HasSuffix(name.Name(), ending) || strings.HasPrefix(name.Name(), newPrefix)) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	return files, nil
}

// Who holds the lock: those who add hold it with each other, who removes alone.
// Else contents could go in the moment in which somebody finds that they are there
// already.
const (
	shared = syscall.LOCK_SH
	alone  = syscall.LOCK_EX
)

func (s Store) lock(how int) (unlock func(), err error) {
	if _, err := os.Stat(s.Dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks; nothing is written to it
}
