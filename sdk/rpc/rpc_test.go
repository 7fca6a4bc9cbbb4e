package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestSocketPath(t *testing.T) {
	own := fmt.Sprintf("/run/user/%d", os.Geteuid())
	fallback := "/home/x/.local/state/bothy/run/bothy.sock"
	if ownDirectory(own) {
		fallback = own + "/bothy/bothy.sock"
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env        map[string]string
		want, says string
	}{
		"runtime dir":          {map[string]string{"XDG_RUNTIME_DIR": "/run/x", "HOME": "/home/x"}, "/run/x/bothy/bothy.sock", ""},
		"named":                {map[string]string{"BOTHY_LISTEN_SOCKET": "/a/b.sock", "XDG_RUNTIME_DIR": "/run/x"}, "/a/b.sock", ""},
		"named, relative":      {map[string]string{"BOTHY_LISTEN_SOCKET": "b.sock"}, filepath.Join(cwd, "b.sock"), ""},
		"no runtime dir":       {map[string]string{"HOME": "/home/x"}, fallback, ""},
		"relative runtime dir": {map[string]string{"XDG_RUNTIME_DIR": "run", "HOME": "/home/x"}, "", "XDG_RUNTIME_DIR"},
		"too long":             {map[string]string{"XDG_RUNTIME_DIR": "/" + strings.Repeat("x", 100)}, "", "shorter"},
	} {
		got, err := SocketPath(func(k string) string { return c.env[k] })
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.says)
		}
	}
}

func TestStateDir(t *testing.T) {
	for _, c := range []struct {
		env        map[string]string
		want, says string
	}{
		{map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/bothy", ""},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/bothy", ""},
		{map[string]string{}, "", "HOME"},
		{map[string]string{"HOME": "rel"}, "", "HOME"},
		{map[string]string{"XDG_STATE_HOME": "rel", "HOME": "/h"}, "", "XDG_STATE_HOME"},
	} {
		got, err := StateDir(func(k string) string { return c.env[k] })
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %q, %v", c.env, got, err)
		}
	}
}

func TestCheckProtocol(t *testing.T) {
	for _, c := range []struct {
		ours, theirs string
		fits         bool
	}{
		{"1.0", "1.0", true}, {"1.0", "1.9", true}, {"1.2", "1", true}, {"1.0", "2.0", false}, {"1.0", "0.9", false},
		{"1.0", "", false}, {"1.0", "x.1", false}, {"1.0", "-1.0", false},
	} {
		if err := CheckProtocol(c.ours, c.theirs); (err == nil) != c.fits {
			t.Errorf("%s and %s: %v", c.ours, c.theirs, err)
		}
	}
}

// TestErrorsCross holds that an outcome survives the way over the socket.
func TestErrorsCross(t *testing.T) {
	for _, c := range []struct {
		err     error
		code    int
		outcome sdk.Outcome
	}{
		{sdk.Errorf(sdk.Conflict, "busy"), CodeFailed, sdk.Conflict},
		{fmt.Errorf("outside: %w", sdk.Errorf(sdk.Validation, "wrong")), CodeParams, sdk.Validation},
		{errors.New("plain"), CodeInternal, sdk.Internal},
		{fmt.Errorf("wrapped: %w", Errorf(CodeBusy, sdk.Unavailable, "full")), CodeBusy, sdk.Unavailable},
	} {
		e := ErrorOf(c.err)
		if e.Code != c.code || sdk.OutcomeOf(e) != c.outcome {
			t.Errorf("%v became %+v with outcome %s", c.err, e, sdk.OutcomeOf(e))
		}
	}
	if sdk.OutcomeOf(&Error{Code: CodeFailed, Message: "x"}) != sdk.Internal {
		t.Error("an error without data has an outcome")
	}
}

func TestPeerOf(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	peer, err := PeerOf(c)
	if err != nil || peer.UID != os.Geteuid() || peer.PID != os.Getpid() {
		t.Errorf("%+v %v", peer, err)
	}
}
