//go:build failpoints

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// The environment variables that say at which failpoint this process kills or
// stops itself: 3 is the third that it comes to.
const (
	killVariable = "BOTHY_VIEW_KILL"
	stopVariable = "BOTHY_VIEW_STOP"
)

var toKill, toStop atomic.Int64

func init() {
	for name, left := range map[string]*atomic.Int64{killVariable: &toKill, stopVariable: &toStop} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			panic(fmt.Sprintf("%s=%s: it is no count", name, text))
		}
		left.Store(int64(n))
	}
}

func hit() {
	if toStop.Add(-1) == 0 {
		// This very thread, which must not go on until it is told to.
		runtime.LockOSThread()
		_ = unix.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
		runtime.UnlockOSThread()
	}
	if toKill.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
