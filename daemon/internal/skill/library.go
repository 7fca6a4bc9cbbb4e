package skill

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostIdle is of how many workspaces that are not watched any more the last good
// versions are kept.
const mostIdle = 64

// patience is how long a turn waits for a change that is being taken in.
const patience = 500 * time.Millisecond

// Options are what a Library needs beside its Settings. All may be left out.
type Options struct {
	Log      hclog.Logger
	Trusted  func(project, name, folderHash string) bool // whether a skill of a workspace, as its folder is, was trusted; it may not ask the library
	Answered func(project string) func(name string) bool // which names people answered for: only their folders are hashed; nil is all; it may not ask the library
	Hash     func(folder string) (string, error)         // of a skill's folder, for Trusted; nil is FolderHash
	Home     string                                      // above which no workspace is looked for; empty is the user's
	Timings  Timings
	Clock    func() time.Time // for Timings.Idle

	parse  parseFunc
	open   func() (watch.Notifier, error)
	remote func(folder string) string
	stall  func()
}

// Change tells which names of a catalogue are not what they were. An empty
// Project is what all projects share; what changes there is not told again for
// each of them.
type Change struct {
	Project                 string
	Added, Changed, Removed []string
}

// Library is the skills on disk. It watches the folders and makes a catalogue of
// what is in them, for each project that is in use.
type Library struct {
	o Options

	running sync.WaitGroup // the watchers
	changed func(Change)   // see OnChange; nil is nobody

	// The locks, in the order in which they are taken.
	notifying sync.Mutex // held over changed
	building  sync.Mutex // held over Trusted, while catalogues are made
	mu        sync.Mutex

	settings        Settings
	settingsVersion uint64 // times that the settings or the trust changed
	closed          bool
	base            *watcher
	projects        map[string]*workspace
	made            map[string]*builtCatalogue // the newest catalogues, by project
	notified        map[string]*builtCatalogue // what OnChange's function knows
	idleIndexes     map[string][]*folderIndex  // of workspaces that are not watched any more: the last good versions
}

// workspace is a project in use.
type workspace struct {
	watcher *watcher
	folders []Folder
	used    time.Time
}

// NewLibrary begins to watch. The first catalogue waits for what is found.
func NewLibrary(s Settings, o Options) (*Library, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.remote == nil {
		o.remote = watch.Remote
	}
	if o.Hash == nil {
		o.Hash = FolderHash
	}
	if o.parse == nil {
		o.parse = Parse
	}
	if o.Answered == nil {
		o.Answered = func(string) func(string) bool { return func(string) bool { return true } }
	}
	if o.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the home directory, above which no skills of a project lie: %w; set HOME", err)
		}
		o.Home = home
	}
	o.Home = resolved(o.Home) // as projects are
	o.Timings = o.Timings.filled()
	l := &Library{o: o, settings: s, projects: map[string]*workspace{}, made: map[string]*builtCatalogue{}, notified: map[string]*builtCatalogue{}, idleIndexes: map[string][]*folderIndex{}}
	l.base = newWatcher(o, l.refresh)
	l.base.start(&l.running, s.Folders)
	return l, nil
}

// OnChange has f told of changes from now on: one call after the other, from a
// goroutine of the library. It may ask the library, but not Close it.
func (l *Library) OnChange(f func(Change)) {
	l.notifying.Lock()
	defer l.notifying.Unlock()
	l.changed = f
}

// Close ends the watching. It waits for a call of OnChange's function that runs.
func (l *Library) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	all := l.watchers()
	l.mu.Unlock()
	for _, w := range all {
		w.end()
	}
	l.running.Wait()
	return nil
}

// watchers are all of them. It is called with the lock mu.
func (l *Library) watchers() []*watcher {
	all := []*watcher{l.base}
	for _, w := range l.projects {
		all = append(all, w.watcher)
	}
	return all
}

