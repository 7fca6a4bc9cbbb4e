package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestGreetedFirst: what is said and sent before the daemon has greeted comes behind the
// greeting.
func TestGreetedFirst(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name   string
		detail *rpc.RunDetail
	}{{"a new run", nil}, {"a run", &rpc.RunDetail{}}} {
		c := alone(t, 80, 24)
		c.ctx, c.send = over, func(tea.Msg) {}
		c.headed, c.others.watching = false, true
		if c.prompt("one") != nil || c.say("said early") != nil {
			t.Errorf("%s: something happens before the greeting", tt.name)
		}
		c.Update(greeted{detail: tt.detail})
		c.Update(fromRun{c.entered, caughtUp{}})
		text := c.said()
		if first, early := strings.Index(text, "bothy"), strings.Index(text, "said early"); first < 0 || early < first || len(c.outbox) != 1 {
			t.Errorf("%s: %d go out, and it says\n%s", tt.name, len(c.outbox), text)
		}
	}
}

// TestGreetedByTheNext: a daemon that dies before it has greeted is no end of the
// conversation.
func TestGreetedByTheNext(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if n == 0 {
				_ = conn.Close() // it dies
				continue
			}
			go greets(conn)
		}
	}()
	c := alone(t, 80, 24)
	c.daemon = &start.Daemon{Environ: []string{"BOTHY_LISTEN_SOCKET=" + socket}}
	c.cl = c.daemon.Client(socket)
	t.Cleanup(func() { _ = c.cl.Close() })
	if g := c.hello()().(fromRun).msg.(greeted); g.err != nil || g.hello.Version != "v9" {
		t.Errorf("greeted by %q: %v", g.hello.Version, g.err)
	}
}

// greets answers hello on a connection, and nothing else.
func greets(conn net.Conn) {
	const hello = `{"server":"bothyd","version":"v9","protocol":"` + rpc.Protocol + `","pid":42}`
	_, err := fmt.Fprintln(conn, `{"jsonrpc":"2.0","method":"hello","params":`+hello+`}`)
	for requests := json.NewDecoder(conn); err == nil; {
		var r rpc.Request
		if err = requests.Decode(&r); err != nil {
			break
		}
		answer := `"error":{"code":-32601,"message":"none"}`
		if r.Method == rpc.MethodHello {
			answer = `"result":` + hello
		}
		_, err = fmt.Fprintf(conn, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", r.ID, answer)
	}
	_ = conn.Close()
}

// TestWaits: what a prompt waits for is said while it waits, harmless and no wider than
// the terminal.
func TestWaits(t *testing.T) {
	c := alone(t, 40, 24)
	c.Update(waitsFor{"ollama is \x1b[31minstalled and not running: it is being started, which may take up to 90 s"})
	text := strings.Join(c.waits, "\n")
	if !strings.Contains(text, "being started") || strings.Contains(text, "\x1b[31m") {
		t.Errorf("it says %q", text)
	}
	for _, row := range strings.Split(text, "\n") {
		if n := lipgloss.Width(row); n > 39 {
			t.Errorf("a row of %d columns: %q", n, row)
		}
	}
}
