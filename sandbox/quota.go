package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// What a run may hold is watched, not enforced: a file system gives no ordinary
// user a quota for a folder. A command that makes it hold too much is ended, or
// told when it has ended by itself; one that finds it holding too much may run,
// as long as it does not add to it, for it may be what removes something.
const (
	// watchEvery is the pause between two looks at a command that runs.
	watchEvery = time.Second
	// seldom keeps looking cheap beside what is looked at: it takes one part
	// of so many of the time.
	seldom = 20
	// fresh is how long a measure serves, unless the disk says otherwise.
	fresh = 250 * time.Millisecond
	// slack is what a command may add when there is too much already.
	slack = 1 * mib
	// reserve is what a command must leave free on a disk, and share is what
	// it must have taken itself to be ended for it.
	reserve, share = 256 * mib, 64 * mib
)

// Overflow says that a run's files became too many by a command, or a disk too
// full. The command was killed, or had ended by itself.
type Overflow struct {
	// Used and Quota are bytes of the run's home and private workspace.
	Used, Quota int64
	// Disk says that it is about the disk, of which Free bytes are left.
	Disk   bool
	Free   int64
	Killed bool
}

// Error is one sentence for people; see also [Overflow.Hint].
func (o *Overflow) Error() string {
	how := "after the command"
	if o.Killed {
		how = "so the command was killed"
	}
	if o.Disk {
		return fmt.Sprintf("the disk is almost full (%s left), %s", size(o.Free), how)
	}
	return fmt.Sprintf("the run's files hold %s, more than the %s they may, %s", size(o.Used), size(o.Quota), how)
}

// Hint says what to do about it.
func (o *Overflow) Hint() string {
	return "remove what is not needed below $HOME, $HOME/.cache and $TMPDIR (du -sh ~/.[!.]* ~/* shows it) and what was added to caches of packages: commands that only remove still run; or reset the run, or raise sandbox.quota"
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= gib:
		return fmt.Sprintf("%.1f GB", float64(n)/gib)
	case n >= mib:
		return fmt.Sprintf("%.1f MB", float64(n)/mib)
	}
	return fmt.Sprintf("%d kB", n>>10)
}

// meter is what is known of the folders that count for a run's quota.
type meter struct {
	run     place
	folders []string
	// disks are folders on the file systems that commands can fill.
	disks []string

	used  int64
	known bool
	at    time.Time
	took  time.Duration
	free  int64 // on the first disk when it was measured
}

func newMeter(run RunSpec) *meter {
	m := &meter{run: run.place(), folders: []string{run.home()}, disks: []string{run.home()}}
	if run.Project == "" {
		m.folders = append(m.folders, run.Workspace())
	} else {
		m.disks = append(m.disks, run.Workspace())
	}
	if run.views != "" { // what a command changes lies there until it is applied
		m.folders, m.disks = append(m.folders, run.views), append(m.disks, run.views)
	}
	return m
}

// measure looks at all of it, until stop.
func (m *meter) measure(stop func() bool) {
	began := time.Now()
	d := diskUse{stop: stop, until: began.Add(watchEvery)}
	for _, folder := range m.folders {
		d.add(folder)
	}
	if stop() {
		return
	}
	m.used, m.known, m.at = d.bytes, true, time.Now()
	m.took, m.free = m.at.Sub(began), freeBytes(m.disks[0])
}

// stale says whether it is worth looking again: some time went by, or so much
// was written to the disk that half of what is left may be gone.
func (m *meter) stale(limit int64) bool {
	if !m.known || time.Since(m.at) > max(fresh, seldom*m.took) {
		return true
	}
	return m.free-freeBytes(m.disks[0]) > max(0, limit-m.used)/2
}

// watch looks at one command.
type watch struct {
	meter        *meter
	quota, limit int64
	free         []int64 // on each disk when the command began
	kill         context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	over  *Overflow
	ended atomic.Bool
}

var errOverflow = errors.New("the run's files became too many")

// begin watches a command; kill ends it with errOverflow.
func (m *meter) begin(quota int64, kill context.CancelCauseFunc) *watch {
	if quota < 0 {
		return nil
	}
	if !m.known {
		m.measure(never)
	}
	w := &watch{meter: m, quota: quota, limit: quota, kill: kill}
	if m.used > quota {
		w.limit = m.used + slack
	}
	for _, disk := range m.disks {
		w.free = append(w.free, freeBytes(disk))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(watchEvery, w.look)
	return w
}

func never() bool { return false }

// look is made again and again while the command runs.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meter.measure(w.ended.Load)
	if w.ended.Load() {
		return
	}
	if w.over = w.judge(); w.over != nil {
		w.over.Killed = true
		w.kill(errOverflow)
		return
	}
	w.timer.Reset(max(watchEvery, seldom*w.meter.took))
}

// end looks once more when it is worth it.
func (w *watch) end() *Overflow {
	if w == nil {
		return nil
	}
	w.ended.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	if w.over == nil && w.meter.stale(w.limit) {
		w.meter.measure(never)
		if w.over = w.judge(); w.over != nil && w.over.Disk {
			w.over = nil // it has ended, and did what it did
		}
	}
	return w.over
}

func (w *watch) judge() *Overflow {
	if w.meter.used > w.limit {
		return &Overflow{Used: w.meter.used, Quota: w.quota}
	}
	for i, disk := range w.meter.disks {
		if free := freeBytes(disk); free >= 0 && free < reserve && w.free[i]-free > share {
			return &Overflow{Used: w.meter.used, Quota: w.quota, Disk: true, Free: free}
		}
	}
	return nil
}
