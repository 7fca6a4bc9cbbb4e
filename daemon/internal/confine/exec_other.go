//go:build !linux

package confine

import (
	"errors"
	"syscall"
)

// Apart changes nothing here.
func Apart(*syscall.SysProcAttr) {}

// Probe is not possible here.
func Probe() error { return errors.New("only Linux can confine a process") }

// Exec is not possible here.
func Exec() error { return errors.New("only Linux can confine a process") }
