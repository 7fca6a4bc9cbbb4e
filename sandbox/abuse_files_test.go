//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fileAbuses() []abuse {
	return []abuse{
		{row: 1, name: "write outside",
			attack:  `for d in / /etc /bin /usr /usr/bin /opt /opt/bothy /run /run/bothy /var /var/tmp /dev /root /home /skills /proc /sys; do touch $d/x && exit 0; done; echo x >/opt/bothy/runner && exit 0; echo x >/etc/passwd && exit 0; exit 1`,
			refused: "Read-only file system",
			control: `touch /tmp/x /dev/shm/x /workspace/x ~/x "$TMPDIR/x" "$XDG_CACHE_HOME/x"`},
		{row: 2, name: "stray tmpfs",
			attack:  `awk '$3 == "tmpfs" && $4 ~ /^rw/ && $2 !~ "^/(tmp|dev|dev/shm|proc/.*|sys/.*|sys)$" {print "stray", $2; bad=1} END {exit !bad}' /proc/mounts && exit 0; echo none; exit 1`,
			refused: "none",
			control: `grep -q ' /tmp tmpfs rw' /proc/mounts && touch /tmp/y`},
		{row: 3, name: "knobs of the kernel",
			attack:  `for f in /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/power/state /sys/fs/cgroup/x /sys/fs/cgroup/cgroup.procs /proc/1/oom_score_adj /proc/self/uid_map; do (echo 1 >$f) && exit 0; done; (echo -500 >/proc/self/oom_score_adj) && exit 0; exit 1`,
			control: `cat /proc/sys/kernel/ostype && echo 900 >/proc/self/oom_score_adj`},
		{row: 17, name: "setuid file for the host",
			attack:  `cp attack suid && chmod 4755 suid && cp attack ~/suid && chmod 4755 ~/suid && exit 1`,
			check:   checkNobodyElseReaches,
			control: `cp attack plain && chmod 755 plain && ./plain can memfd; rm -f suid ~/suid plain`},
		{row: 21, name: "fill memory file systems",
			attack: `head -c 200M /dev/zero >/tmp/fill || head -c 100M /dev/zero >/dev/shm/fill && exit 0; s=$(stat -c %s /tmp/fill /dev/shm/fill | sort -n | tail -1); rm -f /tmp/fill /dev/shm/fill; echo at most $s; test $s -gt 67108864`, refused: "No space left on device",
			control: `head -c 30M /dev/zero >/tmp/fits && head -c 10M /dev/zero >/dev/shm/fits && rm /tmp/fits /dev/shm/fits`},
		{row: 22, name: "fill the workspace with one file", // what all files may hold together: TestQuota
			attack:  `ulimit -f unlimited; truncate -s 1100M /workspace/fill`,
			control: `truncate -s 1000M /workspace/fits && head -c 5M /dev/zero >/workspace/real && rm /workspace/fits /workspace/real`},
		{row: 27, name: "links out of the workspace",
			attack:  `ln -s "$(cat where)" l1 && ln -s / l3 && ln -s ../../../../../../"$(cat where)" l4; cat l1 && exit 0; cat l4 && exit 0; cat "l3$(cat where)" && exit 0; ls l3/home | grep -v '^bothy$' && exit 0; exit 1`,
			refused: "No such file", check: func(t *testing.T, f *fixture, out outcome) {
				if strings.Contains(out.stdout, "secret of the host") {
					t.Error("a file of the host was read")
				}
			},
			control: `echo in >target && ln -s target l2 && test "$(cat l2)" = in && test "$(cat l3/etc/hostname)" = bothy; r=$?; rm -f l1 l2 l3 l4; exit $r`},
		{row: 28, name: "names",
			attack: `mkdir names && cd names && touch -- $'a\nb' -rf $'\xff\xfe' .hidden $'\x1b[2J' && mkdir $'x\n.git' ; cd ..; touch .git/hooks/pre-commit || touch $'names/../.git/hooks/x' || touch .git/config`, refused: "Read-only file system",
			check: func(t *testing.T, f *fixture, _ outcome) {
				entries, err := os.ReadDir(f.path("names"))
				if err != nil || len(entries) != 6 {
					t.Errorf("the host sees %v %v", entries, err)
				}
			},
			control: `cd names && find . -type f -print0 | tr -dc '\0' | wc -c | grep -qx 5 && cd .. && rm -rf -- names`},
		{row: 32, name: "hard link from a read-only mount",
			attack: `ln /usr/bin/id /workspace/hard || ln /usr/bin/id ~/hard || ln /opt/bothy/runner /workspace/hard`, refused: "Invalid cross-device link",
			control: `echo x >a && ln a b && test "$(stat -c %h a)" = 2 && rm a b`},
		{row: 35, name: "exhaustion",
			attack: `./attack descriptors 100000`, refused: "too many open files",
			check:   checkDeepFolders,
			control: `./attack can descriptors 2000 && test "$(echo $(head -c 100000 /dev/zero | tr '\0' x) | wc -c)" = 100001`},
		{row: 36, name: "execute from shared memory",
			attack: `cp /usr/bin/true /dev/shm/t && /dev/shm/t`, refused: "Permission denied",
			control: `for d in /tmp /workspace ~; do cp /usr/bin/true $d/t && $d/t && rm $d/t || exit 1; done; rm /dev/shm/t`},
		{row: 37, name: "core dump",
			attack:  `ulimit -c unlimited; (cd /tmp && bash -c 'kill -SEGV $$'); ls /tmp/core* core* && exit 0; ulimit -c 1`,
			control: `test "$(ulimit -c)" = 0 && test "$(ulimit -Hc)" = 0`},
	}
}

// checkNobodyElseReaches looks at the host's side: a setuid file of a command
// belongs to the user, and whoever could execute it would be that user.
func checkNobodyElseReaches(t *testing.T, f *fixture, _ outcome) {
	for _, path := range []string{filepath.Join(f.run.RunDir, "home", "suid"), f.path("suid")} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSetuid == 0 || !ownedByCaller(info) {
			t.Fatalf("%s: %v %v", path, info, err)
		}
	}
	closed := false
	for dir := filepath.Join(f.run.RunDir, "home"); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		closed = closed || info.Mode().Perm()&0o077 == 0 && strings.HasPrefix(dir, f.run.RunDir)
	}
	if !closed {
		t.Error("others can go into the run's folder")
	}
}

// checkDeepFolders makes folders that no path reaches, in the home, and resets
// the run: the host has to remove them.
func checkDeepFolders(t *testing.T, f *fixture, _ outcome) {
	other := newFixture(t, f.manager)
	other.ok(`cd ~ && for i in $(seq 300); do mkdir d12345678901234567890 && cd d12345678901234567890 || exit 1; done; touch deepest`)
	if err := f.manager.Reset(t.Context(), other.run); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(other.run.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.Contains(entry.Name(), "home") {
			t.Errorf("%s is left", entry.Name())
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
