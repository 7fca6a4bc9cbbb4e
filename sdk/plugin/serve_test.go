package plugin

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk/internal/wire"
)

// closingMark names the variable that makes a process of this test a plugin, and the
// file that it writes at its end.
const closingMark = "TEST_CLOSING_MARK"

// closer is a plugin that is disturbed while it closes.
func closer(mark string) {
	Serve(Options{Name: "closer", Tool: greeter(nil), Close: func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			panic(err)
		}
		for range 3 {
			fmt.Println("closing")
			fmt.Fprintln(os.Stderr, "closing")
		}
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			panic(err)
		}
	}})
}

// start starts the closer, which writes its standard output and error to w.
func start(t *testing.T, w *os.File) (cmd *exec.Cmd, dir, mark string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "bothy") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	mark = filepath.Join(t.TempDir(), "closed")
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), CookieKey+"="+CookieValue, wire.EnvSocketDir+"="+dir, closingMark+"="+mark, EnvHostPID+"=")
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, dir, mark
}

// TestCloses: a plugin whose daemon is gone closes in order, though nobody reads what
// it prints and Ctrl-C comes once more.
func TestCloses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, dir, mark := start(t, w)
	_ = w.Close() // the plugin has its own
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close() // as the end of a daemon does
	address := strings.Split(line, "|")[3]
	conn, err := grpc.NewClient("unix:"+address, DialOptions(PeerCredentials(func(Peer) error { return nil }, nil))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewClient(conn).Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("it did not close: ", err)
	}
	nothingIn(t, dir)
}

// TestNobodyReads: a plugin that cannot say where it serves ends, and leaves nothing.
func TestNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	cmd, dir, _ := start(t, w)
	_ = w.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
	nothingIn(t, dir)
}

func nothingIn(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
