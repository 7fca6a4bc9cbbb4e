package skill

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// identity tells a file from another one that has its place.
type identity struct{ dev, ino uint64 }

// fileKey is another one whenever a file may have another content.
type fileKey struct {
	identity
	size    int64
	written int64 // nanoseconds
	changed int64 // the same, of anything about the file
}

// surely is how old a change must be for the next one to have another time,
// even on file systems that count in seconds.
const surely = 2 * time.Second

// age is how long ago the file changed, by the clock of its file system.
func (k fileKey) age(now time.Time) time.Duration { return now.Sub(time.Unix(0, k.changed)) }

// sure reports whether an equal key will mean an equal content.
func (k fileKey) sure(now time.Time) bool { return k.age(now) >= surely }

func keyOf(info fs.FileInfo) fileKey {
	k := fileKey{size: info.Size(), written: info.ModTime().UnixNano(), changed: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		k.identity = identity{uint64(st.Dev), uint64(st.Ino)}
		k.changed = changeTime(st)
	}
	return k
}

// notFolder reports whether a path leads through what is no folder.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
