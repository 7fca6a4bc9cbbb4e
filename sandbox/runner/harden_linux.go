package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// threads is how many OS threads exist before the first command: enough for
// every blocking call the runner makes at once. The Go runtime aborts when it
// cannot make a thread, and a fork bomb uses up the process limit.
const threads = 12

// harden makes the runner safe from commands of its own uid: no signal ends
// it, nobody may trace it, read its memory or take its descriptors.
func harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become not dumpable: %w", err)
	}
	ignoreSignals()
	makeThreads(threads)
	return nil
}

// ignoreSignals takes every signal and drops it. Ignoring with SIG_IGN would
// be inherited by commands; a handler is reset by their exec.
func ignoreSignals() {
	taken := make(chan os.Signal, 1)
	var all []os.Signal
	for n := 1; n <= 64; n++ {
		all = append(all, syscall.Signal(n))
	}
	signal.Notify(taken, all...)
	go func() {
		for range taken {
		}
	}()
}

// makeThreads blocks n threads in the kernel at the same time and lets them go;
// the Go runtime keeps them for later.
func makeThreads(n int) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return
	}
	var waiting, done sync.WaitGroup
	for range n {
		waiting.Add(1)
		done.Go(func() {
			waiting.Done()
			var b [1]byte
			_, _ = unix.Read(pipe[0], b[:])
		})
	}
	waiting.Wait()
	_ = unix.Close(pipe[1])
	done.Wait()
	_ = unix.Close(pipe[0])
}
