package places

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// Times are when folders are looked through.
type Times struct {
	Watch  watch.Config
	Settle time.Duration // how long a file must not have changed to be whole
	Idle   time.Duration // after which an unused workspace is not watched any more
	Now    func() time.Time
}

// WithUsual is the Times with what they leave out.
func (t Times) WithUsual() Times {
	w := &t.Watch
	for at, usual := range map[*time.Duration]time.Duration{
		&w.Quiet: 150 * time.Millisecond, &w.Longest: 2 * time.Second, &w.Mounts: 2 * time.Second, &w.Poll: 3 * time.Second, &w.Every: time.Minute,
		&t.Settle: 100 * time.Millisecond, &t.Idle: 15 * time.Minute,
	} {
		*at = cmp.Or(*at, usual)
	}
	if w.Retry = w.Every; t.Now == nil {
		t.Now = time.Now
	}
	return t
}

// View follows the folders that all projects share, or those of one workspace. A library embeds it in a type of its own,
// which has what was found in them.
type View struct {
	*watch.Watcher
	Project string // empty for what all share
	end     context.CancelFunc

	// By the lock of the library:
	folders []Folder
	used    time.Time
}

func (v *View) view() *View { return v }

// Viewing is a type that embeds a View.
type Viewing interface{ view() *View }

// Views are those of a library: one of what all projects share, and one of each workspace in use, which is followed until
// nobody asked for it for a while. They are by the lock of the library, which all methods but Close are called with.
type Views[V Viewing] struct {
	Base     V
	Projects map[string]V // in use

	lock    sync.Locker
	times   Times
	make    func(*View) V
	check   func(v V, folders []Folder, p *watch.Pass) (again time.Duration)
	closed  bool
	running sync.WaitGroup
}

// Follow begins to follow the folders that all share. It is called with the lock, so that what the first check asks for is
// there; check is called without it.
func Follow[V Viewing](lock sync.Locker, t Times, shared []Folder, make func(*View) V, check func(v V, folders []Folder, p *watch.Pass) time.Duration) *Views[V] {
	vs := &Views[V]{Projects: map[string]V{}, lock: lock, times: t, make: make, check: check}
	vs.Base = vs.begin("", shared)
	return vs
}

// Close ends the watching, and waits for the check that is made. It is called without the lock.
func (vs *Views[V]) Close() {
	vs.lock.Lock()
	vs.closed = true
	for _, v := range vs.All() {
		v.view().end()
	}
	vs.lock.Unlock()
	vs.running.Wait()
}

// All are all of them, the shared one first.
func (vs *Views[V]) All() []V {
	return append([]V{vs.Base}, slices.Collect(maps.Values(vs.Projects))...)
}

// In are the views that a project needs, the shared one first. Its workspace is in use from then on, in these folders when
// it was not.
func (vs *Views[V]) In(project string, folders func() []Folder) []V {
	v, is := vs.Projects[project]
	if project == "" || !is && vs.closed {
		return []V{vs.Base}
	}
	if !is {
		v = vs.begin(project, folders())
		vs.Projects[project] = v
	}
	v.view().used = vs.times.Now()
	return []V{vs.Base, v}
}

// Move names the folders that count from now on: those that all share, and those of each project in use.
func (vs *Views[V]) Move(shared []Folder, of func(project string) []Folder) {
	vs.Base.view().move(shared)
	for project, v := range vs.Projects {
		v.view().move(of(project))
	}
}

func (v *View) move(folders []Folder) {
	if !reflect.DeepEqual(v.folders, folders) {
		v.folders = folders
		v.Ask()
	}
}

// begin begins to follow folders, until the view's end is called.
func (vs *Views[V]) begin(project string, folders []Folder) V {
	v := &View{Project: project, folders: folders, used: vs.times.Now()}
	made := vs.make(v)
	w := vs.times.Watch
	w.Check = func(p *watch.Pass) time.Duration { return vs.checked(made, p) }
	v.Watcher = watch.New(w)
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	vs.running.Go(func() { v.Run(ctx) })
	return made
}

// checked is one check, unless nobody asked for the workspace.
func (vs *Views[V]) checked(made V, p *watch.Pass) (again time.Duration) {
	v := made.view()
	vs.lock.Lock()
	folders := v.folders
	now, used := vs.Projects[v.Project]
	idle := used && now.view() == v && !vs.closed && vs.times.Now().Sub(v.used) >= vs.times.Idle
	if idle {
		delete(vs.Projects, v.Project)
		v.end()
	}
	vs.lock.Unlock()
	if idle {
		return 0
	}
	return vs.check(made, folders, p)
}
