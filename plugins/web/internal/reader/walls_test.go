//go:build linux && (amd64 || arm64) && !race

package reader

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// breakOutArgument has the test's program try what a reader must not be able to do.
const breakOutArgument = "break-out"

// init says what worked of that, within walls.
func init() {
	if len(os.Args) != 2 || os.Args[1] != breakOutArgument {
		return
	}
	if err := wall(); err != nil {
		fmt.Print("no walls: ", err)
		os.Exit(0)
	}
	for name, attempt := range map[string]func() error{
		"read a file":  func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"write a file": func() error { return os.WriteFile("/tmp/bothy-broke-out", nil, 0o600) },
		"list":         func() error { _, err := os.ReadDir("/"); return err },
		"its own proc": func() error { _, err := os.ReadFile("/proc/self/environ"); return err },
		"connect":      func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
		"a socket":     func() error { _, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); return err },
		"a program":    func() error { return exec.Command("/bin/true").Run() },
		"a signal":     func() error { return syscall.Kill(os.Getppid(), 0) },
		"a priority":   func() error { return syscall.Setpriority(syscall.PRIO_PROCESS, os.Getppid(), 19) },
		"a group's":    func() error { return syscall.Setpriority(syscall.PRIO_PGRP, 0, 19) },
	} {
		err := attempt()
		if !errors.Is(err, syscall.EPERM) {
			fmt.Printf("%s: %v\n", name, err)
		}
	}
	if err := giveWay(); err != nil {
		fmt.Println("give way: ", err)
	}
	fmt.Print("held")
	os.Exit(0)
}

// TestWalls: what reads documents has no files, no network and no programs. It is not built with what watches for races,
// which makes calls of the system that a reader is refused.
func TestWalls(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "/proc/self/exe", breakOutArgument).Output()
	if err != nil || string(out) != "held" {
		t.Errorf("%v: %s", err, out)
	}
}
