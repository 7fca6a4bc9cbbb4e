package skill

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/places"
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

	times  places.Times
	hash   func(folder string, enter func(dir string)) (string, error) // hashFolder
	remote func(folder string) string                                  // names a file system that makes no events
}

// Library is the skills on disk. It watches the folders and makes a catalogue of
// what is in them, for each project that is in use.
type Library struct {
	o Options

	// The locks, in the order in which they are taken.
	notifying sync.Mutex // held over Changed
	building  sync.Mutex // held over Trusted, while catalogues are made
	mu        sync.Mutex

	settings Settings
	changes  uint64 // of the settings and the trust
	views    *places.Views[*view]
}

// NewLibrary begins to watch. The first catalogue waits for what is found.
func NewLibrary(s Settings, o Options) *Library {
	home, _ := os.UserHomeDir()                     // without one, nothing is above it
	o.Home = sdk.WithoutLinks(cmp.Or(o.Home, home)) // as projects are
	if o.hash == nil {
		o.hash = hashFolder
	}
	if o.remote == nil {
		o.remote = watch.Remote
	}
	o.times = o.times.WithUsual()
	o.times.Watch.Log, o.times.Watch.What = o.Log, "skills"
	l := &Library{o: o, settings: s}
	l.mu.Lock() // what the first check asks for is there when it asks
	defer l.mu.Unlock()
	l.views = places.Follow(&l.mu, o.times, s.Folders, func(v *places.View) *view { return &view{View: v} }, l.check)
	return l
}

// Close ends the watching. It waits for a call of Changed that runs.
func (l *Library) Close() error {
	l.views.Close()
	return nil
}

// Configure takes other settings. What they switch holds for the next
// catalogue; new folders are read before it.
func (l *Library) Configure(s Settings) {
	l.mu.Lock()
	l.settings = s
	l.changes++
	l.views.Move(s.Folders, func(project string) []Folder { return workspaceFolders(project, l.o.Home, s) })
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
	return l.views.In(project, func() []Folder { return workspaceFolders(project, l.o.Home, l.settings) })
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
