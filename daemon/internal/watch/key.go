package watch

import (
	"io/fs"
	"syscall"
	"time"
)

// Identity tells a file from another one that has its place. The zero value is
// no file.
type Identity struct{ Dev, Ino uint64 }

// Key is another one whenever a file may have another content.
type Key struct {
	Identity
	Size    int64
	Written int64 // nanoseconds
	Changed int64 // the same, of anything about the file
}

// KeyOf is the Key of a file.
func KeyOf(info fs.FileInfo) Key {
	k := Key{Size: info.Size(), Written: info.ModTime().UnixNano(), Changed: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		k.Identity = Identity{uint64(st.Dev), uint64(st.Ino)}
		k.Changed = changeTime(st)
	}
	return k
}

// Age is how long ago the file changed, by the clock of its file system, which
// may be ahead of ours.
func (k Key) Age(now time.Time) time.Duration { return now.Sub(time.Unix(0, k.Changed)) }

// Resolution is how old a change must be for the next one to have another time,
// even on file systems that count in seconds.
const Resolution = 2 * time.Second

// Sure reports whether an equal key will mean an equal content.
func (k Key) Sure(now time.Time) bool { return k.Age(now) >= Resolution }

// Moving reports whether the file changed so short ago that it may be half
// written. Of a file system whose clock is ahead it is not known.
func (k Key) Moving(now time.Time, settle time.Duration) bool {
	age := k.Age(now)
	return age >= 0 && age < settle
}
