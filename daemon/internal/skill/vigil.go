package skill

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/notify"
)

// vigil keeps some folders in sight: the user's and the bundled ones, or those
// of one workspace. Events only make it look; what it finds on disk counts.
type vigil struct {
	log      hclog.Logger
	times    Timings
	parse    parseFunc
	hash     func(folder string) (string, error) // for skills of a workspace
	answered func() func(name string) bool       // of which of them
	open     func() (notify.Notifier, error)
	deaf     func(folder string) string
	stall    func()
	changed  func(*vigil)      // is called without locks after something is shown differently
	tick     func(*vigil) bool // is called now and then; false says that others have its shelves from now on

	hints chan struct{}
	asked chan struct{}
	done  chan struct{}

	mu       sync.Mutex
	folders  []Folder
	hinted   uint64        // events and questions
	served   uint64        // of those, the ones that what is shown answers
	moved    chan struct{} // is closed whenever served grows
	shown    []shown
	version  uint64 // of what is shown
	why      string // for polling; empty when it watches
	failed   error  // why the notifier is to be given up
	overflow int    // times that events were lost
	looked   int    // times that it looked

	// Of the goroutine alone:
	shelves []*shelf
	watches *watches  // nil when it polls
	tried   time.Time // when watching was begun last
}

// shown is what a vigil shows of one folder. It never changes.
type shown struct {
	state FolderState
	docs  []*Document
	sums  map[*Document]folderSum
}

// start begins to look, in a goroutine of all.
func (v *vigil) start(all *sync.WaitGroup, folders []Folder) {
	v.folders = folders
	v.hints, v.asked, v.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	v.moved = make(chan struct{})
	v.hinted = 1
	all.Go(v.run)
}

// end makes the goroutine end.
func (v *vigil) end() { close(v.done) }

// hint says that something may have changed.
func (v *vigil) hint() {
	v.mu.Lock()
	v.hinted++
	v.mu.Unlock()
	select {
	case v.hints <- struct{}{}:
	default: // it is told already
	}
}

// follow names the folders that count from now on.
func (v *vigil) follow(folders []Folder) {
	v.mu.Lock()
	v.folders = folders
	v.mu.Unlock()
	v.demand()
}

// demand asks for a look now, and returns how many hints that will serve.
func (v *vigil) demand() uint64 {
	v.mu.Lock()
	v.hinted++
	want := v.hinted
	v.mu.Unlock()
	select {
	case v.asked <- struct{}{}:
	default: // it will look anyway
	}
	return want
}

// ask has the folders looked at now, and waits for it.
func (v *vigil) ask(ctx context.Context) error { return v.await(ctx, v.demand(), nil) }

// firstLook waits until the folders were looked at once.
func (v *vigil) firstLook(ctx context.Context) error { return v.await(ctx, 1, nil) }

// rest waits until all that was hinted at is looked at, but no longer than a
// while.
func (v *vigil) rest(ctx context.Context, patience time.Duration) error {
	if err := v.firstLook(ctx); err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	v.mu.Lock()
	want := v.hinted
	v.mu.Unlock()
	return v.await(ctx, want, late.C)
}

