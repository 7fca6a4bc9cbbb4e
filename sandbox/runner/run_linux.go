package main

import (
	"fmt"
	"os"
	"runtime"
)

// run serves managers until none has been there for the grace period. It
// refuses to be anything but process 1: anywhere else kill(-1) would end
// processes that are not its own.
func run(socket string) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("not process 1 of a container (pid %d): refusing to run", os.Getpid())
	}
	runtime.GOMAXPROCS(2)
	if err := harden(); err != nil {
		return err
	}
	processes := newProcesses()
	go processes.reap()
	l := link{socket: socket, processes: processes, oom: newOOMCounter()}
	return l.serve()
}
