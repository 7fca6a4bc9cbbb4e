package rpc

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestFindSocket: a record helps only where the usual place has no socket, is
// believed only while it names one, and never replaces what was asked for.
func TestFindSocket(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "bf-") // short: a socket's path ends at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	usual, elsewhere, named := filepath.Join(dir, "run", "bothy", SocketName), filepath.Join(dir, "e.sock"), filepath.Join(dir, "n.sock")
	record := filepath.Join(dir, "state", "bothy", RecordName)
	for _, d := range []string{filepath.Dir(usual), filepath.Dir(record)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"XDG_RUNTIME_DIR": filepath.Join(dir, "run"), "XDG_STATE_HOME": filepath.Join(dir, "state")}
	find := func(when, want string) {
		t.Helper()
		got, err := FindSocket(func(name string) string { return env[name] })
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", when, got, err, want)
		}
	}
	find("no record", usual)
	for _, text := range []string{"", "relative.sock\n", elsewhere + "\n", dir + "\n"} {
		if err := os.WriteFile(record, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		find("a record of "+text+" with no socket there", usual)
	}
	listen(t, elsewhere)
	if err := os.WriteFile(record, []byte(elsewhere+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	find("a record of a socket", elsewhere)
	listen(t, usual)
	find("a socket at the usual place", usual)
	env["BOTHY_LISTEN_SOCKET"] = named
	find("a socket that was named", named)
}

func listen(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}
