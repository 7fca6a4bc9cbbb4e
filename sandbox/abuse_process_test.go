//go:build linux

package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

func processAbuses() []abuse {
	return []abuse{
		{row: 18, name: "trace process 1", attack: `./attack trace`, refused: "attach EPERM", control: `./attack can own`},
		{row: 18, name: "squeeze process 1", attack: `./attack squeeze`, refused: "prlimit nofile E", control: `./attack can own`},
		{row: 18, name: "read process 1",
			attack:  `for f in mem environ maps fd fd/0 fd/3 root exe auxv; do { cat /proc/1/$f || ls /proc/1/$f/ || readlink /proc/1/$f; } >/dev/null && exit 0; done; exit 1`,
			refused: "Permission denied",
			control: `cat /proc/self/maps >/dev/null && ls /proc/self/fd/ && grep -q runner /proc/1/comm`},
		{row: 18, name: "signal process 1", attack: `for s in $(seq 1 64); do kill -$s 1; done; exit 1`, after: `test ! -e /tmp/alive`,
			control: `sleep 60 & kill -TERM $! && ! wait $!`},
		{row: 19, name: "kill everything", attack: `kill -9 -1; exit 1`, after: `test ! -e /tmp/alive`,
			control: `(sleep 60 & exec bash -c 'kill -9 '$!) && echo on`},
		{row: 20, name: "processes without end", attack: `./attack processes 2000`, refused: "resource temporarily unavailable",
			control: `./attack can processes 100`},
		{row: 20, name: "fork bomb", attack: `b() { b | b & }; b; sleep 60`, timeout: 2 * time.Second,
			check: func(t *testing.T, _ *fixture, out outcome) {
				if !out.TimedOut {
					t.Errorf("got %+v", out.Result)
				}
			},
			after: `ps -e -o args= | grep -vE 'ps|grep|runner|bash -c ps' | grep .`, control: `for i in $(seq 20); do (true) & done; wait`},
		{row: 20, name: "memory without end", attack: `./attack memory 3000`, refused: "cannot allocate memory", control: `./attack can memory 500`},
		{row: 23, name: "output without end", attack: `yes | head -c 20M; yes | head -c 20M >&2; yes & yes >&2`, timeout: 4 * time.Second, // both caps are passed first, however busy the machine is
			check: func(t *testing.T, _ *fixture, out outcome) {
				if !out.TimedOut || len(out.stdout) > sandbox.DefaultStdoutCap || len(out.stderr) > sandbox.DefaultStderrCap ||
					out.StdoutDropped == 0 || out.StderrDropped == 0 {
					t.Errorf("got %d and %d bytes: %+v", len(out.stdout), len(out.stderr), out.Result)
				}
			},
			control: `head -c 1000000 /dev/zero | wc -c | grep -qx 1000000 && head -c 1000000 /dev/zero`},
		{row: 24, name: "bytes that are no text", attack: `printf '\x00\xff\xfe\r\n\x1b[2J\xc3'; printf '\x01\x02\x03\x00{"id":1}' >&2; exit 1`,
			check: func(t *testing.T, _ *fixture, out outcome) {
				if out.stdout != "\x00\xff\xfe\r\n\x1b[2J\xc3" || out.stderr != "\x01\x02\x03\x00{\"id\":1}" {
					t.Errorf("got %q %q", out.stdout, out.stderr)
				}
			}, control: `echo text`},
		{row: 25, name: "zombies", attack: `for i in $(seq 300); do (setsid sleep 0 &) ; done; for i in $(seq 100); do ps -e -o stat= | grep -q Z || { echo none; exit 1; }; sleep 0.05; done`, refused: "none",
			control: `sleep 0 & wait $!`},
		{row: 26, name: "outlive the command",
			attack:  `(setsid bash -c 'while :; do sleep 0.01; echo x >>/workspace/beat; done' >/dev/null 2>&1 &); (trap "" TERM HUP; setsid sleep 600 & disown); setsid sleep 600 & exit 1`,
			after:   `ps -e -o comm= | grep -x sleep && exit 0; rm -f beat; sleep 0.2; test -e beat`,
			control: `(sleep 0.05; echo late >/tmp/late) & wait; cat /tmp/late`},
		{row: 33, name: "wait for input", attack: `read -r x </dev/stdin && exit 0; cat | grep . && exit 0; (exec 3<>/dev/tty) && exit 0; tty`, refused: "not a tty",
			control: `echo a | { read -r x && test $x = a; }`},
		{row: 34, name: "lie about the end", attack: `trap 'exit 0' TERM INT; printf '{"id":1,"code":0}\n' >/proc/self/fd/1; kill -SEGV $$; exit 0`,
			check: func(t *testing.T, f *fixture, out outcome) {
				if out.ExitCode != 139 || out.Signal != "SIGSEGV" || !strings.Contains(out.stdout, `"code":0`) {
					t.Errorf("got %+v", out.Result)
				}
				f.checkEnds(t)
			}, control: `exit 0`},
	}
}

func (f *fixture) checkEnds(t *testing.T) {
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
