package main

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processes owns every process in the container but the runner: it starts the
// main process of a command, reaps it and all orphans, and kills what is left.
type processes struct {
	mu sync.Mutex
	// started wakes the reaper when it found nothing to wait for.
	started *sync.Cond
	// main is the command's own process, 0 when none runs; its wait status
	// goes to exited.
	main   int
	exited chan exit
	// orphans counts reaped processes that are not main.
	orphans int
	// reaped is closed and made anew whenever the reaper reaped something.
	reaped chan struct{}
}

type exit struct {
	status syscall.WaitStatus
	at     time.Time
}

func newProcesses() *processes {
	p := &processes{reaped: make(chan struct{})}
	p.started = sync.NewCond(&p.mu)
	return p
}

// start makes the main process of a command. The reaper cannot run while it
// does: it would reap a process that exits at once before its pid is known.
func (p *processes) start(argv0 string, argv []string, attr *syscall.ProcAttr) (<-chan exit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.ForkExec(argv0, argv, attr)
	if err != nil {
		return nil, err
	}
	p.main = pid
	p.exited = make(chan exit, 1)
	p.orphans = 0
	p.started.Broadcast()
	preferOOM(pid)
	return p.exited, nil
}

// reap waits for processes for ever. A child that cannot be found (ECHILD)
// means that the container is empty until the next start: an orphan is handed
// to process 1 before its parent can be reaped.
func (p *processes) reap() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			p.collect()
		case errors.Is(err, unix.ECHILD):
			p.mu.Lock()
			for p.main == 0 {
				p.started.Wait()
			}
			p.mu.Unlock()
		}
	}
}

// collect reaps everything that is ready.
func (p *processes) collect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		if pid == p.main {
			p.exited <- exit{status: status, at: time.Now()}
			p.main = 0
		} else {
			p.orphans++
		}
	}
	close(p.reaped)
	p.reaped = make(chan struct{})
}

// killAll ends every process in the container but the runner and waits until
// they are reaped. It answers false when something lives on after the limit.
// kill(-1) is complete: it walks all processes under the lock that fork needs.
func (p *processes) killAll(limit time.Duration) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		reaped := p.reaped
		p.mu.Unlock()
		if err := unix.Kill(-1, unix.SIGKILL); errors.Is(err, unix.ESRCH) {
			p.delivered()
			return true
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case <-reaped:
		case <-again.C:
		case <-deadline.C:
			again.Stop()
			return false
		}
		again.Stop()
	}
}

// delivered returns once the exits of all reaped processes are handed over: the
// reaper takes a process out of the kernel's table before it says so.
func (p *processes) delivered() {
	p.mu.Lock()
	defer p.mu.Unlock()
}

// orphansNow is how many processes beside the main one were reaped since the
// last start.
func (p *processes) orphansNow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.orphans
}
