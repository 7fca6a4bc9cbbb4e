package confine

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where seccomp_data has what a filter reads. Both machines are little-endian.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

// namespaces are the flags of clone that make a namespace: within a user
// namespace a process has every capability, and much more of the kernel to
// attack.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// ioprioProcess is IOPRIO_WHO_PROCESS: ioprio_set is about one process.
const ioprioProcess = 1

// program is a filter of system calls that is being written. Every part of it
// leaves the number of the call in the accumulator.
type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *program) load(at uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }

// arg loads the low half of an argument: the kernel reads these as int.
func (p *program) arg(n uint32) { p.load(atArgs + 8*n) }

func (p *program) ret(action uint32) { p.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

func (p *program) refuse(errno unix.Errno) { p.ret(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

// is runs part for one system call only.
func (p *program) is(number uint32, part func(*program)) {
	var body program
	part(&body)
	body.load(atNumber)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, uint8(len(body)))
	*p = append(*p, body...)
}

// unless refuses when the accumulator is none of values.
func (p *program) unless(errno unix.Errno, values ...uint32) {
	for n, v := range values {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, v, uint8(len(values)-n), 0)
	}
	p.refuse(errno)
}

// filter is the whole program for a process. One that has no root of its own
// could name every file of the user's, and may not change what Landlock does not
// look at: modes, owners, times and attributes.
func filter(network, apart bool) program {
	var p program
	p.load(atArch)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch, 1, 0)
	p.ret(unix.SECCOMP_RET_KILL_PROCESS) // another machine's calls have other numbers
	p.load(atNumber)
	p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, otherNumbers, 0, 1)
	p.refuse(unix.ENOSYS)
	p.is(unix.SYS_CLONE3, func(p *program) { p.refuse(unix.ENOSYS) }) // its flags are in memory: libraries fall back to clone
	p.is(unix.SYS_CLONE, func(p *program) {
		p.arg(0)
		p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1)
		p.refuse(unix.EPERM)
	})
	sockets(&p, network)
	own(&p)
	numbers := slices.Concat(refused, refusedHere)
	if !apart {
		numbers = slices.Concat(numbers, changes, changesHere)
		times(&p)
	}
	for _, number := range numbers {
		p.is(number, func(p *program) { p.refuse(unix.EPERM) })
	}
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// sockets leaves a plugin without network the Unix sockets that have a
// connection: a datagram could go to any socket of any program.
func sockets(p *program, network bool) {
	if network {
		p.is(unix.SYS_SOCKET, func(p *program) {
			p.arg(0)
			p.unless(unix.EAFNOSUPPORT, unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
		})
		return
	}
	for _, number := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} { // one of a pair can send elsewhere as well
		p.is(number, func(p *program) {
			p.arg(0)
			p.unless(unix.EAFNOSUPPORT, unix.AF_UNIX)
			p.arg(1)
			p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0) // without SOCK_CLOEXEC and SOCK_NONBLOCK
			p.unless(unix.EACCES, unix.SOCK_STREAM, unix.SOCK_SEQPACKET)
		})
	}
}

// own holds calls that may name another process to the caller itself. Limits
// and priorities of everything that the user runs could be set by them.
func own(p *program) {
	for _, number := range []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		p.is(number, func(p *program) {
			p.arg(0)
			p.unless(unix.EPERM, 0)
		})
	}
	for number, process := range map[uint32]uint32{unix.SYS_SETPRIORITY: unix.PRIO_PROCESS, unix.SYS_IOPRIO_SET: ioprioProcess} {
		p.is(number, func(p *program) {
			p.arg(0)
			p.unless(unix.EPERM, process)
			p.arg(1)
			p.unless(unix.EPERM, 0)
		})
	}
	p.is(unix.SYS_PERSONALITY, func(p *program) {
		p.arg(0)
		p.unless(unix.EPERM, 0, 0xffffffff) // set to the usual, or asked for
	})
	p.is(unix.SYS_IOCTL, func(p *program) {
		p.arg(1)
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.TIOCSTI, 0, 1)
		p.refuse(unix.EPERM)
	})
}

// times refuses to change those of a path: without one, the call is about an
// open file.
func times(p *program) {
	p.is(unix.SYS_UTIMENSAT, func(p *program) {
		p.arg(1)
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 0, 2)
		p.load(atArgs + 8*1 + 4)
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, 0)
		p.refuse(unix.EPERM)
	})
}

// changes are what Landlock does not look at, and a path is enough for.
var changes = []uint32{
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// refused are the calls that a plugin has no business with. io_uring makes
// calls that no filter sees, and Landlock does not look at what processes share
// besides files.
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_USERFAULTFD, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// install makes the filter hold for this thread, and for whatever it becomes.
func install(p program) error {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return fmt.Errorf("this kernel cannot filter the system calls of a process: %w", errno)
	}
	return nil
}

// filters reports whether the kernel can filter system calls with the actions
// that the filter takes.
func filters() bool {
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return arch != 0 && errno == 0
}