// Configure takes other settings. What they switch holds for the next
// catalogue; new folders are read before it.
func (l *Library) Configure(s Settings) {
	l.mu.Lock()
	old := l.settings
	l.settings = s
	l.settingsVersion++
	if !slices.EqualFunc(old.Folders, s.Folders, sameFolder) {
		l.base.follow(s.Folders)
	}
	for project, w := range l.projects {
		if folders := workspaceFolders(project, l.o.Home, s); !slices.EqualFunc(w.folders, folders, sameFolder) {
			w.folders = folders
			w.watcher.follow(folders)
		}
	}
	l.mu.Unlock()
	l.refresh()
}

// Retrust checks a project's folders and makes its catalogue anew, because the
// trust in its skills changed. The change is in force when Retrust returns.
func (l *Library) Retrust(ctx context.Context, project string) error {
	l.mu.Lock()
	l.settingsVersion++
	l.mu.Unlock()
	if err := l.Check(ctx, project); err != nil {
		return err
	}
	l.refresh()
	return nil
}

// Check checks a project's folders now, whether or not anything is known to have
// changed, and waits until what was found is in force.
func (l *Library) Check(ctx context.Context, project string) error {
	for _, w := range l.inUse(project) {
		if err := w.CheckNow(ctx); err != nil {
			return fmt.Errorf("wait for the skills to be read again: %w", err)
		}
	}
	return nil
}

// Catalogue returns what a project can use now; an empty one is what all share.
// What changed a moment ago is waited for. A project's workspace is
// watched from its first catalogue on, until nobody asked for one for a while.
// After Close the catalogue is the last one.
func (l *Library) Catalogue(ctx context.Context, project string) (*Catalogue, error) {
	for _, w := range l.inUse(project) {
		if err := w.CatchUp(ctx, patience); err != nil {
			return nil, fmt.Errorf("wait for the skills to be read: %w", err)
		}
	}
	return l.build(project).catalogue, nil
}

// inUse are the watchers that a project needs.
func (l *Library) inUse(project string) []*watcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if project == "" || l.closed {
		return []*watcher{l.base}
	}
	w, ok := l.projects[project]
	if !ok {
		w = &workspace{watcher: newWatcher(l.o, l.refresh)}
		l.projects[project] = w
		w.watcher.hash = l.o.Hash
		w.watcher.answered = func() func(string) bool { return l.o.Answered(project) }
		w.watcher.idle = func(x *watcher) bool { return l.idle(project, x) }
		w.watcher.indexes = l.idleIndexes[project]
		delete(l.idleIndexes, project)
		w.folders = workspaceFolders(project, l.o.Home, l.settings)
		w.watcher.start(&l.running, w.folders)
	}
	w.used = l.o.Clock()
	return []*watcher{l.base, w.watcher}
}

// idle stops watching a workspace that nobody asked for, and reports whether it
// did. Its watcher calls it, which must not touch its indexes any more then.
func (l *Library) idle(project string, of *watcher) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.projects[project]
	if !ok || w.watcher != of || l.closed || l.o.Clock().Sub(w.used) < l.o.Timings.Idle {
		return false
	}
	delete(l.projects, project)
	delete(l.made, project)
	delete(l.notified, project)
	if len(l.idleIndexes) < mostIdle {
		l.idleIndexes[project] = of.indexes
	}
	of.end()
	return true
}

// Folders are the folders that count for a project, the one that goes first
// before the others.
func (l *Library) Folders(project string) []rpc.SkillFolder {
	all := l.inUse(project)
	slices.Reverse(all)
	out := []rpc.SkillFolder{}
	for _, w := range all {
		out = append(out, w.states()...)
	}
	return out
}

// Polling says why skills are read again and again instead of being watched; it is empty when they are watched.
func (l *Library) Polling() string {
	l.mu.Lock()
	all := l.watchers()
	l.mu.Unlock()
	for _, w := range all {
		if why := w.polling(); why != "" {
			return why
		}
	}
	return ""
}
