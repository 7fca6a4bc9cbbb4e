package skill

import (
	"reflect"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// view follows some folders: the user's and the bundled ones, or those of one workspace.
type view struct {
	*places.View
	indexes []*folderIndex // of the checks alone

	told *built // the catalogue that Changed knows; by the lock building of the library

	// By the lock mu of the library:
	shown   []snapshot
	changes uint64 // of shown; 0 before the first check
	made    *built // the newest catalogue
}

// check brings the snapshots up to what is on disk.
func (l *Library) check(v *view, folders []Folder, p *watch.Pass) (again time.Duration) {
	trusted := l.o.Trusted(v.Project)
	old := v.indexes
	v.indexes = nil
	for _, f := range folders {
		x := &folderIndex{at: f}
		if i := slices.IndexFunc(old, func(o *folderIndex) bool { return reflect.DeepEqual(o.at, f) }); i >= 0 {
			x = old[i]
		}
		v.indexes = append(v.indexes, x)
		p.Path(f.Path)
		if x.scan(p, &l.o, trusted) {
			again = l.o.times.Settle
		}
	}
	if again > 0 && !p.Last {
		return again
	}
	next := make([]snapshot, len(v.indexes))
	for i, x := range v.indexes {
		next[i] = x.now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(a, b snapshot) bool { return a.state == b.state && slices.Equal(a.docs, b.docs) }
	if v.changes == 0 || !slices.EqualFunc(next, v.shown, same) {
		v.shown = next
		v.changes++
		p.After = l.refresh
	}
	return again
}
