package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bothy-runner SOCKET (started by the sandbox as process 1 of a container)")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bothy-runner:", err)
		os.Exit(1)
	}
}

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
