package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// install puts this test binary where bothy looks for bothyd.
func (b *bench) install(t *testing.T, mode string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(b.c.exe)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "bothyd")); err != nil {
		t.Fatal(err)
	}
	b.c.environ = append(b.c.environ, "BOTHY_TEST_DAEMON="+mode)
	if mode == "serve" {
		t.Cleanup(func() { b.run("stop") })
	}
}

// TestStart starts a daemon, finds it again, and stops it: when stop returns,
// the process is gone and so is the socket.
func TestStart(t *testing.T) {
	b := newBench(t)
	b.install(t, "serve")
	b.want(t, exitOK, "tools", "list")
	cl, err := b.c.daemon().Attach(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	hello, err := cl.Hello(context.Background())
	b.c.close(cl)
	if err != nil || hello.PID == os.Getpid() || hello.PID <= 1 {
		t.Fatalf("%+v %v", hello, err)
	}
	b.want(t, exitOK, "status")
	b.want(t, exitOK, "models")
	b.want(t, exitOK, "stop")
	if want := fmt.Sprintf("bothyd (pid %d) stopped\n", hello.PID); b.out.String() != want {
		t.Errorf("%q, want %q", b.out.String(), want)
	}
	if start.Alive(hello.PID) {
		t.Error("the process is still there")
	}
	socket, err := rpc.SocketPath(b.c.env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is still there")
	}
	b.want(t, exitFailed, "status")
}

// TestManyStart: callers that find no daemon at the same time share one.
func TestManyStart(t *testing.T) {
	b := newBench(t)
	b.install(t, "serve")
	var wait sync.WaitGroup
	pids := make([]int, 6)
	for i := range pids {
		wait.Go(func() {
			c := *b.c
			cl, err := c.connect(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.close(cl)
			hello, err := cl.Hello(context.Background())
			if err != nil {
				t.Error(err)
			}
			pids[i] = hello.PID
		})
	}
	wait.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 {
			t.Errorf("daemons %v", pids)
			break
		}
	}
	b.want(t, exitOK, "stop")
}

// TestStartFails: what the daemon said is shown, made harmless, and its code
// is kept.
func TestStartFails(t *testing.T) {
	b := newBench(t)
	b.install(t, "broken")
	b.want(t, exitUsage, "tools", "list")
	for _, want := range []string{"exit code 2", `unknown block "modle"\x1b[2J`, "bothyd.out"} {
		if !strings.Contains(b.err.String(), want) {
			t.Errorf("stderr %q lacks %q", b.err.String(), want)
		}
	}
	b.want(t, exitFailed, "status")
	if !strings.Contains(b.err.String(), `modle"\x1b[2J`) {
		t.Errorf("status does not say why: %q", b.err.String())
	}
	b.want(t, exitUsage, "run", "x")
	if strings.Count(b.err.String(), "modle") != 1 {
		t.Errorf("an earlier daemon's words are shown too: %q", b.err.String())
	}
}

// TestStartFailsInSilence: a daemon whose words found no room leaves a hint.
func TestStartFailsInSilence(t *testing.T) {
	b := newBench(t)
	b.install(t, "silent")
	b.want(t, exitFailed, "tools", "list")
	if !strings.Contains(b.err.String(), "bothy doctor") {
		t.Error(b.err.String())
	}
}

func TestPassThrough(t *testing.T) {
	b := newBench(t)
	b.install(t, "echo")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"doctor"}, "[doctor]"}, {[]string{"config", "check", "--json"}, "[--json config check]"}, {[]string{"skills", "validate", "a", "--json"}, "[--json skills validate -- a]"},
		{[]string{"policy", "test", "--mode", "full", "--json", "--", "ls", "-la"}, "[--json policy test --mode=full -- ls -la]"}, {[]string{"policy", "test", "-"}, "[policy test -- -]"},
		{[]string{"config", "show"}, "[config show]"},
		{[]string{"plugins", "lock"}, "[plugins lock --]"}, {[]string{"plugins", "lock", "--check", "a", "b"}, "[plugins lock --check=true -- a b]"},
		{[]string{"plugins", "install", "x", "--grant", "a,b", "--grant=c", "-y"}, "[plugins install --grant=a,b --grant=c --yes=true -- x]"},
		{[]string{"plugins", "test", "--seed", "0", "x", "--", "--a"}, "[plugins test --seed=0 -- x --a]"},
		{[]string{"logs", "-fn", "0", "--since", "90s"}, "[logs --follow=true --lines=0 --since=1m30s]"},
	} {
		b.want(t, 3, c.args...)
		if out := b.out.String(); !strings.Contains(out, c.want) || !strings.HasSuffix(out, "proj\n") || b.err.String() != "to stderr\n" {
			t.Errorf("%v: stdout %q, stderr %q", c.args, out, b.err.String())
		}
	}
	other := filepath.Join(filepath.Dir(b.project), "prefix")
	b.c.environ = append(b.c.environ, "BOTHY_PREFIX="+other)
	b.want(t, exitUsage, "doctor")
	if !strings.Contains(b.err.String(), filepath.Join(other, "bin", "bothyd")) {
		t.Errorf("stderr %q", b.err.String())
	}
}

// TestLinks keeps the command line small: what it links decides how fast it
// starts.
func TestLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, barred := range []string{"google.golang.org/grpc", "sqlite", "go-plugin", "hashicorp/hcl", "podman", "bothyd/bothy/daemon/internal"} {
			if strings.Contains(dep, barred) {
				t.Errorf("bothy links %s", dep)
			}
		}
	}
}
