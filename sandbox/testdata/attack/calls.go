//go:build linux

package main

import "golang.org/x/sys/unix"

// minus is a negative argument.
func minus(n int) uintptr { return uintptr(-n) }

// calls are the attacks that are system calls, by name.
func calls() map[string][]call {
	c := func(name string, nr uintptr, args ...uintptr) call {
		out := call{name: name, nr: nr}
		copy(out.args[:], args)
		return out
	}
	sock := func(name string, family, kind, protocol uintptr) call {
		return c(name, unix.SYS_SOCKET, family, kind, protocol)
	}
	m := map[string][]call{
		"mount": {
			c("mount tmpfs", unix.SYS_MOUNT, text("none"), text("/tmp"), text("tmpfs"), 0, 0),
			c("mount proc", unix.SYS_MOUNT, text("none"), text("/tmp"), text("proc"), 0, 0),
			c("bind", unix.SYS_MOUNT, text("/usr"), text("/workspace"), 0, unix.MS_BIND, 0),
			c("remount rw", unix.SYS_MOUNT, text("none"), text("/"), 0, unix.MS_REMOUNT|unix.MS_BIND, 0),
			c("umount", unix.SYS_UMOUNT2, text("/workspace"), unix.MNT_DETACH),
			c("pivot_root", unix.SYS_PIVOT_ROOT, text("/tmp"), text("/tmp")),
			c("fsopen", unix.SYS_FSOPEN, text("tmpfs"), 0),
			c("fsmount", unix.SYS_FSMOUNT, 0, 0, 0),
			c("move_mount", unix.SYS_MOVE_MOUNT, minus(100), text("/tmp"), minus(100), text("/workspace"), 0),
			c("mount_setattr", unix.SYS_MOUNT_SETATTR, minus(100), text("/"), 0, words(0, 1, 0, 0), 32),
		},
		"setns": {
			c("setns", unix.SYS_SETNS, open("/proc/self/ns/mnt"), 0),
			c("setns of a pid", unix.SYS_SETNS, pidfd(1), unix.CLONE_NEWNS|unix.CLONE_NEWUSER),
			c("open_tree", unix.SYS_OPEN_TREE, minus(100), text("/"), 1),
			c("chroot", unix.SYS_CHROOT, text("/tmp")),
			c("mknod block", unix.SYS_MKNODAT, minus(100), text("/tmp/b"), unix.S_IFBLK|0o600, 254<<8),
			c("mknod character", unix.SYS_MKNODAT, minus(100), text("/tmp/c"), unix.S_IFCHR|0o600, 1<<8|1),
		},
		"unshare": nil, "clone": nil,
		"packets": {
			sock("raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
			sock("raw of IPv6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6),
			sock("packet", unix.AF_PACKET, unix.SOCK_RAW, 0x300),
			sock("xdp", unix.AF_XDP, unix.SOCK_RAW, 0),
			sock("ping", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
		},
		"vsock": {
			sock("vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
			sock("vsock of datagrams", unix.AF_VSOCK, unix.SOCK_DGRAM, 0),
			sock("vsock, domain with a high bit", 1<<32|unix.AF_VSOCK, unix.SOCK_STREAM, 0),
			c("socketpair of vsock", unix.SYS_SOCKETPAIR, unix.AF_VSOCK, unix.SOCK_STREAM, 0, words(0)),
		},
		"netlink": {
			sock("audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
			sock("netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
			sock("uevent", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
		},
		"families": {
			sock("alg", unix.AF_ALG, unix.SOCK_SEQPACKET, 0), sock("tipc", unix.AF_TIPC, unix.SOCK_STREAM, 0),
			sock("can", unix.AF_CAN, unix.SOCK_RAW, 1), sock("key", unix.AF_KEY, unix.SOCK_RAW, 2),
			sock("bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 1), sock("kcm", unix.AF_KCM, unix.SOCK_DGRAM, 0),
			sock("rds", unix.AF_RDS, unix.SOCK_SEQPACKET, 0), sock("smc", unix.AF_SMC, unix.SOCK_STREAM, 0),
		},
		"keys": {
			c("add_key", unix.SYS_ADD_KEY, text("user"), text("a"), text("b"), 1, minus(2)),
			c("request_key", unix.SYS_REQUEST_KEY, text("user"), text("a"), 0, 0),
			c("keyctl", unix.SYS_KEYCTL, 0, minus(3), 1),
		},
		"kernel": {
			c("bpf", unix.SYS_BPF, 0, words(1, 4, 4, 1, 0, 0, 0), 56),
			c("perf_event_open", unix.SYS_PERF_EVENT_OPEN, words(1, 0, 0, 0, 0, 0, 0, 0), 0, minus(1), minus(1), 0),
			c("userfaultfd", unix.SYS_USERFAULTFD, 1),
			c("io_uring_setup", unix.SYS_IO_URING_SETUP, 1, words(make([]uint64, 16)...)),
			c("kexec_load", unix.SYS_KEXEC_LOAD, 0, 0, 0, 0), c("init_module", unix.SYS_INIT_MODULE, 0, 0, text("")),
			c("finit_module", unix.SYS_FINIT_MODULE, 0, text(""), 0), c("delete_module", unix.SYS_DELETE_MODULE, text("x"), 0),
			c("reboot", unix.SYS_REBOOT, 0xfee1dead, 672274793, 0, 0), // CAD off: nothing happens where it is allowed
			c("swapon", unix.SYS_SWAPON, text("/tmp/x"), 0), c("acct", unix.SYS_ACCT, 0),
			c("quotactl", unix.SYS_QUOTACTL, 0x800001<<8, 0, 0, 0), c("syslog", unix.SYS_SYSLOG, 3, words(0), 8),
			c("settimeofday", unix.SYS_SETTIMEOFDAY, words(0, 0), 0), c("clock_settime", unix.SYS_CLOCK_SETTIME, 0, words(0, 0)),
			c("sethostname", unix.SYS_SETHOSTNAME, text("x"), 1), c("setdomainname", unix.SYS_SETDOMAINNAME, text("x"), 1),
			c("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, minus(100), words(0, 0), 0),
			c("fanotify_init", unix.SYS_FANOTIFY_INIT, 0, 0), c("memfd_secret", unix.SYS_MEMFD_SECRET, 0),
			c("process_madvise", unix.SYS_PROCESS_MADVISE, pidfd(1), 0, 0, 21, 0),
		},
		"root": {
			c("setuid", unix.SYS_SETUID, 0), c("setgid", unix.SYS_SETGID, 0), c("setgroups", unix.SYS_SETGROUPS, 1, words(0)),
			c("setresuid", unix.SYS_SETRESUID, 0, 0, 0), c("setresgid", unix.SYS_SETRESGID, 0, 0, 0),
			c("capset", unix.SYS_CAPSET, words(0x20080522), words(1<<32|1, 0, 0)),
		},
		"trace": {
			c("attach", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1, 0, 0), c("seize", unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0, 0),
			c("process_vm_readv", unix.SYS_PROCESS_VM_READV, 1, 0, 0, 0, 0, 0),
			c("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, 1, 0, 0, 0, 0, 0),
			c("kcmp", unix.SYS_KCMP, 1, 1, 0, 0, 0), c("pidfd_getfd", unix.SYS_PIDFD_GETFD, pidfd(1), 0, 0),
		},
		"squeeze": {
			c("prlimit nofile", unix.SYS_PRLIMIT64, 1, unix.RLIMIT_NOFILE, words(3, 3), 0),
			c("prlimit cpu", unix.SYS_PRLIMIT64, 1, unix.RLIMIT_CPU, words(3, 3), 0),
			c("prlimit as", unix.SYS_PRLIMIT64, 1, unix.RLIMIT_AS, words(3, 3), 0),
			c("sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, 1, 8, words(1)),
			c("sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, 1, 5, words(0)),
			c("setpriority", unix.SYS_SETPRIORITY, 0, 1, 19), c("setpriority of a user", unix.SYS_SETPRIORITY, 2, 0, 19),
			c("ioprio_set", unix.SYS_IOPRIO_SET, 1, 1, 3<<13),
		},
		"clone3": {c("clone3", unix.SYS_CLONE3, words(unix.CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0), 64)},
	}
	for _, n := range namespaces {
		m["unshare"] = append(m["unshare"], c("unshare "+n.name, unix.SYS_UNSHARE, n.flag))
		if n.name != "time" { // whose bit is of the signal here
			m["clone"] = append(m["clone"], c("clone "+n.name, unix.SYS_CLONE, n.flag|17))
		}
	}
	m["clone"] = append(m["clone"], c("clone, flags in the high half", unix.SYS_CLONE, 1<<32|unix.CLONE_NEWUSER|17))
	m["kernel"] = append(m["kernel"], machineCalls(c)...)
	return m
}

var namespaces = []struct {
	name string
	flag uintptr
}{
	{"user", unix.CLONE_NEWUSER}, {"mount", unix.CLONE_NEWNS}, {"pid", unix.CLONE_NEWPID}, {"net", unix.CLONE_NEWNET},
	{"cgroup", unix.CLONE_NEWCGROUP}, {"uts", unix.CLONE_NEWUTS}, {"ipc", unix.CLONE_NEWIPC}, {"time", unix.CLONE_NEWTIME},
	{"user and mount", unix.CLONE_NEWUSER | unix.CLONE_NEWNS},
}

func open(path string) uintptr {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return minus(1)
	}
	return uintptr(fd)
}

func pidfd(pid int) uintptr {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return minus(1)
	}
	return uintptr(fd)
}
