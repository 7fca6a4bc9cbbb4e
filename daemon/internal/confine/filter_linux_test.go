package confine

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// ruling runs a filter as the kernel does, on one system call.
func ruling(t *testing.T, p program, machine, number uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[atNumber:], number)
	binary.LittleEndian.PutUint32(data[atArch:], machine)
	for n, a := range args {
		binary.LittleEndian.PutUint64(data[atArgs+8*n:], a)
	}
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		ins := p[pc]
		yes := false
		switch ins.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[ins.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= ins.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return ins.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			yes = acc == ins.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			yes = acc >= ins.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			yes = acc&ins.K != 0
		default:
			t.Fatalf("instruction %d is %+v", pc, ins)
		}
		if yes {
			pc += int(ins.Jt)
		} else {
			pc += int(ins.Jf)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilter(t *testing.T) {
	const allow = uint32(unix.SECCOMP_RET_ALLOW)
	errno := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	for _, c := range []struct {
		name    string
		machine uint32
		number  uint32
		args    []uint64
		closed  uint32 // without the network
		open    uint32
	}{
		{name: "another machine", machine: unix.AUDIT_ARCH_I386, number: 20, closed: unix.SECCOMP_RET_KILL_PROCESS, open: unix.SECCOMP_RET_KILL_PROCESS},
		{name: "another machine's numbers", number: 0x40000000 + unix.SYS_SOCKET, args: []uint64{unix.AF_INET}, closed: errno(unix.ENOSYS), open: errno(unix.ENOSYS)},
		{name: "read", number: unix.SYS_READ, closed: allow, open: allow},
		{name: "inet", number: unix.SYS_SOCKET, args: []uint64{unix.AF_INET, unix.SOCK_STREAM}, closed: errno(unix.EAFNOSUPPORT), open: allow},
		{name: "inet, above the half that counts", number: unix.SYS_SOCKET, args: []uint64{1<<32 | unix.AF_INET, unix.SOCK_STREAM}, closed: errno(unix.EAFNOSUPPORT), open: allow},
		{name: "unix", number: unix.SYS_SOCKET, args: []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, closed: allow, open: allow},
		{name: "unix packets", number: unix.SYS_SOCKET, args: []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, closed: allow, open: allow},
		{name: "unix datagrams", number: unix.SYS_SOCKET, args: []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, closed: errno(unix.EACCES), open: allow},
		{name: "unix raw, which is datagrams", number: unix.SYS_SOCKET, args: []uint64{unix.AF_UNIX, unix.SOCK_RAW}, closed: errno(unix.EACCES), open: allow},
		{name: "the link", number: unix.SYS_SOCKET, args: []uint64{unix.AF_PACKET, unix.SOCK_RAW}, closed: errno(unix.EAFNOSUPPORT), open: errno(unix.EAFNOSUPPORT)},
		{name: "the machine's host", number: unix.SYS_SOCKET, args: []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, closed: errno(unix.EAFNOSUPPORT), open: errno(unix.EAFNOSUPPORT)},
		{name: "a pair", number: unix.SYS_SOCKETPAIR, args: []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, closed: allow, open: allow},
		{name: "a pair for datagrams", number: unix.SYS_SOCKETPAIR, args: []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, closed: errno(unix.EACCES), open: allow},
		{name: "a thread", number: unix.SYS_CLONE, args: []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, closed: allow, open: allow},
		{name: "a user namespace", number: unix.SYS_CLONE, args: []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "clone3", number: unix.SYS_CLONE3, closed: errno(unix.ENOSYS), open: errno(unix.ENOSYS)},
		{name: "io_uring", number: unix.SYS_IO_URING_SETUP, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "its own limits", number: unix.SYS_PRLIMIT64, args: []uint64{0}, closed: allow, open: allow},
		{name: "other limits", number: unix.SYS_PRLIMIT64, args: []uint64{1}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "its own priority", number: unix.SYS_SETPRIORITY, args: []uint64{unix.PRIO_PROCESS, 0}, closed: allow, open: allow},
		{name: "the user's priority", number: unix.SYS_SETPRIORITY, args: []uint64{unix.PRIO_USER, 0}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "the user's turn at the disk", number: unix.SYS_IOPRIO_SET, args: []uint64{3, 0}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "its own turn at the disk", number: unix.SYS_IOPRIO_SET, args: []uint64{1, 0}, closed: allow, open: allow},
		{name: "times of an open file", number: unix.SYS_UTIMENSAT, args: []uint64{3, 0}, closed: allow, open: allow},
		{name: "times of a path", number: unix.SYS_UTIMENSAT, args: []uint64{3, 7}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "times of a path far up", number: unix.SYS_UTIMENSAT, args: []uint64{3, 1 << 32}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "typing for the terminal", number: unix.SYS_IOCTL, args: []uint64{0, unix.TIOCSTI}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
		{name: "what an address space looks like", number: unix.SYS_PERSONALITY, args: []uint64{0xffffffff}, closed: allow, open: allow},
		{name: "another machine's habits", number: unix.SYS_PERSONALITY, args: []uint64{0x0008}, closed: errno(unix.EPERM), open: errno(unix.EPERM)},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine := c.machine
			if machine == 0 {
				machine = arch
			}
			for network, want := range map[bool]uint32{false: c.closed, true: c.open} {
				if got := ruling(t, filter(network, false), machine, c.number, c.args...); got != want {
					t.Errorf("network %v: %#x, want %#x", network, got, want)
				}
			}
		})
	}
	for _, number := range []uint32{unix.SYS_FCHMODAT, unix.SYS_SETXATTR, unix.SYS_UTIMENSAT} {
		for apart, want := range map[bool]uint32{false: errno(unix.EPERM), true: allow} {
			if got := ruling(t, filter(false, apart), arch, number, 0, 7); got != want {
				t.Errorf("call %d with a root of its own (%v): %#x, want %#x", number, apart, got, want)
			}
		}
	}
	if n := len(filter(false, false)); n > 4096 {
		t.Errorf("the filter has %d instructions, the kernel takes 4096", n)
	}
}

func TestLacks(t *testing.T) {
	for _, c := range []struct {
		kernel Kernel
		lacks  int
	}{
		{Kernel{landlock: 7, filters: true, roots: true}, 0}, {Kernel{landlock: 6, filters: true, roots: true}, 0},
		{Kernel{landlock: 99, filters: true, roots: true}, 0}, {Kernel{landlock: 9, filters: true}, 0}, {Kernel{landlock: 7, filters: true}, 1},
		{Kernel{landlock: 5, filters: true, roots: true}, 1}, {Kernel{landlock: 2, filters: true, roots: true}, 2},
		{Kernel{landlock: 7, roots: true}, 1}, {Kernel{}, 3},
	} {
		if got := c.kernel.Lacks(); len(got) != c.lacks {
			t.Errorf("%+v: %q, want %d", c.kernel, got, c.lacks)
		}
	}
}
