package markdown

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// patience is how long a prompt waits for a change that is being taken in.
const patience = 500 * time.Millisecond

// Options are what a Library needs beside a configuration. Only Home may be left out.
type Options struct {
	Log hclog.Logger
	// Trusted are the hashes of the files of a project that a person said yes to, by the names of
	// their agents. It may not ask the library.
	Trusted func(project string) map[string]string
	Home    string // above which no workspace is looked for; empty is the user's

	watch  watch.Config // its times: when the folders are looked through
	settle time.Duration
	idle   time.Duration // after which an unused workspace is not watched any more
	now    func() time.Time
}

// Library is the agents' files on disk, of the user and of each project that is in use. It
// watches their folders. Its methods may be called concurrently.
type Library struct {
	o       Options
	current func() *config.Config
	running sync.WaitGroup // the views

	mu       sync.Mutex
	cfg      *config.Config // of which the settings are
	settings settings
	closed   bool
	user     *view
	projects map[string]*view // in use
}

// view follows the folders of the user, or those of one workspace.
type view struct {
	*watch.Watcher
	l       *Library
	project string // empty for the user's
	end     context.CancelFunc
	indexes []*index // of the checks alone

	// By the lock of the library:
	folders []places.Folder
	files   []*File // the folder that goes first before the others
	defined *defined
	used    time.Time
}

// NewLibrary begins to watch. Who asks first waits for what is found. The folders are those of the
// configuration that current returns then, and each time that somebody asks; it is never changed.
func NewLibrary(current func() *config.Config, o Options) *Library {
	home, _ := os.UserHomeDir()                     // without one, nothing is above it
	o.Home = sdk.WithoutLinks(cmp.Or(o.Home, home)) // as projects are
	if o.now == nil {
		o.now = time.Now
	}
	w := &o.watch
	for at, usual := range map[*time.Duration]time.Duration{
		&w.Quiet: 150 * time.Millisecond, &w.Longest: 2 * time.Second, &w.Mounts: 2 * time.Second, &w.Poll: 3 * time.Second, &w.Every: time.Minute,
		&o.settle: 100 * time.Millisecond, &o.idle: 15 * time.Minute,
	} {
		*at = cmp.Or(*at, usual)
	}
	w.Log, w.What, w.Retry = o.Log, "agents", w.Every
	cfg := current()
	l := &Library{o: o, current: current, cfg: cfg, settings: settingsOf(cfg), projects: map[string]*view{}}
	l.mu.Lock() // what the first check asks for is there when it asks
	defer l.mu.Unlock()
	l.user = l.newView("", l.settings.user)
	return l
}

// Close ends the watching.
func (l *Library) Close() error {
	l.mu.Lock()
	l.closed = true
	l.user.end()
	for v := range maps.Values(l.projects) {
		v.end()
	}
	l.mu.Unlock()
	l.running.Wait()
	return nil
}

// newView begins to follow folders, until its end is called.
func (l *Library) newView(project string, folders []places.Folder) *view {
	v := &view{l: l, project: project, folders: folders, used: l.o.now()}
	w := l.o.watch
	w.Check = v.check
	v.Watcher = watch.New(w)
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	l.running.Go(func() { v.Run(ctx) })
	return v
}

// configure takes the folders of the configuration that is in force. It is called with the lock.
func (l *Library) configure() {
	cfg := l.current()
	if cfg == l.cfg {
		return
	}
	l.cfg, l.settings = cfg, settingsOf(cfg)
	l.user.follow(l.settings.user)
	for project, v := range l.projects {
		v.follow(l.workspace(project))
	}
}

func (l *Library) workspace(project string) []places.Folder {
	return places.Workspace(project, l.o.Home, l.settings.workspace, l.settings.user)
}

// follow names the folders that count from now on. It is called with the lock.
func (v *view) follow(folders []places.Folder) {
	if !reflect.DeepEqual(v.folders, folders) {
		v.folders = folders
		v.Ask()
	}
}

// Check looks through a project's folders now, whether or not anything is known to have changed.
func (l *Library) Check(ctx context.Context, project string) error {
	for _, v := range l.inUse(project) {
		if err := v.CheckNow(ctx); err != nil {
			return fmt.Errorf("wait for the agents' files to be read again: %w", err)
		}
	}
	return nil
}

// Files are all that a project has, the user's first, then its own, the nearest folder before the
// others; without a project they are the user's. What changed a moment ago is waited for. A workspace
// is watched from the first time on that somebody asks for it, until nobody asked for a while.
func (l *Library) Files(ctx context.Context, project string) (files []*File, err error) {
	views, err := l.caughtUp(ctx, project)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range views {
		files = append(files, v.files...)
	}
	return files, err
}

// caughtUp are the views that a project needs, the user's first, when what changed is taken in.
func (l *Library) caughtUp(ctx context.Context, project string) ([]*view, error) {
	views := l.inUse(project)
	for _, v := range views {
		if err := v.CatchUp(ctx, patience); err != nil {
			return views, fmt.Errorf("wait for the agents' files to be read: %w", err)
		}
	}
	return views, nil
}

// inUse are the views that a project needs, the user's first.
func (l *Library) inUse(project string) []*view {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.configure()
	v := l.projects[project]
	if project == "" || v == nil && l.closed {
		return []*view{l.user}
	}
	if v == nil {
		v = l.newView(project, l.workspace(project))
		l.projects[project] = v
	}
	v.used = l.o.now()
	return []*view{l.user, v}
}

// check brings the files up to what is on disk.
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
	old := v.indexes
	v.indexes = nil
	var files []*File
	for _, f := range folders {
		x := &index{at: f}
		if i := slices.IndexFunc(old, func(o *index) bool { return reflect.DeepEqual(o.at, f) }); i >= 0 {
			x = old[i]
		}
		v.indexes = append(v.indexes, x)
		before := x.problem
		if x.scan(p, l.o.now(), l.o.settle) {
			again = l.o.settle
		}
		if x.problem != before && x.problem != "" {
			l.o.Log.Warn("not all agents of a folder are read", "folder", f.Path, "problem", x.problem)
		}
		files = append(files, x.files...)
	}
	if again > 0 && !p.Last {
		return again
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(v.files, files) {
		v.files, v.defined = files, nil
	}
	return again
}
