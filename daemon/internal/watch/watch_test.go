package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

// running is a Watcher that runs, with times that no test waits for unless it
// says others.
type running struct {
	*Watcher
	t      *testing.T
	checks chan *Pass // each one, when it is done
}

// run runs a Watcher until the test ends. look is what its checks do.
func run(t *testing.T, c Config, look func(p *Pass) time.Duration) *running {
	t.Helper()
	r := &running{t: t, checks: make(chan *Pass, 1000)}
	c.Log, c.What = hclog.NewNullLogger(), "files"
	c.Check = func(p *Pass) time.Duration {
		again := look(p)
		r.checks <- p
		return again
	}
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&c.Quiet, time.Millisecond}, {&c.Longest, time.Minute}, {&c.Poll, time.Hour}, {&c.Every, time.Hour}} {
		if *d.at == 0 {
			*d.at = d.usual
		}
	}
	r.Watcher = New(c)
	ctx, end := context.WithCancel(context.Background())
	go r.Run(ctx)
	t.Cleanup(func() {
		end()
		<-r.ended
	})
	return r
}

// next is the next check that is done.
func (r *running) next() *Pass {
	r.t.Helper()
	select {
	case p := <-r.checks:
		return p
	case <-time.After(20 * time.Second):
		r.t.Fatal("there is no check")
		return nil
	}
}

// TestNamesCount: in a folder that is watched for one name, nothing else makes a
// check; in one that is watched whole, all does.
func TestNamesCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	check(t, os.Mkdir(whole, 0o700), os.Mkdir(part, 0o700))
	s := newSet(idle{}, New(Config{}))
	defer s.close()
	p := &Pass{set: s}
	p.begin()
	p.Folder(whole)
	p.Name(part, filepath.Join(part, "a"))
	p.end()
	for _, c := range []struct {
		path string
		op   fsnotify.Op
		want bool
	}{
		{filepath.Join(whole, "x"), fsnotify.Write, true}, {whole, fsnotify.Chmod, true},
		{filepath.Join(part, "a"), fsnotify.Write, true}, {filepath.Join(part, "b"), fsnotify.Write, false}, {filepath.Join(part, "b"), fsnotify.Create, false},
		{part, fsnotify.Chmod, false}, {part, fsnotify.Remove, true}, {part, fsnotify.Rename, true}, {filepath.Join(dir, "other"), fsnotify.Write, false},
	} {
		if got := s.counts(fsnotify.Event{Name: c.path, Op: c.op}); got != c.want {
			t.Errorf("%v of %s counts: %v, want %v", c.op, c.path, got, c.want)
		}
	}
}

// TestHalfDone: a check that finds something half written is repeated, who waits
// for it waits on, and after the longest time it takes what there is.
func TestHalfDone(t *testing.T) {
	t.Parallel()
	var half atomic.Bool
	r := run(t, Config{Longest: 60 * time.Millisecond}, func(*Pass) time.Duration {
		if half.Load() {
			return time.Millisecond
		}
		return 0
	})
	check(t, r.First(t.Context()))
	r.next()
	half.Store(true)
	check(t, r.CheckNow(t.Context()))
	last := 0
	for done := false; !done; {
		p := r.next()
		if last++; p.Last {
			done = true
		}
	}
	if last < 2 {
		t.Error("it took what is half written at once")
	}
	half.Store(false)
	check(t, r.CheckNow(t.Context()))
}

// TestWaiting: the first check is waited for however long it takes, a later one
// not longer than patience, and nobody waits for a watcher that has ended.
func TestWaiting(t *testing.T) {
	t.Parallel()
	enter, leave := make(chan struct{}), make(chan struct{})
	ctx, end := context.WithCancel(context.Background())
	w := New(Config{Log: hclog.NewNullLogger(), What: "files", Quiet: time.Millisecond, Longest: time.Minute, Poll: time.Hour, Every: time.Hour,
		Check: func(*Pass) time.Duration { enter <- struct{}{}; <-leave; return 0 }})
	go w.Run(ctx)
	<-enter
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := w.CatchUp(short, time.Nanosecond); err != context.DeadlineExceeded {
		t.Errorf("the first check was not waited for: %v", err)
	}
	leave <- struct{}{}
	check(t, w.First(ctx))
	w.Ask()
	<-enter
	w.hint()
	check(t, w.CatchUp(ctx, time.Millisecond)) // although the check goes on
	end()
	leave <- struct{}{}
	<-w.ended
	check(t, w.CheckNow(context.Background()), w.CatchUp(context.Background(), time.Hour))
	if n := w.Stats().Checks; n != 2 {
		t.Errorf("%d checks", n)
	}
}

// TestAfter: what a check has to be followed by comes when who waited knows, and
// events during a check make another one.
func TestAfter(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), ""
	after := make(chan struct{}, 100)
	file = filepath.Join(dir, "a")
	var once atomic.Bool
	r := run(t, Config{}, func(p *Pass) time.Duration {
		p.Folder(dir)
		if once.CompareAndSwap(false, true) {
			put(t, file, "while it is checked")
		}
		p.After = func() { after <- struct{}{} }
		return 0
	})
	r.next()
	r.next()
	<-after
	<-after
}

