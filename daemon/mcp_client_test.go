//go:build linux

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served is `bothy mcp serve --http`, as a process.
type served struct {
	url, token string
}

// serves starts it in the seat's project.
func (s *seat) serves(t testing.TB, args ...string) served {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(s.prefix("bin", "bothy"), append([]string{"mcp", "serve", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the bridge's log:\n%s", &log)
		}
	})
	var w served
	for lines := bufio.NewScanner(out); (w.url == "" || w.token == "") && lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), " "); name {
		case "url":
			w.url = value
		case "token":
			w.token = value
		}
	}
	if w.url == "" || w.token == "" {
		t.Fatalf("it did not say where it is: %s", &log)
	}
	return w
}

// bearer sends the token along.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// person is who sits at a client of MCP: what they answer, and what they were told.
type person struct {
	yes   bool
	gives map[string]any // the data of a yes

	mu       sync.Mutex
	schemas  []any
	asked    []string
	progress []string
	told     chan string // of what changed
}

// options are the client's.
func (p *person) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked, p.schemas = append(p.asked, r.Params.Message), append(p.schemas, r.Params.RequestedSchema)
			if p.yes {
				content := map[string]any{}
				maps.Copy(content, p.gives)
				return &mcp.ElicitResult{Action: "accept", Content: content}, nil
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.progress = append(p.progress, r.Params.Message)
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { p.tell("tools") },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { p.tell(r.Params.URI) },
	}
}

func (p *person) tell(what string) {
	select {
	case p.told <- what:
	default: // who does not wait does not hear
	}
}

// client is a client with its session; o is nil for one that cannot ask.
func (s *seat) client(t testing.TB, p *person, args ...string) *mcp.ClientSession {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(s.prefix("bin", "bothy"), append([]string{"mcp", "serve"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, &log
	session := connected(t, p, &mcp.CommandTransport{Command: cmd})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the bridge's log:\n%s", &log)
		}
	})
	return session
}

func connected(t testing.TB, p *person, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	return speaking(t, "", p, transport)
}

// speaking is a client of a version of the protocol; empty is the newest.
func speaking(t testing.TB, version string, p *person, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	var o *mcp.ClientOptions
	if p != nil {
		p.told = make(chan string, 100)
		o = p.options()
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// ways are the ways to a server of a seat: each transport, in both eras of the protocol.
func (s *seat) ways(t testing.TB, args ...string) map[string]func(t testing.TB, p *person) *mcp.ClientSession {
	t.Helper()
	w := s.serves(t, args...)
	ways := map[string]func(testing.TB, *person) *mcp.ClientSession{}
	for _, version := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		ways["stdio "+version] = func(t testing.TB, p *person) *mcp.ClientSession {
			return speaking(t, version, p, s.command(args...))
		}
		ways["http "+version] = func(t testing.TB, p *person) *mcp.ClientSession {
			return speaking(t, version, p, &mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: &http.Client{Transport: bearer(w.token)}})
		}
	}
	return ways
}

// says calls a tool, and is all its texts.
func says(t testing.TB, c *mcp.ClientSession, name string, arguments map[string]any) (said string, bad bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	p.SetProgressToken("token")
	r, err := c.CallTool(ctx, p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, x := range r.Content {
		if text, is := x.(*mcp.TextContent); is {
			said += text.Text + "\n"
		}
	}
	return said, r.IsError
}

// command starts the server, for one client.
func (s *seat) command(args ...string) mcp.Transport {
	cmd := exec.Command(s.prefix("bin", "bothy"), append([]string{"mcp", "serve"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return &mcp.CommandTransport{Command: cmd}
}

// hears waits until the person was told that something changed.
func (p *person) hears(t testing.TB, what string) {
	t.Helper()
	for end := time.After(within); ; {
		select {
		case told := <-p.told:
			if told == what {
				return
			}
		case <-end:
			t.Fatalf("nobody told that %s changed", what)
		}
	}
}
