package markdown

import (
	"cmp"
	"context"
	"fmt"
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

	times places.Times
}

// Library is the agents' files on disk, of the user and of each project that is in use. It
// watches their folders. Its methods may be called concurrently.
type Library struct {
	o       Options
	current func() *config.Config

	mu       sync.Mutex
	cfg      *config.Config // of which the settings are
	settings settings
	views    *places.Views[*view]
}

// view follows the folders of the user, or those of one workspace.
type view struct {
	*places.View
	indexes []*index // of the checks alone

	// By the lock of the library:
	files   []*File // the folder that goes first before the others
	defined *defined
}

// NewLibrary begins to watch. Who asks first waits for what is found. The folders are those of the
// configuration that current returns then, and each time that somebody asks; it is never changed.
func NewLibrary(current func() *config.Config, o Options) *Library {
	home, _ := os.UserHomeDir()                     // without one, nothing is above it
	o.Home = sdk.WithoutLinks(cmp.Or(o.Home, home)) // as projects are
	o.times = o.times.WithUsual()
	o.times.Watch.Log, o.times.Watch.What = o.Log, "agents"
	cfg := current()
	l := &Library{o: o, current: current, cfg: cfg, settings: settingsOf(cfg)}
	l.mu.Lock() // what the first check asks for is there when it asks
	defer l.mu.Unlock()
	l.views = places.Follow(&l.mu, o.times, l.settings.user, func(v *places.View) *view { return &view{View: v} }, l.check)
	return l
}

// Close ends the watching.
func (l *Library) Close() error {
	l.views.Close()
	return nil
}

// configure takes the folders of the configuration that is in force. It is called with the lock.
func (l *Library) configure() {
	cfg := l.current()
	if cfg == l.cfg {
		return
	}
	l.cfg, l.settings = cfg, settingsOf(cfg)
	l.views.Move(l.settings.user, l.workspace)
}

func (l *Library) workspace(project string) []places.Folder {
	return places.Workspace(project, l.o.Home, l.settings.workspace, l.settings.user)
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
	return l.views.In(project, func() []places.Folder { return l.workspace(project) })
}

// check brings the files up to what is on disk.
func (l *Library) check(v *view, folders []places.Folder, p *watch.Pass) (again time.Duration) {
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
		if x.scan(p, l.o.times.Now(), l.o.times.Settle) {
			again = l.o.times.Settle
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
