package server

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk/rpc"
)

const otherUID = 65534

// TestTwoUIDsOtherUserIsRefused needs root, to become somebody else: with the
// directory's mode out of the way, the kernel's word about the peer still
// keeps another user out.
func TestTwoUIDsOtherUserIsRefused(t *testing.T) {
	if os.Getenv("BOTHY_TWO_UIDS") != "1" {
		t.Skip("needs root and a second uid: run as root with BOTHY_TWO_UIDS=1")
	}
	dir, err := os.MkdirTemp("", "uids")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "s", rpc.SocketName)
	l, err := Listen(path)
	must(t, err)
	must(t, l.ListenWeb(t.Context(), "127.0.0.1:0"))
	s, err := New(Config{Engine: &fakeEngine{}, History: &fakeEngine{}, Packets: fakePackets{}, Store: newFakeStore(), Daemon: &fakeDaemon{}, Models: &fakeDaemon{}, People: fakePeople{}, Files: &fakeDaemon{}, Skills: &fakeSkills{}, Policy: &fakePolicy{}, Audit: &fakeAudit{}, Clients: NewClients(), Configured: noRules, Log: hclog.NewNullLogger()})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close(t.Context())
		must(t, <-served)
		must(t, l.Close())
	})

	if out := asOther(t, path, path); !strings.Contains(out, "permission denied") {
		t.Errorf("behind the closed directory, uid %d was told: %s", otherUID, out)
	}
	must(t, os.Chmod(filepath.Dir(path), 0o755))
	must(t, os.Chmod(path, 0o666))
	out := asOther(t, path, path)
	if !strings.Contains(out, fmt.Sprint(rpc.CodeRefused)) || !strings.Contains(out, fmt.Sprintf("not uid %d", otherUID)) || strings.Contains(out, `"protocol"`) {
		t.Errorf("uid %d was told: %s", otherUID, out)
	}
	if out := asOther(t, path, l.Web()); strings.Contains(out, "HTTP") {
		t.Errorf("on the web uid %d was told: %s", otherUID, out)
	}
}

// asOther runs this test binary as another user and returns what it got from
// an address.
func asOther(t *testing.T, socket, address string) string {
	t.Helper()
	binary := filepath.Join(filepath.Dir(filepath.Dir(socket)), "dialler")
	from, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(binary, from, 0o755))
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = []string{"BOTHY_TEST_DIAL=" + address}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// dialAndPrint is what asOther runs in place of the tests. To an address of TCP it says what would
// be answered.
func dialAndPrint(address string) {
	network, says := "unix", ""
	if !filepath.IsAbs(address) {
		network, says = "tcp", "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"
	}
	c, err := net.Dial(network, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(c, says) // it may be closed already
	text, err := io.ReadAll(c)
	fmt.Println(string(text), err)
}
