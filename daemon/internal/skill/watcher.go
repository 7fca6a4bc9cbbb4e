package skill

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk/rpc"
)

// watcher keeps a snapshot of some folders up to date: of the user's and the
// bundled ones, or of those of one workspace.
type watcher struct {
	*watch.Watcher
	o        Options
	hash     func(folder string) (string, error) // for skills of a workspace, else nil
	answered func() func(name string) bool       // of which of them
	changed  func()                              // is called without locks after the snapshot changed
	idle     func(*watcher) bool                 // reports that others have the indexes from now on
	end      context.CancelFunc

	mu      sync.Mutex
	folders []Folder
	shown   []snapshot
	version uint64 // of shown; 0 before the first check

	indexes []*folderIndex // of the checks alone
}

// newWatcher makes a watcher, which start starts.
func newWatcher(o Options, changed func()) *watcher {
	w := &watcher{o: o, changed: changed, idle: func(*watcher) bool { return false }}
	w.Watcher = watch.New(watch.Config{
		Log: o.Log, What: "skills", Check: w.check, Open: o.open, Stall: o.stall,
		Quiet: o.Timings.Quiet, Longest: o.Timings.Longest, Poll: o.Timings.Poll, Every: o.Timings.Every, Retry: o.Timings.Every, Mounts: o.Timings.Mounts,
	})
	return w
}

// start begins to watch, in a goroutine of all. It ends with end.
func (w *watcher) start(all *sync.WaitGroup, folders []Folder) {
	ctx, end := context.WithCancel(context.Background())
	w.end, w.folders = end, folders
	all.Go(func() { w.Run(ctx) })
}

// follow names the folders that count from now on.
func (w *watcher) follow(folders []Folder) {
	w.mu.Lock()
	w.folders = folders
	w.mu.Unlock()
	w.Ask()
}

// check brings the snapshot up to what is on disk.
func (w *watcher) check(p *watch.Pass) (again time.Duration) {
	if w.idle(w) {
		return 0
	}
	w.mu.Lock()
	folders := w.folders
	w.mu.Unlock()
	w.keepIndexes(folders)
	r := rescan{pass: p, parse: w.o.parse, settle: w.o.Timings.Settle, clock: time.Now, remote: w.o.remote}
	if w.hash != nil {
		r.hash, r.answered = w.hash, w.answered()
	}
	unstable := false
	for _, x := range w.indexes {
		p.Path(x.at.Path)
		unstable = x.scan(r) || unstable
	}
	if unstable {
		again = w.o.Timings.Settle
	}
	if unstable && !p.Last {
		return again
	}
	if w.show() {
		p.After = w.changed
	}
	return again
}

// keepIndexes has an index for each folder; those of before are kept.
func (w *watcher) keepIndexes(folders []Folder) {
	old := w.indexes
	w.indexes = make([]*folderIndex, 0, len(folders))
	for _, f := range folders {
		x := &folderIndex{at: f}
		for _, o := range old {
			if sameFolder(o.at, f) {
				x = o
			}
		}
		w.indexes = append(w.indexes, x)
	}
}

// show takes the snapshots of the indexes, and reports whether they differ from
// those of before.
func (w *watcher) show() bool {
	next := make([]snapshot, len(w.indexes))
	for i, x := range w.indexes {
		next[i] = x.now
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.version > 0 && slices.EqualFunc(next, w.shown, snapshot.equal) {
		return false
	}
	w.shown = next
	w.version++
	return true
}

// snapshots are the newest ones of the folders, and their version.
func (w *watcher) snapshots() ([]snapshot, uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown, w.version
}

// states are what people see of the folders.
func (w *watcher) states() []rpc.SkillFolder {
	shown, _ := w.snapshots()
	why := w.Watcher.Polling()
	out := make([]rpc.SkillFolder, 0, len(shown))
	for _, s := range shown {
		state := s.state
		if state.Watching == "" {
			state.Watching = watch.Native()
		}
		if why != "" {
			state.Watching = watchingPolling
			if state.Problem == "" {
				state.Problem = "it is not watched, and changes are found late: " + why
			}
		}
		out = append(out, state)
	}
	return out
}

// polling says why one of the folders is checked again and again.
func (w *watcher) polling() string {
	if why := w.Watcher.Polling(); why != "" {
		return why
	}
	shown, _ := w.snapshots()
	for _, s := range shown {
		if s.state.Watching != "" {
			return s.state.Problem
		}
	}
	return ""
}