// TestAgainWithoutEvents: where the check came by what makes no events, it is
// repeated as if nothing could be watched, and otherwise now and then.
func TestAgainWithoutEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"unwatchable":  {Poll: 5 * time.Millisecond},
		"now and then": {Every: 5 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c, func(p *Pass) time.Duration {
				if name == "unwatchable" {
					p.Unwatchable()
				}
				return 0
			})
			for range 3 {
				r.next()
			}
			if why := r.Polling(); why != "" {
				t.Errorf("it says that it polls: %s", why)
			}
		})
	}
}

// TestReplaced: when another folder is at a path and no event told of it, as
// after an unmount, there is a check.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, other := filepath.Join(dir, "place"), filepath.Join(dir, "other")
	check(t, os.Mkdir(place, 0o700), os.Mkdir(other, 0o700))
	r := run(t, Config{Mounts: 5 * time.Millisecond, Open: func() (Notifier, error) { return idle{}, nil }}, func(p *Pass) time.Duration {
		p.Path(place)
		return 0
	})
	r.next()
	check(t, os.Rename(place, place+"-old"), os.Rename(other, place))
	r.next()
}

// failing fails while it is used, as often as errors are sent.
type failing struct {
	idle
	errs chan error
}

func (f failing) Events() <-chan fsnotify.Event { return nil }
func (f failing) Errors() <-chan error          { return f.errs }

// TestNotifierFails: a notifier that fails is given up, it is said why, and
// another one is tried.
func TestNotifierFails(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 1)
	var opened atomic.Int32
	w := run(t, Config{Poll: 10 * time.Millisecond, Retry: time.Millisecond, Open: func() (Notifier, error) {
		switch opened.Add(1) {
		case 1:
			return failing{errs: errs}, nil
		case 2:
			return nil, syscall.EMFILE
		}
		return idle{}, nil
	}}, func(p *Pass) time.Duration { return 0 })
	w.next()
	errs <- syscall.ENOSPC
	for opened.Load() < 2 {
		w.next()
	}
	for opened.Load() < 3 {
		w.next()
	}
	check(t, w.CheckNow(t.Context()))
	if why := w.Polling(); why != "" {
		t.Errorf("it still polls: %s", why)
	}
}

// TestRemedy: what a person can do is said where it is known.
func TestRemedy(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		syscall.ENOSPC: "no space left on device: raise the sysctl fs.inotify.max_user_watches",
		syscall.EMFILE: "too many open files: raise the sysctl fs.inotify.max_user_instances, or the limit on open files",
		syscall.EACCES: "permission denied",
	} {
		if got := remedy(err); got != want {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// TestLost: events that the system dropped are counted, and all is watched anew.
func TestLost(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 1)
	r := run(t, Config{Open: func() (Notifier, error) { return failing{errs: errs}, nil }}, func(p *Pass) time.Duration { return 0 })
	r.next()
	errs <- fsnotify.ErrEventOverflow
	r.next()
	if s := r.Stats(); s.Lost != 1 {
		t.Errorf("%+v", s)
	}
}

// TestKeys: whatever may be another content has another key.
func TestKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f")
	key := func() Key {
		info, err := os.Stat(file)
		check(t, err)
		return KeyOf(info)
	}
	put(t, file, "one")
	was := key()
	old := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(){
		"another size":              func() { put(t, file, "three") },
		"another file of that size": func() { put(t, file+".new", "three"); check(t, os.Rename(file+".new", file)) },
		"an old time":               func() { check(t, os.Chtimes(file, old, old)) },
	} {
		if change(); key() == was {
			t.Errorf("%s has the same key", name)
		}
		was = key()
	}
	changed := time.Unix(0, was.Changed)
	for _, c := range []struct {
		age          time.Duration
		sure, moving bool
	}{{-time.Second, false, false}, {0, false, true}, {99 * time.Millisecond, false, true}, {100 * time.Millisecond, false, false}, {Resolution, true, false}} {
		now := changed.Add(c.age)
		if sure, moving := was.Sure(now), was.Moving(now, 100*time.Millisecond); sure != c.sure || moving != c.moving {
			t.Errorf("after %v it is sure: %v, moving: %v", c.age, sure, moving)
		}
	}
}

// TestRest: something has rested when it was the same for long enough.
func TestRest(t *testing.T) {
	t.Parallel()
	var r Rest
	if left := r.Left("", time.Hour); left < time.Hour-time.Minute {
		t.Errorf("what is seen first has %v left", left)
	}
	r.since = r.since.Add(-30 * time.Minute)
	if left := r.Left("", time.Hour); left > 31*time.Minute || left < 29*time.Minute {
		t.Errorf("half the time later %v are left", left)
	}
	if r.since = r.since.Add(-time.Hour); r.Left("", time.Hour) != 0 {
		t.Error("it never rests")
	}
	if r.Left("another", time.Hour) == 0 {
		t.Error("what is another rests at once")
	}
}
