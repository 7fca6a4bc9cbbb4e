//go:build linux

package daemon

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServesMCP: tools, an agent, skills and runs, over each transport, in both eras of the protocol.
func TestServesMCP(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\n\nGreet $ARGUMENTS in {baseDir}.\n")
	s.write("shop/note.txt", "a note\n")
	for name, way := range s.ways(t) {
		t.Run(name, func(t *testing.T) {
			p := &person{}
			c := way(t, p)
			if got := c.InitializeResult().ProtocolVersion; !strings.HasSuffix(name, got) {
				t.Errorf("%s speaks %s", name, got)
			}
			if said, bad := says(t, c, "read_file", map[string]any{"path": "note.txt"}); bad || !strings.Contains(said, "a note") {
				t.Errorf("read_file: %s", said)
			}
			if said, bad := says(t, c, "read_file", map[string]any{"path": "gone.txt"}); !bad || !strings.Contains(said, "gone.txt") {
				t.Errorf("read_file of nothing: %s", said)
			}
			said, bad := says(t, c, "run_agent", map[string]any{"prompt": "hello from " + name})
			if bad || !strings.Contains(said, "hello from "+name) {
				t.Error(said)
			}
			p.mu.Lock()
			told := strings.Join(p.progress, "\n")
			p.mu.Unlock()
			if !strings.Contains(told, "run default-") {
				t.Errorf("it was told of the run: %q", told)
			}
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) == 0 {
				t.Fatalf("%+v, %v", list, err)
			}
			read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: list.Resources[0].URI})
			if err != nil || !strings.Contains(read.Contents[0].Text, "hello from "+name) {
				t.Errorf("%+v, %v", read, err)
			}
			if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "bothy://runs/nobody"}); err == nil {
				t.Error("a run that is not there is read")
			}
			prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"input": "the world"}})
			if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "Greet the world in "+filepath.Join(s.home, ".config")) {
				t.Errorf("%+v, %v", prompt, err)
			}
		})
	}
}

// TestServedCallNeedsAPerson: without --approve a call about which a person would be asked is refused, and the result
// says how they make it; with it they are asked in the client, and what they say counts.
func TestServedCallNeedsAPerson(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", parrotConfig+`
rule "ask" {
  decision = "propose"
  tools    = ["write_file"]
}
`)
	call := map[string]any{"path": "x.txt", "content": "x"}
	file := filepath.Join(s.dir, "x.txt")
	gone := func(t *testing.T, said string, bad bool) {
		t.Helper()
		if _, err := os.Stat(file); err == nil || !bad {
			t.Errorf("it was made: %s", said)
		}
	}
	p := &person{yes: true}
	said, bad := says(t, s.client(t, p), "write_file", call)
	if gone(t, said, bad); len(p.asked) > 0 || !strings.Contains(said, "bothy tools call write_file") || !strings.Contains(said, "--approve") {
		t.Errorf("asked %q; %s", p.asked, said)
	}
	said, bad = says(t, s.client(t, nil, "--approve"), "write_file", call)
	if gone(t, said, bad); !strings.Contains(said, "bothy tools call write_file") {
		t.Error(said)
	}
	p = &person{}
	said, bad = says(t, s.client(t, p, "--approve"), "write_file", call)
	if gone(t, said, bad); len(p.asked) != 1 || !strings.Contains(p.asked[0], "x.txt") || !strings.Contains(said, "said no") {
		t.Errorf("asked %q; %s", p.asked, said)
	}
	for name, way := range s.ways(t, "--approve") {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(file)
			p := &person{yes: true}
			said, bad := says(t, way(t, p), "write_file", call)
			if text, err := os.ReadFile(file); bad || err != nil || string(text) != "x" || len(p.asked) != 1 {
				t.Errorf("asked %q; %s (%v)", p.asked, said, err)
			}
		})
	}
}

// TestServedHTTPIsGuarded: who lacks the token, comes from a page, or by another name, is not let in.
func TestServedHTTPIsGuarded(t *testing.T) {
	s := newSeat(t, 80, 24)
	w := s.serves(t)
	for _, c := range []struct {
		name   string
		change func(r *http.Request)
		want   int
	}{
		{"no token", func(*http.Request) {}, http.StatusUnauthorized},
		{"another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("0", 64)) }, http.StatusUnauthorized},
		{"a page", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+w.token)
			r.Header.Set("Origin", "https://example.com")
		}, http.StatusForbidden},
		{"another name", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+w.token)
			r.Host = "example.com"
		}, http.StatusForbidden},
		{"too much", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+w.token)
			r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 64<<20)), -1
		}, http.StatusRequestEntityTooLarge},
		{"a page of this machine", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+w.token)
			r.Header.Set("Origin", "http://localhost:6274")
		}, http.StatusOK},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		r, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		c.change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %s", c.name, answer.Status)
		}
	}
}

// endless are zeros.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestServedFrameIsBounded: a message that does not end ends its session, and costs nobody else.
func TestServedFrameIsBounded(t *testing.T) {
	s := newSeat(t, 80, 24)
	other := s.client(t, &person{})
	cmd := exec.Command(s.prefix("bin", "bothy"), "mcp", "serve")
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, s.env, io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), endless{})
	if out, err := cmd.Output(); err == nil || len(out) > 0 {
		t.Errorf("it ended with %v and wrote %q", err, out)
	}
	if err := other.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestServedOverADeath: a daemon that is killed costs no session, and what it worked on goes on.
func TestServedOverADeath(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("shop/note.txt", "a note\n")
	c := s.client(t, &person{})
	says(t, c, "read_file", map[string]any{"path": "note.txt"})
	s.killDaemon()
	if said, bad := says(t, c, "read_file", map[string]any{"path": "note.txt"}); bad || !strings.Contains(said, "a note") {
		t.Errorf("after its death: %s", said)
	}
	s.killDaemon()
	if said, bad := says(t, c, "run_agent", map[string]any{"prompt": "hello"}); bad || !strings.Contains(said, "hello") {
		t.Errorf("after its death: %s", said)
	}
}

// TestServedNews: who is connected hears of tools that go, and of a run in which something was done.
func TestServedNews(t *testing.T) {
	s := newSeat(t, 80, 24)
	p := &person{}
	c := speaking(t, "2025-11-25", p, s.command())
	if _, bad := says(t, c, "run_agent", map[string]any{"prompt": "hello"}); bad {
		t.Fatal("the agent failed")
	}
	uri := "bothy://runs/default-1"
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	says(t, c, "run_agent", map[string]any{"prompt": "hello again", "run": "default-1"})
	p.hears(t, uri)
	s.write(".config/bothy/config.hcl", parrotConfig+"\nplugin \"research\" {\n  enabled = false\n}\n\nplugin \"files\" {\n  enabled = false\n}\n")
	s.bothy("config", "reload")
	for offered := true; offered; { // what changes in two steps may be told twice
		p.hears(t, "tools")
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		offered = slices.ContainsFunc(list.Tools, func(x *mcp.Tool) bool { return x.Name == "read_file" })
	}
}
