//go:build linux

// Command attack tries what a command in the sandbox must not be able to do, by
// system calls and without a library between. It exits with 0 when the attack
// worked, with 1 when it was refused, and with 2 when it could not be tried. The
// word "can" before a name is for what must work: it exits with 0 when it does.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	worked  = 0
	refused = 1
	untried = 2
)

func main() {
	debug.SetGCPercent(-1) // the children of fork have this thread only
	if len(os.Args) < 2 {
		os.Exit(untried)
	}
	name, args := os.Args[1], os.Args[2:]
	if name == "can" && len(args) > 0 {
		os.Exit(can(args[0], args[1:]))
	}
	if tries, ok := calls()[name]; ok {
		os.Exit(all(tries))
	}
	if do, ok := deeds[name]; ok {
		os.Exit(report(name, do(args)))
	}
	fmt.Println("no such attack:", name)
	os.Exit(untried)
}

// call is one system call with its arguments.
type call struct {
	name string
	nr   uintptr
	args [6]uintptr
}

// all makes each call in a process of its own and tells how it ended; one that
// is allowed is an attack that worked.
func all(calls []call) int {
	code := refused
	for _, c := range calls {
		errno, err := inChild(c)
		switch {
		case err != nil:
			fmt.Println(c.name, "untried:", err)
			return untried
		case errno == 0:
			fmt.Println(c.name, "ALLOWED")
			code = worked
		default:
			fmt.Println(c.name, unix.ErrnoName(errno))
		}
	}
	return code
}

// inChild makes a system call in a process with one thread: the kernel refuses
// some of them to others. The child ends with the error number as its status.
func inChild(c call) (syscall.Errno, error) {
	pid, errno := forkCall(c.nr, &c.args)
	if errno != 0 {
		return 0, errno
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(pid), &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		break
	}
	if status.Signaled() {
		return syscall.EPERM, nil // seccomp may kill instead
	}
	return syscall.Errno(status.ExitStatus()), nil
}

//go:nosplit
//go:norace
func forkCall(nr uintptr, a *[6]uintptr) (uintptr, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	r, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 && int(r) < 0 {
		errno = syscall.EINVAL
	}
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	}
}

func report(name string, err error) int {
	if err == nil {
		fmt.Println(name, "ALLOWED")
		return worked
	}
	fmt.Println(name, err)
	return refused
}

// text is a C string that lives as long as the program.
func text(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// words are numbers in memory.
func words(n ...uint64) uintptr {
	kept = append(kept, n)
	return uintptr(unsafe.Pointer(&n[0]))
}

var kept []any
