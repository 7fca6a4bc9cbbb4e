//go:build linux

package sandbox_test

func kernelAbuses() []abuse {
	return []abuse{
		{row: 4, name: "mounts", attack: `./attack mount`, refused: "fsopen ENOSYS",
			control: `cat /proc/mounts && mkdir m && mv m n && rmdir n`},
		{row: 4, name: "mounts by programs",
			attack:  `mount -t tmpfs none /workspace && exit 0; umount /workspace && exit 0; mount -o remount,rw / && exit 0; exit 1`,
			control: `findmnt /workspace || grep ' /workspace ' /proc/mounts`},
		{row: 5, name: "new namespaces", attack: `./attack unshare`, refused: "unshare user E",
			control: `./attack can unshare`},
		{row: 5, name: "new namespaces by programs",
			attack:  `for f in -U -m -p -n -Ur; do unshare $f true && exit 0; done; exit 1`,
			control: `setsid true && nice true`},
		{row: 6, name: "clone into namespaces", attack: `./attack clone`, refused: "clone user E",
			control: `./attack can threads`},
		{row: 6, name: "clone3", attack: `./attack clone3`, refused: "clone3 ENOSYS",
			control: `for i in 1 2 3; do (true) || exit 1; done; true | true`},
		{row: 7, name: "enter, change root, make devices", attack: `./attack setns`, refused: "mknod block EPERM",
			control: `mkfifo /tmp/f && (echo through >/tmp/f & cat /tmp/f | grep -q through) && rm /tmp/f && mknod /tmp/p p && rm /tmp/p`},
		{row: 13, name: "keyrings", attack: `./attack keys`, refused: "keyctl ENOSYS",
			control: `./attack can memfd && test "$(head -c 8 /dev/urandom | wc -c)" = 8`},
		{row: 14, name: "the kernel's business", attack: `./attack kernel`, refused: "bpf EPERM",
			control: `uname -r && date && nproc && test "$(hostname)" = bothy`},
		{row: 15, name: "devices",
			attack:  `for n in kvm vda sda mem kmem port fuse net/tun nvme0 loop0 vsock vhost-vsock input console; do (exec 3</dev/$n) && exit 0; done; exit 1`,
			refused: "No such file",
			control: `for n in null zero full random urandom; do head -c 1 /dev/$n || exit 1; done; echo x >/dev/null`},
		{row: 16, name: "become root", attack: `./attack root`, refused: "setuid EPERM",
			control: `test "$(id -u):$(id -g)" = 1000:1000 && ./attack can memfd`},
		{row: 16, name: "a setuid copy",
			attack:  `cp /usr/bin/id /workspace/id && chmod 6755 /workspace/id && test "$(/workspace/id -u)" != 1000`,
			control: `/workspace/id -u | grep -qx 1000; r=$?; rm -f /workspace/id; exit $r`},
		{row: 16, name: "programs that give root",
			attack:  `su -c true root </dev/null && exit 0; sudo -n true && exit 0; grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000 && exit 0; grep -q 'NoNewPrivs:.0' /proc/self/status && exit 0; exit 1`,
			control: `grep -q 'Seccomp:.2' /proc/self/status`},
	}
}
