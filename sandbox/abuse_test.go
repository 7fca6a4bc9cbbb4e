//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// abuse is one thing that a command tries. The script must print want (a
// substring of stdout and stderr together), and never what is in refuse.
type abuse struct {
	name   string
	script string
	want   string
	refuse string
}

// syscalls lets a row make raw system calls with Python, and prints the errno.
const syscalls = `python3 - <<'PY'
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(nr, *[ctypes.c_ulong(a) if isinstance(a, int) else a for a in args])
    print(name, "ALLOWED" if r >= 0 else errno.errorcode[ctypes.get_errno()])
def sock(name, family, kind=socket.SOCK_STREAM, proto=0):
    try:
        socket.socket(family, kind, proto).close(); print(name, "ALLOWED")
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno))
%s
PY
echo "exit $?"`

func python(body string) string { return strings.Replace(syscalls, "%s", body, 1) }

// The numbers in these rows are of x86-64; the runner of the test skips the
// rows that use them elsewhere.
func abuses() []abuse {
	none := "ALLOWED"
	return []abuse{
		{"write outside", `for d in / /etc /bin /usr /usr/bin /opt /opt/bothy /run /run/bothy /var /var/tmp /root /home /skills; do touch $d/x 2>/dev/null && echo "ALLOWED $d"; done; echo done`, "done", none},
		{"write device directory", `touch /dev/x && echo ALLOWED; echo done`, "done", none},
		{"own places are writable", `touch /tmp/x /dev/shm/x /workspace/x ~/x "$TMPDIR/x" && echo fine`, "fine", ""},
		{"no stray tmpfs", `grep tmpfs /proc/mounts | awk '{print $2}' | grep -vE '^/(tmp|dev|dev/shm|proc/.*|sys/.*|sys)$'; echo done`, "done", "/run"},
		{"proc and sys knobs", `for f in /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /proc/sysrq-trigger /sys/power/state /sys/fs/cgroup/x; do (echo 1 >$f) 2>/dev/null && echo "ALLOWED $f"; done; echo done`, "done", none},
		{"mount", `mount -t tmpfs none /workspace && echo ALLOWED; umount /workspace && echo ALLOWED; mount -o remount,rw / && echo ALLOWED; echo done`, "done", none},
		{"mount system calls", python(`
call("mount", 165, b"none", b"/tmp", b"tmpfs", 0, 0)
call("umount2", 166, b"/workspace", 2)
call("pivot_root", 155, b"/tmp", b"/tmp")
call("chroot", 161, b"/tmp")
call("fsopen", 430, b"tmpfs", 0)
call("fsmount", 432, 0, 0, 0)
call("open_tree", 428, -100, b"/", 1)
call("move_mount", 429, 0, b"", 0, b"/tmp", 0)
call("mount_setattr", 442, 0, b"", 0, 0, 0)`), "pivot_root EPERM", none},
		{"namespaces", `unshare -U true && echo ALLOWED; unshare -m true && echo ALLOWED; unshare -p true && echo ALLOWED; unshare -n true && echo ALLOWED; echo done`, "done", none},
		{"namespace system calls", python(`
for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000), ("cgroup", 0x2000000), ("uts", 0x4000000), ("ipc", 0x8000000), ("time", 0x80)):
    call("unshare " + name, 272, flag)
    if flag != 0x80:
        call("clone " + name, 56, flag | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("setns", 308, os.open("/proc/self/ns/user", os.O_RDONLY), 0)`), "clone3 ENOSYS", none},
		{"clone with namespace flags in the high half", python(`call("clone", 56, (1 << 32) | 0x10000000 | 17, 0, 0, 0, 0)`), "clone", none},
		{"devices", `for n in "kvm c 10 232" "vda b 254 0" "mem c 1 1" "fuse c 10 229"; do set -- $n; mknod /tmp/$1 $2 $3 $4 2>/dev/null && echo "ALLOWED $1"; test -e /dev/$1 && echo "ALLOWED /dev/$1"; done; echo done`, "done", none},
		{"fifos work", `mkfifo /tmp/f && (echo through >/tmp/f & cat /tmp/f)`, "through", ""},
		{"network is missing", `for a in 1.1.1.1/53 169.254.169.254/80 10.0.2.2/22; do (exec 3<>/dev/tcp/$a) 2>&1 | sed 's/.*: //'; done; ls /sys/class/net`, "Network is unreachable", "eth"},
		{"loopback works", `python3 -c 'import socket; s=socket.create_server(("127.0.0.1",0)); socket.create_connection(s.getsockname()); print("fine")'`, "fine", ""},
		{"sockets", python(`
sock("raw", socket.AF_INET, socket.SOCK_RAW, 1)
sock("packet", socket.AF_PACKET, socket.SOCK_RAW)
sock("vsock", 40)
sock("alg", 38, socket.SOCK_SEQPACKET)
sock("tipc", 30)
sock("can", 29, socket.SOCK_RAW)
sock("key", 15, socket.SOCK_RAW, 2)
sock("xdp", 44, socket.SOCK_RAW)
sock("audit", 16, socket.SOCK_RAW, 9)
sock("netfilter", 16, socket.SOCK_RAW, 12)
sock("bluetooth", 31, socket.SOCK_RAW)
call("vsock, domain with a high bit", 41, (1 << 32) | 40, 1, 0)
call("socketpair vsock", 53, 40, 1, 0, 0)`), "vsock ENOSYS", none},
		{"getifaddrs works", `python3 -c 'import socket; print(socket.if_nameindex())'`, "lo", ""},
		{"keyrings", python(`
call("add_key", 248, b"user", b"a", b"b", 1, -2 & 0xffffffff)
call("request_key", 249, b"user", b"a", 0, 0)
call("keyctl", 250, 0, -3 & 0xffffffff, 1)`), "keyctl ENOSYS", none},
		{"the kernel's business", python(`
call("bpf", 321, 0, 0, 0)
call("perf_event_open", 298, 0, 0, -1, -1, 0)
call("userfaultfd", 323, 0)
call("io_uring_setup", 425, 1, 0)
call("kexec_load", 246, 0, 0, 0, 0)
call("init_module", 175, 0, 0, b"")
call("finit_module", 313, 0, b"", 0)
call("delete_module", 176, b"x", 0)
call("reboot", 169, 0xfee1dead, 672274793, 0, 0)
call("swapon", 167, b"/tmp/x", 0)
call("acct", 163, 0)
call("quotactl", 179, 0, 0, 0, 0)
call("syslog", 103, 3, 0, 0)
call("iopl", 172, 3)
call("ioperm", 173, 0, 1, 1)
call("settimeofday", 164, 0, 0)
call("sethostname", 170, b"x", 1)
call("open_by_handle_at", 304, 0, 0, 0)
call("fanotify_init", 300, 0, 0)
call("memfd_secret", 447, 0)
call("modify_ldt", 154, 0, 0, 0)`), "bpf EPERM", none},
		{"become root", `python3 -c '
import os
for f in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0,0,0)):
    try: f(); print("ALLOWED")
    except OSError as e: print("refused")'`, "refused", none},
		{"a setuid copy stays uid 1000", `cp /usr/bin/id /workspace/id && chmod 4755 /workspace/id && /workspace/id -u`, "1000", "\n0"},
		{"su and sudo", `su -c id root </dev/null && echo ALLOWED; sudo -n id && echo ALLOWED; echo done`, "done", none},
		{"no capabilities", `grep -E '^Cap|NoNewPrivs|^Seccomp:' /proc/self/status`, "CapBnd:\t0000000000000000", "NoNewPrivs:\t0"},
		{"trace process 1", python(`
call("attach", 101, 16, 1, 0, 0)
call("seize", 101, 0x4206, 1, 0, 0)
call("process_vm_readv", 310, 1, 0, 0, 0, 0, 0)
call("process_vm_writev", 311, 1, 0, 0, 0, 0, 0)
call("kcmp", 312, 1, 1, 0, 0, 0)
fd = os.pidfd_open(1)
call("pidfd_getfd", 438, fd, 0, 0)`), "attach EPERM", none},
		{"read process 1", `for f in mem environ maps fd fd/0 fd/3 root exe; do (cat /proc/1/$f || ls /proc/1/$f/ || readlink /proc/1/$f) >/dev/null 2>&1 && echo "ALLOWED $f"; done; (echo 1000 >/proc/1/oom_score_adj) 2>/dev/null && echo ALLOWED; echo done`, "done", none},
		{"squeeze process 1", python(`
import struct
lim = ctypes.create_string_buffer(struct.pack("QQ", 3, 3))
call("prlimit64 nofile", 302, 1, 7, lim, 0)
call("prlimit64 cpu", 302, 1, 0, lim, 0)
call("prlimit64 as", 302, 1, 9, lim, 0)
mask = ctypes.create_string_buffer(b"\x01" + bytes(127))
call("sched_setaffinity", 203, 1, 128, mask)
call("sched_setscheduler", 144, 1, 5, ctypes.create_string_buffer(8))
call("setpriority", 141, 0, 1, 19)
call("setpriority user", 141, 2, 0, 19)
call("ioprio_set", 251, 1, 1, 3 << 13)
print("own", os.nice(1), os.sched_setaffinity(0, os.sched_getaffinity(0)))`), "own 1", none},
		{"signal process 1", `for s in $(seq 1 64); do kill -$s 1; done 2>/dev/null; echo sent`, "sent", ""},
		{"kill everything", `kill -9 -1; echo alive`, "alive", ""},
		{"the socket's directory", `touch /run/bothy/x && echo ALLOWED; rm -f /run/bothy/s && test -S /run/bothy/s && echo "still there"; ls -la /run/bothy; echo done`, "done", none},
		{"no socket of the manager is reachable", `find / -type s 2>/dev/null; echo done`, "done", "/run/bothy/s"},
		{"clean environment", `env -u PWD -u SHLVL -u _ -u OLDPWD | cut -d= -f1 | sort | tr '\n' ' '`, "HOME PATH TMPDIR XDG_CACHE_HOME", "BOTHY"},
		{"no name of the host", `cat /etc/resolv.conf /etc/hosts /etc/hostname; hostname; cat /etc/passwd`, "bothy", hostName()},
		{"hard link from a read-only mount", `ln /usr/bin/id /workspace/hard && echo ALLOWED; echo done`, "done", none},
		{"stdin is empty", `cat; read -r x || echo "end of input"; tty`, "not a tty", ""},
		{"tmp is small", `head -c 200M /dev/zero >/tmp/fill; stat -c %s /tmp/fill`, "No space left on device", ""},
		{"shared memory is small", `head -c 200M /dev/zero >/dev/shm/fill; stat -c %s /dev/shm/fill`, "No space left on device", ""},
		{"files are bounded", `ulimit -f; head -c 1100M /dev/zero >/workspace/fill; rm -f /workspace/fill`, "1048576", ""},
		{"descriptors are bounded", `python3 -c '
import os
fds = []
try:
    while True: fds.append(os.dup(0))
except OSError as e: print(e.strerror, len(fds))'`, "Too many open files", ""},
		{"no core dumps", `ulimit -c`, "0", "unlimited"},
		{"memory of a process is bounded", `python3 -c 'bytearray(3 << 30)'`, "MemoryError", ""},
		{"exec where files are writable", `for d in /tmp /workspace ~; do cp /usr/bin/true $d/t && $d/t && echo ran; done; cp /usr/bin/true /dev/shm/t && /dev/shm/t || echo refused`, "refused", ""},
		{"strange names", `mkdir /workspace/names && cd /workspace/names && touch -- $'a\nb' -x $'\xff\xfe' .hidden && find . -type f -print0 | tr -dc '\0' | wc -c`, "4", ""},
		{"long argument", `echo $(head -c 100000 /dev/zero | tr '\0' x) | wc -c`, "100001", ""},
		{"deep directories", `cd /workspace && python3 -c '
import os
for i in range(500): os.mkdir("d"); os.chdir("d")
print("deep")'`, "deep", ""},
		{"links out of the workspace stay inside", `ln -s /etc/passwd /workspace/l1; ln -s / /workspace/l2; cat /workspace/l1 | wc -l; ls /workspace/l2/home`, "bothy", "sbx"},
		{"zombies are reaped", `for i in $(seq 300); do (setsid sleep 0 &) ; done; sleep 0.3; ps -e -o stat= | grep -c Z`, "0", ""},
	}
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil || len(name) < 4 {
		return "no such name"
	}
	return name
}

