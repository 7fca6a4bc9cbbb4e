package server

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func wantOwnPID(t *testing.T, pid int) {
	t.Helper()
	if pid != os.Getpid() {
		t.Errorf("the peer is %d, and this is %d", pid, os.Getpid())
	}
}

// TestHolders: a socket is its process's, and that of who inherited it; by IPv6 too.
func TestHolders(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		dialed, err := net.Dial("tcp", l.Addr().String())
		must(t, err)
		accepted, err := l.Accept()
		must(t, err)
		uid, known, err := userOf(accepted)
		if err != nil || !known || uid != os.Geteuid() {
			t.Errorf("%s: user %d, %v, %v", address, uid, known, err)
		}
		file, err := dialed.(*net.TCPConn).File()
		must(t, err)
		child := exec.Command("sleep", "600")
		child.ExtraFiles = []*os.File{file}
		must(t, child.Start())
		pids, _, err := peersOf(accepted)
		if want := []int{os.Getpid(), child.Process.Pid}; err != nil || !slices.Contains(pids, want[0]) || !slices.Contains(pids, want[1]) || len(pids) != 2 {
			t.Errorf("%s: %v, %v; want %v", address, pids, err, want)
		}
		must(t, child.Process.Kill())
		_ = child.Wait()
		must(t, file.Close())
		must(t, dialed.Close())
		if pids, _, err := peersOf(accepted); err == nil && len(pids) != 0 {
			t.Errorf("%s: whose process closed it is of %v", address, pids)
		}
		must(t, accepted.Close())
		must(t, l.Close())
	}
}

func TestFindEnd(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0000000000000000 100 0 0 10 0
   1: 0100007F:A001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 22 1 0000000000000000 20 4 30 10 -1
   2: 0000000000000000FFFF00000100007F:A002 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  1002        0 0 1 0000000000000000 20 4 30 10 -1
   3: 00000000000000000000000001000000:A003 00000000000000000000000001000000:1F90 01 00000000:00000000 00:00000000 00000000  1003        0 44 1 0000000000000000 20 4 30 10 -1
`
	at := netip.MustParseAddrPort
	for _, c := range []struct {
		local, remote string
		uid           int
		inode         uint64
		found         bool
	}{
		{"127.0.0.1:40961", "127.0.0.1:8080", 1001, 22, true},
		{"127.0.0.1:40962", "127.0.0.1:8080", 1002, 0, true},
		{"[::1]:40963", "[::1]:8080", 1003, 44, true},
		{"127.0.0.1:8080", "127.0.0.1:40961", 0, 0, false},
		{"127.0.0.2:40961", "127.0.0.1:8080", 0, 0, false},
	} {
		x, found, err := findEnd(strings.NewReader(table), at(c.local), at(c.remote))
		if err != nil || found != c.found || x.uid != c.uid || x.inode != c.inode {
			t.Errorf("%s: %+v, %v, %v", c.local, x, found, err)
		}
	}
	for _, row := range []string{"0: 1", "0: zz:1 0:1 2 3 4 5 6 7 8", "0: 0100007F:1F90 0100007F:1F90 01 0 0 0 x 0 1 1", "0: 0100007F:1F90 0100007F:1F90 01 0 0 0 1 0 x 1", "0: 01:1F90 0100007F:1F90 01 0 0 0 1 0 1 1"} {
		if _, _, err := findEnd(strings.NewReader("head\n"+row+"\n"), at("127.0.0.1:1"), at("127.0.0.1:2")); err == nil {
			t.Errorf("%q is read", row)
		}
	}
}

func FuzzEnd(f *testing.F) {
	f.Add("1: 0100007F:A001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 22 1")
	f.Fuzz(func(t *testing.T, row string) {
		if x, err := parseEnd(row); err == nil && !x.local.IsValid() {
			t.Errorf("%q is %+v", row, x)
		}
	})
}
