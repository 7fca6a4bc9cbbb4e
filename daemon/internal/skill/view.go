package skill

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// view follows some folders: the user's and the bundled ones, or those of one workspace.
type view struct {
	*watch.Watcher
	l       *Library
	project string // empty for what all share
	end     context.CancelFunc
	indexes []*folderIndex // of the checks alone

	told *built // the catalogue that Changed knows; by the lock building of the library

	// By the lock mu of the library:
	folders []Folder
	shown   []snapshot
	changes uint64 // of shown; 0 before the first check
	used    time.Time
	made    *built // the newest catalogue
}

// newView begins to follow folders, until its end is called.
func (l *Library) newView(project string, folders []Folder) *view {
	v := &view{l: l, project: project, folders: folders}
	w := l.o.watch
	w.Check = v.check
	v.Watcher = watch.New(w)
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	l.running.Go(func() { v.Run(ctx) })
	return v
}

// follow names the folders that count from now on. It is called with the lock mu.
func (v *view) follow(folders []Folder) {
	if !reflect.DeepEqual(v.folders, folders) {
		v.folders = folders
		v.Ask()
	}
}

// check brings the snapshots up to what is on disk.
func (v *view) check(p *watch.Pass) (again time.Duration) {
	l := v.l
	l.mu.Lock()
	folders := v.folders
	idle := l.projects[v.project] == v && !l.closed && l.o.now().Sub(v.used) >= l.o.idle
	if idle { // nobody asked for the workspace
		delete(l.projects, v.project)
		v.end()
	}
	l.mu.Unlock()
	if idle {
		return 0
	}
	trusted := l.o.Trusted(v.project)
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
			again = l.o.settle
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
