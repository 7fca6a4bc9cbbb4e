//go:build linux && (amd64 || arm64)

package reader

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wall leaves the process what it needs to turn bytes into text: the pipes that it has, memory up to a
// bound, time, and threads of its own. Every other call of the system is refused, so that there is neither
// file nor network nor another process for it, whatever a document makes of it. It is called in init, which stays on one thread.
func wall() error {
	rest()
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: Memory, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("a reader cannot be bounded: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("a reader cannot give up rights: %w", err)
	}
	program := filter(uint32(os.Getpid()))
	loaded := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&loaded)))
	runtime.KeepAlive(program)
	switch errno {
	case 0:
		return nil
	case unix.ENOSYS, unix.EINVAL:
		return fmt.Errorf("this kernel cannot filter system calls: %w", errors.ErrUnsupported)
	}
	return fmt.Errorf("the walls of a reader: %w", errno)
}

// Walled reports whether the kernel can hold a reader to that.
func Walled() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// Where seccomp_data has what the filter reads. Both machines are little-endian.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

// needed are the calls of the system that Go makes when it computes, reads and writes.
var needed = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_FCNTL,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETRUSAGE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PPOLL,
}

// filter is the program that the kernel asks at each call of the system.
func filter(self uint32) (p []unix.SockFilter) {
	add := func(code uint16, k uint32, yes, no uint8) {
		p = append(p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
	}
	load := func(at uint32) { add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
	ret := func(action uint32) { add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }
	const refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

	load(atArch)
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, machine, 1, 0)
	ret(unix.SECCOMP_RET_KILL_PROCESS) // another machine's calls have other numbers
	load(atNumber)
	for _, number := range needed {
		add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, 1)
		ret(unix.SECCOMP_RET_ALLOW)
	}
	// Threads, but no processes.
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_CLONE, 0, 4)
	load(atArgs)
	add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.CLONE_THREAD, 0, 1)
	ret(unix.SECCOMP_RET_ALLOW)
	ret(refuse)
	// Signals to its own threads, by which Go interrupts them.
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_TGKILL, 0, 4)
	load(atArgs)
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, self, 0, 1)
	ret(unix.SECCOMP_RET_ALLOW)
	ret(refuse)
	// The priority of the thread that asks (giveWay).
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SETPRIORITY, 0, 5)
	load(atArgs)
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.PRIO_PROCESS, 0, 3)
	load(atArgs + 8)
	add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 0, 1)
	ret(unix.SECCOMP_RET_ALLOW)
	ret(refuse)
	return p
}
