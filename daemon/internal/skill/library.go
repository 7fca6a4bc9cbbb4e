package skill

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// patience is how long a turn waits for a change that is being taken in.
const patience = 500 * time.Millisecond

// Options are what a Library needs beside its Settings. Only Home may be left out.
type Options struct {
	Log     hclog.Logger
	Trusted func(project string) map[string]string // hashes of folders that people trust, by the names of the skills: no other folder is hashed. It may not ask the library
	Changed func(rpc.SkillsChanged)                // is told of changes, one after the other; what changes for all projects not again for each. It may ask the library, but not Close it
	Home    string                                 // above which no workspace is looked for; empty is the user's

	watch  watch.Config  // its times: when the folders are checked
	settle time.Duration // how long a file must not have changed to be whole
	idle   time.Duration // after which an unused workspace is not watched any more
	now    func() time.Time
	hash   func(folder string, enter func(dir string)) (string, error) // hashFolder
	remote func(folder string) string                                  // names a file system that makes no events
}

// Library is the skills on disk. It watches the folders and makes a catalogue of
// what is in them, for each project that is in use.
type Library struct {
	o Options

	running sync.WaitGroup // the views

	// The locks, in the order in which they are taken.
	notifying sync.Mutex // held over Changed
	building  sync.Mutex // held over Trusted, while catalogues are made
	mu        sync.Mutex

	settings Settings
	changes  uint64 // of the settings and the trust
	closed   bool
	base     *view
	projects map[string]*view // in use
}

// NewLibrary begins to watch. The first catalogue waits for what is found.
func NewLibrary(s Settings, o Options) *Library {
	home, _ := os.UserHomeDir()                     // without one, nothing is above it
	o.Home = sdk.WithoutLinks(cmp.Or(o.Home, home)) // as projects are
	if o.now == nil {
		o.now = time.Now
	}
	if o.hash == nil {
		o.hash = hashFolder
	}
	if o.remote == nil {
		o.remote = watch.Remote
	}
	w := &o.watch
	for at, usual := range map[*time.Duration]time.Duration{
		&w.Quiet: 150 * time.Millisecond, &w.Longest: 2 * time.Second, &w.Mounts: 2 * time.Second, &w.Poll: 3 * time.Second, &w.Every: time.Minute,
		&o.settle: 100 * time.Millisecond, &o.idle: 15 * time.Minute,
	} {
		*at = cmp.Or(*at, usual)
	}
	w.Log, w.What, w.Retry = o.Log, "skills", w.Every
	l := &Library{o: o, settings: s, projects: map[string]*view{}}
	l.mu.Lock() // what the first check asks for is there when it asks
	defer l.mu.Unlock()
	l.base = l.newView("", s.Folders)
	return l
}

// Close ends the watching. It waits for a call of Changed that runs.
func (l *Library) Close() error {
	l.mu.Lock()
	l.closed = true
	for _, v := range l.views() {
		v.end()
	}
	l.mu.Unlock()
	l.running.Wait()
	return nil
}

// views are all of them, the shared one first. It is called with the lock mu.
func (l *Library) views() []*view {
	return append([]*view{l.base}, slices.Collect(maps.Values(l.projects))...)
}

// Configure takes other settings. What they switch holds for the next
// catalogue; new folders are read before it.
func (l *Library) Configure(s Settings) {
	l.mu.Lock()
	l.settings = s
	l.changes++
	l.base.follow(s.Folders)
	for project, v := range l.projects {
		v.follow(workspaceFolders(project, l.o.Home, s))
	}
	l.mu.Unlock()
	l.refresh()
}

// Check checks a project's folders now, whether or not anything is known to have
// changed, and asks anew what is trusted. What was found is in force when it returns.
func (l *Library) Check(ctx context.Context, project string) error {
	l.mu.Lock()
	l.changes++
	l.mu.Unlock()
	for _, v := range l.inUse(project) {
		if err := v.CheckNow(ctx); err != nil {
			return fmt.Errorf("wait for the skills to be read again: %w", err)
		}
	}
	l.refresh()
	return nil
}

// Catalogue returns what a project can use now; an empty one is what all share.
// What changed a moment ago is waited for. A project's workspace is
// watched from its first catalogue on, until nobody asked for one for a while.
// After Close the catalogue is the last one.
func (l *Library) Catalogue(ctx context.Context, project string) (*Catalogue, error) {
	views := l.inUse(project)
	for _, v := range views {
		if err := v.CatchUp(ctx, patience); err != nil {
			return nil, fmt.Errorf("wait for the skills to be read: %w", err)
		}
	}
	l.building.Lock()
	defer l.building.Unlock()
	return l.build(views[len(views)-1]).catalogue, nil
}

// inUse are the views that a project needs, its own as the last one.
func (l *Library) inUse(project string) []*view {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.projects[project]
	if project == "" || v == nil && l.closed {
		return []*view{l.base}
	}
	if v == nil {
		v = l.newView(project, workspaceFolders(project, l.o.Home, l.settings))
		l.projects[project] = v
	}
	v.used = l.o.now()
	return []*view{l.base, v}
}

// Folders are the folders that count for a project, the one that goes first
// before the others.
func (l *Library) Folders(project string) []rpc.SkillFolder {
	out := []rpc.SkillFolder{}
	all := l.inUse(project)
	slices.Reverse(all)
	for _, v := range all {
		l.mu.Lock()
		shown := v.shown
		l.mu.Unlock()
		why := v.Polling()
		for _, s := range shown {
			if why != "" {
				s.state.Watching = watchingPolling
				s.state.Problem = cmp.Or(s.state.Problem, "it is not watched, and changes are found late: "+why)
			}
			out = append(out, s.state)
		}
	}
	return out
}
