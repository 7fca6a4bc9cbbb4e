package host

import (
	"cmp"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// stable is how long a file must have been the same: one that is copied is not.
const stable = 300 * time.Millisecond

// binaryWatcher watches the files that plugins are started from. When one is
// another than at the last start, for long enough, and can be started at all, its
// instance is told to check it. Events only make it check; what counts is which
// file a start would find now.
type binaryWatcher struct {
	s     *Supervisor
	files *watch.Watcher
	seen  map[*instance]*watch.Rest // since when a file that is another is as it is; of the checks alone
}

func newBinaryWatcher(s *Supervisor, open func() (watch.Notifier, error)) *binaryWatcher {
	w := &binaryWatcher{s: s, seen: map[*instance]*watch.Rest{}}
	w.files = watch.New(watch.Config{
		Log: s.cfg.Log, What: "the files of plugins", Check: w.check,
		Quiet: 50 * time.Millisecond, Longest: time.Second, Poll: 2 * time.Second, Every: time.Minute, Open: open,
	})
	return w
}

// check tells the instances whose files are others. What was not the same for a
// while may be half written.
func (w *binaryWatcher) check(p *watch.Pass) (again time.Duration) {
	current := map[*instance]*watch.Rest{}
	for _, i := range w.s.instances() {
		i.mu.Lock()
		path, tried := w.s.inspect.PathOf(i.spec), i.tried
		i.mu.Unlock()
		p.Path(path) // before looking: what changes afterwards makes an event
		file, folders := w.s.inspect.Look(path)
		for _, dir := range folders {
			p.Folder(dir)
		}
		if len(folders) > 0 {
			file, _ = w.s.inspect.Look(path) // what changed before its folder was watched made no event
		}
		if tried == "" || file == tried || file == "" {
			continue
		}
		rest := cmp.Or(w.seen[i], &watch.Rest{})
		current[i] = rest
		left := rest.Left(file, stable)
		again = max(again, left)
		if left == 0 {
			w.tell(i, path)
		}
	}
	w.seen = current
	return again
}

// tell has an instance check its file, if that is a program.
func (w *binaryWatcher) tell(i *instance, path string) {
	b, err := inspect.OpenBinary(path)
	if err != nil {
		w.s.cfg.Log.Debug("the file of a plugin changed and cannot be started as it is now", "plugin", i.name, "reason", err)
		return
	}
	_ = b.Close() // it was only looked at
	i.recheck()
}

// recheck has the instance check whether its file is another one. What is asked for
// already does that too.
func (i *instance) recheck() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.asked == nil {
		i.asked = &request{}
		i.awaken()
	}
}

// tries keeps which file a start finds, before it opens it: what changes in
// between is tried again.
func (i *instance) tries(spec inspect.Spec) {
	file, _ := i.s.inspect.Look(i.s.inspect.PathOf(spec))
	i.mu.Lock()
	i.tried = cmp.Or(file, "none")
	i.mu.Unlock()
	i.s.binaries.files.Ask()
}
