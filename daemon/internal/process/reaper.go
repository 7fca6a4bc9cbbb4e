package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/group"
)

// telling is how long the reaper may take to hear of a group. It does nothing
// but read.
const telling = time.Second

// reaper is the process beside the daemon that kills what plugins have started
// when the daemon is killed: a plugin ends with the daemon by the kernel's hand,
// its children do not. Without one, and for a nil reaper, they may stay.
type reaper struct {
	shim string
	log  hclog.Logger

	mu    sync.Mutex
	there map[group.Group]struct{}
	pipe  *os.File // nil while there is no process
	cmd   *exec.Cmd
}

// newReaper starts the process. That it cannot is a warning: the plugins run
// all the same.
func newReaper(shim string, log hclog.Logger) *reaper {
	if shim == "" {
		return nil
	}
	r := &reaper{shim: shim, log: log, there: map[group.Group]struct{}{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start()
	return r
}

// start needs r.mu.
func (r *reaper) start() {
	if err := r.begin(); err != nil {
		hint := "repair the installation"
		if !errors.Is(err, fs.ErrNotExist) {
			hint = "see the error"
		}
		r.log.Warn("should the daemon be killed, what plugins have started may stay behind: nobody can watch for it", "error", err, "hint", hint)
	}
}

func (r *reaper) begin() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(r.shim, "reap")
	cmd.Stdin, cmd.Env, cmd.Dir = out, []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's Ctrl-C is not for it
	err = errors.Join(cmd.Start(), out.Close())
	if err != nil {
		return errors.Join(err, in.Close())
	}
	r.cmd, r.pipe = cmd, in
	return nil
}

// add tells of the group that a process leads which was started with a mark, and returns it.
func (r *reaper) add(pid int, mark string) group.Group {
	if r == nil {
		return group.Group{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g := group.Of(pid, mark)
	r.there[g] = struct{}{}
	r.tell(g.Line(true))
	return g
}

// remove tells that the group is gone.
func (r *reaper) remove(g group.Group) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.there, g)
	r.tell(g.Line(false))
}

// tell needs r.mu. A reaper that is gone, or does not listen, gets a successor,
// which is told of all that is there.
func (r *reaper) tell(line string) {
	if r.pipe == nil || r.say(line) == nil {
		return
	}
	r.log.Warn("who watches for what plugins have started is gone, and another takes the place")
	r.end()
	r.start()
	if r.pipe == nil {
		return
	}
	for g := range r.there {
		if err := r.say(g.Line(true)); err != nil {
			r.log.Warn("telling of what plugins have started", "error", err)
			return
		}
	}
}

func (r *reaper) say(line string) error {
	if err := r.pipe.SetWriteDeadline(time.Now().Add(telling)); err != nil {
		return err
	}
	_, err := r.pipe.WriteString(line)
	return err
}

// end needs r.mu. The process kills nothing: it is gone before its input ends.
func (r *reaper) end() {
	if r.pipe == nil {
		return
	}
	_ = r.cmd.Process.Kill() // it may have ended
	_ = r.cmd.Wait()         // killed, as wanted
	_ = r.pipe.Close()       // nobody reads it
	r.pipe, r.cmd = nil, nil
}

// stop ends the process when all plugins have ended in order.
func (r *reaper) stop() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}
