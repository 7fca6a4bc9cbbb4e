//go:build !linux

package host

import (
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// reap waits for the end, then kills what the process left in its group.
func (p *process) reap() error {
	state, err := p.cmd.Process.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalGroup(syscall.SIGKILL)
	p.state, p.ended = state, true
	return err
}

// limit does nothing: limits are set by the kernel of Linux.
func limit(int, config.Limits) {}

// limited is not known here.
func limited(int) config.Limits { return config.Limits{} }

// residentMemory is not known here.
func residentMemory(int) int64 { return 0 }