// amd64Only are rows whose system call numbers are of x86-64.
func amd64Only(row abuse) bool { return strings.Contains(row.script, "call(\"") }

func TestAbuse(t *testing.T) {
	needTool(t, "python3")
	f := newFixture(t, shared(t))
	before := f.ok("echo $PPID; ps -o pid= -p 1")
	for _, row := range abuses() {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			if amd64Only(row) && !isAMD64 {
				t.Skip("arch: this row's system call numbers are of x86-64")
			}
			f.t = t
			out := f.bash(row.script)
			all := out.stdout + out.stderr
			if row.want != "" && !strings.Contains(all, row.want) {
				t.Errorf("missing %q:\n%s", row.want, all)
			}
			if row.refuse != "" && strings.Contains(all, row.refuse) {
				t.Errorf("found %q:\n%s", row.refuse, all)
			}
			if len(out.Violations) != 0 {
				t.Errorf("violations: %+v", out.Violations)
			}
			// Whatever it did, the runner lives and nothing is left of it.
			if left := f.ok("ps -e -o comm= | grep -vxE 'bash|ps|grep|runner'; echo end"); left != "end" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
	f.t = t
	if after := f.ok("echo $PPID; ps -o pid= -p 1"); after != before {
		t.Errorf("the runner is another one: %q, then %q", before, after)
	}
}

func TestSignalAndStatusAreTold(t *testing.T) {
	f := newFixture(t, shared(t))
	for script, want := range map[string]struct {
		code   int
		signal string
	}{
		"exit 42":         {42, ""},
		"kill -SEGV $$":   {139, "SIGSEGV"},
		"kill -9 $$":      {137, "SIGKILL"},
		"true":            {0, ""},
		"no-such-program": {127, ""},
	} {
		out := f.bash(script)
		if out.ExitCode != want.code || out.Signal != want.signal {
			t.Errorf("%s: got %d %q, want %d %q", script, out.ExitCode, out.Signal, want.code, want.signal)
		}
	}
}

func TestFilesBelongToTheCaller(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("echo hi > /workspace/a; mkdir d; echo x > d/b; cp /usr/bin/id setuid; chmod 4755 setuid")
	for _, name := range []string{"a", "d", "d/b", "setuid"} {
		info, err := os.Lstat(f.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if !ownedByCaller(info) {
			t.Errorf("%s does not belong to the caller", name)
		}
	}
	if data, err := os.ReadFile(filepath.Join(f.run.Project, "a")); err != nil || string(data) != "hi\n" {
		t.Errorf("a: %q %v", data, err)
	}
}
