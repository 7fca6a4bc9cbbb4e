//go:build !linux

package process

import "github.com/bothyd/bothy/daemon/internal/config"

// reap waits for the end, then kills what the process left in its group.
func (p *Process) reap() error {
	state, err := p.cmd.Process.Wait()
	p.killGroup()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.ended = state, true
	return err
}

// limit does nothing: limits are set by the kernel of Linux.
func limit(int, config.Limits) {}

// Limited is not known here.
func Limited(int) config.Limits { return config.Limits{} }

// Resident is not known here.
func Resident(int) int64 { return 0 }
