package sdktest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/conformance"
)

// token is what the suite lends a channel. It opens nothing.
const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Channel checks an implementation of the kind channel: it ends soon after it is
// told to, in order and when its stream is cut, and can be served again then; it
// survives a daemon that is not there, one that lists nobody and one that hangs up; and
// its token is in nothing that it says. schemes are those that the plugin declares by
// channel.Keeps. What it does with messages is tried against a Lender, by whoever knows
// its service.
func Channel(t *testing.T, impl channel.Channel, schemes ...string) {
	t.Helper()
	conn := Pair(t, func(s grpc.ServiceRegistrar) { channel.Register(s, impl) })
	client := channel.NewClient(conn)
	m := sdk.Manifest{Grants: []string{sdk.GrantChannel}}
	keeps(t, conn, m, conformance.ChannelChecks(m))
	t.Run("without a daemon", func(t *testing.T) { serves(t, client, filepath.Join(socketDir(t), "none.sock")) })
	t.Run("a daemon that lists nobody", func(t *testing.T) {
		lender := Lender{Schemes: schemes}
		serves(t, client, lender.Access(t).Socket)
		for _, m := range lender.Mistakes() {
			t.Error(m)
		}
	})
	t.Run("a daemon that hangs up", func(t *testing.T) { serves(t, client, hangsUp(t)) })
	t.Run("cut", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		within(t, "a channel with an ended context", func() {
			_ = client.Serve(ctx, channel.Access{Socket: "/none", Token: token, Projects: []string{t.TempDir()}}, func(string) {}) // any answer will do
		})
	})
	t.Run("again", func(t *testing.T) { serves(t, client, hangsUp(t)) })
}

// serves serves for a moment and ends it in order, unless it ended by itself.
func serves(t *testing.T, client *channel.Client, socket string) {
	t.Helper()
	var heard heardStatus
	ended := make(chan error, 1)
	ctx := soon(t)
	go func() {
		for { // what was cut before may end only now
			err := client.Serve(ctx, channel.Access{Socket: socket, Token: token, Projects: []string{"/none"}}, heard.say)
			if outcome(err) != sdk.Conflict {
				ended <- err
				return
			}
		}
	}()
	cancel := time.NewTicker(20 * time.Millisecond)
	defer cancel.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil && ctx.Err() != nil {
				t.Error("the channel did not end after Cancel")
			} else if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "panicked")) {
				t.Errorf("the channel ended with its token, or a panic: %v", err)
			}
			heard.check(t)
			return
		case <-cancel.C:
			if err := client.Cancel(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("Cancel failed: %v", err)
				return
			}
		}
	}
}

// heardStatus keeps what a channel says.
type heardStatus struct {
	mu   sync.Mutex
	said []string
}

func (h *heardStatus) say(status string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, status)
}

func (h *heardStatus) check(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.said {
		if !utf8.ValidString(s) || strings.Contains(s, "\n") || strings.Contains(s, token) {
			t.Errorf("the status %q is no line for people", s)
		}
	}
}

// hangsUp is a socket behind which everybody is sent away.
func hangsUp(t *testing.T) string {
	t.Helper()
	path := filepath.Join(socketDir(t), "d.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				_ = c.Close() // it was not used
			}
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return path
}

// socketDir is a folder whose path leaves room for a socket's.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bothy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