// await waits until as many hints are served.
func (v *vigil) await(ctx context.Context, want uint64, late <-chan time.Time) error {
	for {
		v.mu.Lock()
		served, moved := v.served, v.moved
		v.mu.Unlock()
		if served >= want {
			return nil
		}
		select {
		case <-moved:
		case <-late:
			return nil
		case <-v.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sight is what the vigil shows now.
func (v *vigil) sight() ([]shown, uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown, v.version
}

func (v *vigil) run() {
	defer v.letGo()
	v.begin()
	due := time.NewTimer(0)
	defer due.Stop()
	glance := time.NewTicker(v.times.Glance)
	defer glance.Stop()
	later := time.NewTimer(v.pause())
	defer later.Stop()
	var first time.Time // when what is waited with was hinted at
	for {
		select {
		case <-v.done:
			return
		case <-v.hints:
			if first.IsZero() {
				first = time.Now()
			}
			due.Reset(max(0, min(v.times.Quiet, v.times.Longest-time.Since(first))))
			continue
		case <-glance.C:
			if !v.elsewhere() {
				continue
			}
			v.shake()
		case <-v.asked:
		case <-due.C:
		case <-later.C:
			if !v.tick(v) {
				return
			}
			v.begin() // again, should it poll
			v.shake()
		}
		if first.IsZero() {
			first = time.Now()
		}
		left := v.times.Longest - time.Since(first)
		if v.look(left <= 0) || left <= 0 {
			first = time.Time{}
		}
		if !first.IsZero() {
			due.Reset(min(v.times.Settle, max(0, left)))
		}
		later.Reset(v.pause())
	}
}

func (v *vigil) pause() time.Duration {
	if v.watches == nil || slices.ContainsFunc(v.shelves, func(s *shelf) bool { return s.state.Watching != "" }) {
		return v.times.Poll
	}
	return v.times.Again
}

// look brings what is shown up to what is on disk. False asks to look again
// soon: something may be half done.
func (v *vigil) look(force bool) bool {
	v.mu.Lock()
	folders, serves := v.folders, v.hinted
	v.looked++
	v.mu.Unlock()
	v.arrange(folders)
	l := looker{parse: v.parse, settle: v.times.Settle, force: force, clock: time.Now, deaf: v.deaf, watch: func(string) {}, link: func(_, _ string) {}}
	if v.answered != nil && v.hash != nil {
		l.hash, l.answered = v.hash, v.answered()
	}
	if v.watches != nil {
		v.watches.begin()
		l.watch, l.link = v.watches.whole, v.watches.name
	}
	hasty := false
	for _, s := range v.shelves {
		route(s.at.Path, l.link)
		hasty = s.look(l) || hasty
	}
	if v.watches != nil {
		v.watches.end()
	}
	v.giveUp()
	if hasty && !force {
		return false
	}
	v.show(serves)
	return !hasty
}

// arrange makes a shelf for each folder, those that were there being kept.
func (v *vigil) arrange(folders []Folder) {
	old := v.shelves
	v.shelves = make([]*shelf, 0, len(folders))
	for _, f := range folders {
		s := &shelf{at: f, known: map[string]*record{}}
		for _, o := range old {
			if sameFolder(o.at, f) {
				s = o
			}
		}
		v.shelves = append(v.shelves, s)
	}
}

// show puts what the shelves hold where others see it.
func (v *vigil) show(serves uint64) {
	next := make([]shown, len(v.shelves))
	for i, s := range v.shelves {
		next[i] = shown{s.state, s.docs, s.sums}
	}
	v.mu.Lock()
	fresh := v.served == 0 || !sameSight(next, v.shown)
	if fresh {
		v.shown = next
		v.version++
	}
	v.served = serves
	close(v.moved)
	v.moved = make(chan struct{})
	v.mu.Unlock()
	if fresh {
		v.changed(v)
	}
}

// shake makes the next look watch all folders anew: some watches may have gone
// without an event.
func (v *vigil) shake() {
	if v.watches != nil {
		v.watches.shake()
	}
}

// elsewhere reports whether a folder is another than the one that was looked
// at.
func (v *vigil) elsewhere() bool {
	for _, s := range v.shelves {
		if s.moved() {
			return true
		}
	}
	return false
}

// states are what people see of the folders.
func (v *vigil) states() []FolderState {
	v.mu.Lock()
	defer v.mu.Unlock()
	watching := nativeName()
	if v.why != "" {
		watching = "polling"
	}
	var out []FolderState
	for _, s := range v.shown {
		state := s.state
		if state.Watching == "" {
			state.Watching = watching
		}
		if state.Problem == "" && v.why != "" {
			state.Problem = "it is not watched, and changes are found late: " + v.why
		}
		out = append(out, state)
	}
	return out
}

func (v *vigil) polls() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why != "" {
		return v.why
	}
	for _, s := range v.shown {
		if s.state.Watching != "" {
			return s.state.Problem
		}
	}
	return ""
}
