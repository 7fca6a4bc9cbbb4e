//go:build linux

package sandbox_test

import (
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// TestOpenedNetwork opens the network for a run and closes it again. It stays on
// this machine. Where Podman has no program for it, that is what is said.
func TestOpenedNetwork(t *testing.T) {
	f := newFixture(t, shared(t))
	f.copyIn(attackBinary(t), "attack")
	f.ok("touch /tmp/mark")
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	go func() {
		for {
			conn, err := here.Accept()
			if err != nil {
				return
			}
			t.Error("a command reached the host's loopback")
			_ = conn.Close()
		}
	}()
	f.run.Network = true
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "ls /sys/class/net; ! test -e /tmp/mark"}})
	if !canOpen() {
		if sandbox.Code(out.err) != sandbox.CodeUnavailable || !strings.Contains(out.err.Error(), "install") {
			t.Fatalf("without a program for it: %v", out.err)
		}
	} else {
		if out.err != nil || out.ExitCode != 0 || len(strings.Fields(out.stdout)) < 2 {
			t.Fatalf("opened: %+v %v", out, out.err)
		}
		port := strconv.Itoa(here.Addr().(*net.TCPAddr).Port)
		for _, address := range []string{"127.0.0.1", "10.0.2.2", "169.254.1.2"} {
			if got := f.bash("timeout 2 bash -c 'exec 3<>/dev/tcp/" + address + "/" + port + "'"); got.ExitCode == 0 {
				t.Errorf("%s is reached", address)
			}
		}
		f.ok("./attack can loopback")
		f.ok("touch /tmp/mark")
	}
	f.run.Network = false
	f.ok("test \"$(ls /sys/class/net)\" = lo && ! ./attack reach 192.0.2.1:53")
}

// canOpen says whether the programs are here that Podman makes networks with.
func canOpen() bool {
	_, slirp := exec.LookPath("slirp4netns")
	_, pasta := exec.LookPath("pasta")
	return slirp == nil || pasta == nil
}
