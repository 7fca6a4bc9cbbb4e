package server

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestPeersThatDescendFromAPlugin: whatever it knows and sends, it is told no,
// nothing of it is done, and the audit has what it wanted.
func TestPeersThatDescendFromAPlugin(t *testing.T) {
	request := func(method string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`+"\n", method)
	}
	for name, c := range map[string]struct {
		sends         func(token string) string
		event, detail string
	}{
		"says nothing":        {func(string) string { return "" }, EventRefusedPeer, "asked for nothing that is known"},
		"says rubbish":        {func(string) string { return "GET / HTTP/1.1\r\n\r\n" }, EventRefusedPeer, "nothing that is known"},
		"asks":                {func(string) string { return request("status") + request("status") }, EventRefusedPeer, "asked for status"},
		"approves":            {func(string) string { return request("proposals/resolve") }, EventRefusedApproval, "proposals/resolve"},
		"stops":               {func(string) string { return request("stop") }, EventRefusedAdmin, "stop"},
		"has a token":         {func(token string) string { return hello(token, "") }, EventRefusedApproval, "hello with a token"},
		"answers with it":     {func(token string) string { return hello(token, "") + request("proposals/resolve") }, EventRefusedApproval, "hello with a token, proposals/resolve"},
		"sends what is long":  {func(string) string { return strings.Repeat("x", 2*hearBytes) }, EventRefusedPeer, "nothing that is known"},
		"names what is not":   {func(string) string { return request("rm -rf / \u001b[2J") }, EventRefusedPeer, "nothing that is known"},
		"nests what it wants": {func(string) string { return strings.Repeat("[", 9000) + "\n" + request("act") }, EventRefusedPeer, "asked for act"},
	} {
		t.Run(name, func(t *testing.T) {
			audit := &fakeAudit{}
			h := open(t, func(cfg *Config) {
				cfg.Audit = audit
				cfg.Descended = func(int) bool { return true }
			})
			r := h.dial(t)
			_, _ = fmt.Fprint(r.conn, c.sends(h.token(t, rpc.RoleApprove))) // the daemon need not read all of it
			m, err := r.next()
			if err != nil || m.Error == nil || m.Error.Code != rpc.CodeRefused {
				t.Fatalf("it was told %+v, %v", m, err)
			}
			for {
				m, err := r.next()
				if err != nil {
					break
				}
				t.Errorf("and then %+v", m)
			}
			eventually(t, "the audit has it", func() bool { return audit.count() == 1 })
			if !audit.has(c.event, c.detail) || !audit.has(c.event, fmt.Sprintf("pid %d, which descends from a plugin", os.Getpid())) {
				t.Errorf("the audit has %v %q", audit.events, audit.details)
			}
			if strings.Contains(audit.details[0], h.token(t, rpc.RoleApprove)) || strings.ContainsRune(audit.details[0], 0x1b) {
				t.Errorf("the audit repeats what was sent: %q", audit.details[0])
			}
		})
	}
}

// TestManyPeersOfPlugins: they do not keep the daemon from serving others, and
// all are refused.
func TestManyPeersOfPlugins(t *testing.T) {
	plugin := make(chan bool, 1)
	plugin <- true
	h := open(t, func(cfg *Config) {
		cfg.Descended = func(int) bool { is := <-plugin; plugin <- is; return is }
	})
	for range 10 * hearPeers {
		r := h.dial(t)
		r.wantError(rpc.CodeRefused, "plugin")
	}
	<-plugin
	plugin <- false
	r := h.dial(t)
	if m, err := r.next(); err != nil || m.Method != rpc.MethodHello {
		t.Errorf("%+v %v", m, err)
	}
}

// TestOtherUsersAreAudited: with their uid, and unheard.
func TestOtherUsersAreAudited(t *testing.T) {
	audit := &fakeAudit{}
	h := open(t, func(cfg *Config) {
		cfg.Audit = audit
		cfg.Peer = func(*net.UnixConn) (rpc.Peer, error) { return rpc.Peer{UID: 4242, PID: 17}, nil }
	})
	r := h.dial(t)
	_, _ = fmt.Fprint(r.conn, hello(h.token(t, rpc.RoleAdmin), "")) // it may be closed already
	r.wantError(rpc.CodeRefused, "uid 4242")
	r.closed()
	if !audit.has(EventRefusedPeer, "uid 4242 (pid 17)") || audit.count() != 1 {
		t.Errorf("the audit has %q", audit.details)
	}
}
