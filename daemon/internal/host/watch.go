package host

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/notify"
)

// When the files of plugins are looked at.
const (
	stable    = 300 * time.Millisecond // a file that is copied is not the same for so long
	pollEvery = 2 * time.Second        // where watching is impossible
	lookEvery = time.Minute            // in any case: not everything makes an event
)

// vigil watches the files that plugins are started from. When one is another
// than at the last start, for long enough, and can be started at all, its
// instance is told to look at it. Events only make the vigil look; what counts is
// which file a start would find now.
type vigil struct {
	log    hclog.Logger
	open   func() (notify.Notifier, error)
	places func() []lair

	asked chan struct{} // filled when the places may be others

	// Of the goroutine alone:
	notify  notify.Notifier // nil when it polls
	folders map[string]bool // that are watched
	names   map[string]bool // whose events count
	seen    map[*instance]sight
}

// lair is where a start of an instance looks, and what its last start found.
type lair struct {
	i     *instance
	files []string // the first that is there counts
	tried string   // empty before the first start
}

// sight is the file that an instance would be started from, as it was seen last.
type sight struct {
	file  string
	since time.Time
	told  bool // the instance knows of it, or it cannot be started
}

func newVigil(log hclog.Logger, places func() []lair) *vigil {
	return &vigil{
		log: log, open: notify.Open, places: places, asked: make(chan struct{}, 1),
		folders: map[string]bool{}, names: map[string]bool{}, seen: map[*instance]sight{},
	}
}

// nudge makes the vigil look.
func (v *vigil) nudge() {
	select {
	case v.asked <- struct{}{}:
	default: // it will look anyway
	}
}

// run watches until ctx ends.
func (v *vigil) run(ctx context.Context) {
	defer v.deafen()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	later := time.NewTimer(lookEvery)
	defer later.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.asked:
		case e, ok := <-v.events():
			if ok && !v.names[e.Name] && !v.folders[e.Name] {
				continue
			}
			if ok && e.Has(fsnotify.Remove|fsnotify.Rename) {
				delete(v.folders, e.Name) // should it be one, the kernel has let go of it
			}
		case err := <-v.errors():
			v.log.Debug("events of plugins' files were lost, so that the files are looked at", "error", err)
		case <-due.C:
		case <-later.C:
			clear(v.folders) // one may be another at the same path
		}
		if wait := v.look(); wait > 0 {
			due.Reset(wait)
		}
		pause := lookEvery
		if v.notify == nil {
			pause = pollEvery
		}
		later.Reset(pause)
	}
}

func (v *vigil) events() <-chan fsnotify.Event {
	if v.notify == nil {
		return nil
	}
	return v.notify.Events()
}

func (v *vigil) errors() <-chan error {
	if v.notify == nil {
		return nil
	}
	return v.notify.Errors()
}

func (v *vigil) deafen() {
	if v.notify != nil {
		_ = v.notify.Close() // nothing is waited for any more
	}
	v.notify = nil
	clear(v.folders)
}

// look tells the instances whose files are others. It answers how soon it wants
// to look again: what was not the same for a while may be half written.
func (v *vigil) look() (again time.Duration) {
	places := v.places()
	v.listen(places) // before looking: what changes afterwards makes an event
	current := map[*instance]sight{}
	for _, p := range places {
		file := fileAt(p.files)
		if p.tried == "" || file == p.tried || file == "" {
			continue
		}
		s := v.seen[p.i]
		if s.file != file {
			s = sight{file: file, since: time.Now()}
		}
		age := time.Since(s.since)
		switch {
		case s.told:
		case age < stable:
			again = max(again, stable-age)
		default:
			s.told = true
			v.tell(p)
		}
		current[p.i] = s
	}
	v.seen = current
	return again
}

// tell has an instance look at its file, if that is a program.
func (v *vigil) tell(p lair) {
	for _, path := range p.files {
		b, err := openBinary(path)
		if isMissing(err) {
			continue
		}
		if err != nil {
			v.log.Info("the file of a plugin changed and cannot be started as it is now", "plugin", p.i.name, "reason", err)
			return
		}
		_ = b.file.Close() // it was only looked at
		p.i.lookAgain()
		return
	}
}

// listen watches the folders of the files, as far as it can.
func (v *vigil) listen(places []lair) {
	if v.notify == nil {
		n, err := v.open()
		if err != nil {
			v.log.Debug("the files of plugins are looked at again and again", "every", pollEvery, "reason", err)
			return
		}
		v.notify = n
	}
	clear(v.names)
	wanted := map[string]bool{}
	for _, p := range places {
		for _, file := range p.files {
			v.names[file] = true
			wanted[filepath.Dir(file)] = true
		}
	}
	for _, folder := range slices.Collect(maps.Keys(v.folders)) {
		if !wanted[folder] {
			_ = v.notify.Remove(folder) // it may be gone by itself
			delete(v.folders, folder)
		}
	}
	for folder := range wanted {
		if v.folders[folder] {
			continue
		}
		err := v.notify.Add(folder)
		switch {
		case err == nil:
			v.folders[folder] = true
		case !os.IsNotExist(err):
			v.log.Debug("the files of plugins are looked at again and again", "every", pollEvery, "reason", err)
			v.deafen()
			return
		}
	}
}

// fileAt tells one file from another at the first path that is there.
func fileAt(paths []string) string {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil {
			return path + " " + identityOf(info)
		}
	}
	return ""
}

// lookAgain has the instance look at its file.
func (i *instance) lookAgain() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.look = true
	select {
	case i.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// looks reports whether the instance is to look at its file.
func (i *instance) looks() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.look
}

// looked takes what looks reports.
func (i *instance) looked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.look
	i.look = false
	return was
}

// tries keeps which file a start finds, before it opens it: what changes in
// between is tried again.
func (i *instance) tries(spec Spec) {
	file := fileAt(candidates(spec, i.s.cfg.Libexec))
	if file == "" {
		file = "none"
	}
	i.mu.Lock()
	i.tried = file
	i.mu.Unlock()
	i.s.vigil.nudge()
}

// places are those of all instances.
func (s *Supervisor) places() []lair {
	var all []lair
	for _, i := range s.instances() {
		i.mu.Lock()
		p := lair{i: i, files: candidates(i.spec, s.cfg.Libexec), tried: i.tried}
		i.mu.Unlock()
		all = append(all, p)
	}
	return all
}

// watch begins with the first plugins, once.
func (s *Supervisor) watch() {
	s.watching.Do(func() { s.wg.Go(func() { s.vigil.run(s.life) }) })
}
