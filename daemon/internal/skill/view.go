package skill

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk/rpc"
)

// view follows some folders: the user's and the bundled ones, or those of one
// workspace.
type view struct {
	*watch.Watcher
	l       *Library
	project string // empty for what all share
	end     context.CancelFunc
	indexes []*folderIndex // of the checks alone

	mu      sync.Mutex
	folders []Folder
	shown   []snapshot
	version uint64 // of shown; 0 before the first check

	// Of the library, by its lock mu:
	used time.Time
	made *built // the newest catalogue
	told *built // the one that OnChange's function knows
}

// newView begins to follow folders, until its end is called.
func (l *Library) newView(project string, folders []Folder) *view {
	v := &view{l: l, project: project, folders: folders}
	t := l.o.Timings
	v.Watcher = watch.New(watch.Config{
		Log: l.o.Log, What: "skills", Check: v.check, Open: l.o.open, Stall: l.o.stall,
		Quiet: t.Quiet, Longest: t.Longest, Poll: t.Poll, Every: t.Every, Retry: t.Every, Mounts: t.Mounts,
	})
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	l.running.Go(func() { v.Run(ctx) })
	return v
}

// follow names the folders that count from now on.
func (v *view) follow(folders []Folder) {
	v.mu.Lock()
	same := slices.EqualFunc(v.folders, folders, sameFolder)
	v.folders = folders
	v.mu.Unlock()
	if !same {
		v.Ask()
	}
}

// check brings the snapshots up to what is on disk.
func (v *view) check(p *watch.Pass) (again time.Duration) {
	if v.l.letGo(v) {
		return 0
	}
	v.mu.Lock()
	folders := v.folders
	v.mu.Unlock()
	r := rescan{pass: p, settle: v.l.o.Timings.Settle, clock: time.Now, remote: v.l.o.remote}
	if v.project != "" {
		r.hash, r.answered = v.l.o.hash, v.l.o.Answered(v.project)
	}
	old := v.indexes
	v.indexes = nil
	for _, f := range folders {
		x := &folderIndex{at: f}
		if i := slices.IndexFunc(old, func(o *folderIndex) bool { return sameFolder(o.at, f) }); i >= 0 {
			x = old[i]
		}
		v.indexes = append(v.indexes, x)
		p.Path(f.Path)
		if x.scan(r) {
			again = r.settle
		}
	}
	if again > 0 && !p.Last {
		return again
	}
	if v.show() {
		p.After = v.l.refresh
	}
	return again
}

// show takes the snapshots of the indexes, and reports whether they differ from
// those of before.
func (v *view) show() bool {
	next := make([]snapshot, len(v.indexes))
	for i, x := range v.indexes {
		next[i] = x.now
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.version > 0 && slices.EqualFunc(next, v.shown, snapshot.equal) {
		return false
	}
	v.shown = next
	v.version++
	return true
}

// snapshots are the newest ones of the folders, and their version.
func (v *view) snapshots() ([]snapshot, uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown, v.version
}

// states are what people see of the folders.
func (v *view) states() []rpc.SkillFolder {
	shown, _ := v.snapshots()
	why := v.Polling()
	out := make([]rpc.SkillFolder, 0, len(shown))
	for _, s := range shown {
		state := s.state
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
