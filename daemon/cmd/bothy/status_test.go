package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

func TestNotRunning(t *testing.T) {
	b := newBench(t)
	b.want(t, exitFailed, "status")
	b.want(t, exitFailed, "status", "--json")
	if !strings.Contains(b.out.String(), `"running": false`) || b.err.String() != "" {
		t.Errorf("stdout %q, stderr %q", b.out.String(), b.err.String())
	}
	b.want(t, exitOK, "stop")
	if b.out.String() != "bothyd is not running\n" {
		t.Errorf("%q", b.out.String())
	}
	b.c.environ = []string{"XDG_RUNTIME_DIR=" + strings.Repeat("/long", 30)}
	b.want(t, exitUsage, "status")
	if !strings.Contains(b.err.String(), "shorter") {
		t.Errorf("%q", b.err.String())
	}
}

// TestStatusOfADyingDaemon: one that was killed this moment may still have its
// socket, and is not running.
func TestStatusOfADyingDaemon(t *testing.T) {
	b := newBench(t)
	socket, err := rpc.SocketPath(b.c.env)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	died := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = errors.Join(conn.Close(), l.Close())
		}
		died <- err
	}()
	b.want(t, exitFailed, "status", "--json")
	if err := <-died; err != nil || !strings.Contains(b.out.String(), `"running": false`) {
		t.Errorf("%v: %s%s", err, b.out.String(), b.err.String())
	}
}

// TestStatusOfSkills: how many there are, and only the folders that are not as
// they should be.
func TestStatusOfSkills(t *testing.T) {
	b := withDaemon(t, nil)
	b.want(t, exitOK, "status")
	if !strings.Contains(b.out.String(), "skills    6 can be used\nskills    /h/.agents/skills is read every few seconds: no watches\\x07 are left\nhome      commands have cargo, go (bothy doctor names the folders)\nplugin") {
		t.Errorf("%s", b.out.String())
	}
	b.want(t, exitOK, "status", "--json")
	if !strings.Contains(b.out.String(), `"usable": 6`) {
		t.Errorf("%s", b.out.String())
	}
}
