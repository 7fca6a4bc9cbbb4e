//go:build linux

package sandbox_test

import (
	"os"
	"strings"
	"testing"
)

// The addresses are of documentation, of a cloud's metadata, and of what the
// networks of rootless containers call the host.
func networkAbuses() []abuse {
	return []abuse{
		{row: 8, name: "reach out", attack: `./attack reach 192.0.2.1:53 169.254.169.254:80 10.0.2.2:22 169.254.1.2:22 '[2001:db8::1]:53'`, refused: "network is unreachable",
			control: `./attack can loopback`},
		{row: 8, name: "reach out with bash",
			attack:  `(exec 3<>/dev/tcp/192.0.2.1/53) && exit 0; ls /sys/class/net | grep -vx lo && exit 0; exit 1`,
			refused: "Network is unreachable",
			control: `ls /sys/class/net | grep -qx lo`},
		{row: 9, name: "packets", attack: `./attack packets`, refused: "raw EPERM",
			control: `./attack can sockets`},
		{row: 10, name: "the hypervisor", attack: `./attack vsock`, refused: "vsock ENOSYS",
			control: `./attack can unix /tmp/u`},
		{row: 11, name: "netlink", attack: `./attack netlink`, refused: "audit E",
			control: `./attack can interfaces`},
		{row: 12, name: "other families", attack: `./attack families`, refused: "alg ENOSYS",
			control: `./attack can sockets`},
		{row: 29, name: "environment",
			attack:  `env | cut -d= -f1 | grep -vxE 'PATH|HOME|TMPDIR|PWD|XDG_CACHE_HOME|GOCACHE|GOPROXY|CARGO_NET_OFFLINE|npm_config_(offline|audit|fund)|PIP_NO_INDEX|PIP_DISABLE_PIP_VERSION_CHECK|UV_OFFLINE|YARN_ENABLE_NETWORK|MAVEN_ARGS|GIT_CONFIG_COUNT|GIT_CONFIG_(KEY|VALUE)_[012]|SHLVL|_' && exit 0; cat /proc/1/environ && exit 0; exit 1`,
			refused: "Permission denied",
			control: `test -d "$HOME" -a -d "$TMPDIR" -a -d "$XDG_CACHE_HOME" -a "$PWD" = /workspace`},
		{row: 29, name: "name of the host",
			attack:  `cat /etc/resolv.conf /etc/hosts /etc/hostname /proc/sys/kernel/hostname /etc/passwd | grep -qF "$(cat name)" && exit 0; exit 1`,
			control: `grep -q localhost /etc/hosts && test "$(hostname)" = bothy`},
		{row: 30, name: "sockets of others", attack: `find / -type s 2>/dev/null | grep .`,
			control: `./attack can unix ~/u; bash -c 'exec 3<>/dev/null'`},
		{row: 31, name: "stand for the runner", attack: `./attack impersonate /run/bothy/s`, refused: "read-only file system",
			control: `./attack can unix /tmp/s && ls -d /run/bothy`},
		{row: 31, name: "the folder of the socket",
			attack:  `touch /run/bothy/x || mv /run/bothy /run/b || rmdir /run/bothy || ln -s /tmp /run/bothy/l`,
			control: `test -d /run/bothy -a ! -w /run/bothy`},
	}
}

// hostSecrets puts into the project what the rows need to know of the host, and
// a file that no command may read onto it.
func hostSecrets(t *testing.T, f *fixture) {
	t.Helper()
	secret := t.TempDir() + "/secret"
	if err := os.WriteFile(secret, []byte("secret of the host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.write("where", secret)
	f.write(".git/HEAD", "ref: refs/heads/main\n")
	f.write(".git/config", "[core]\n")
	f.write(".git/hooks/sample", "")
	name, err := os.Hostname()
	if err != nil || len(name) < 4 {
		name = "no such name"
	}
	f.write("name", strings.TrimSpace(name))
}
