package daemon

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// thinker serves Anthropic's Messages: to a prompt it thinks and calls a tool, to a
// result it thinks and answers. It keeps the conversations that it was sent.
type thinker struct {
	mu   sync.Mutex
	sent []string
}

func newThinker(t *testing.T) (*thinker, string) {
	t.Helper()
	calls := strings.NewReplacer(`"bash"`, `"read_file"`, `\"command\":\"id\"`, `\"path\":\"README.md\"`).Replace(goldenStream(t, "anthropic", "thinking-tools.sse"))
	answers := goldenStream(t, "anthropic", "thinking.sse")
	m := &thinker{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.mu.Lock()
		m.sent = append(m.sent, string(body))
		m.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		if text := string(body); strings.LastIndex(text, `"type":"tool_result"`) > strings.LastIndex(text, `"role":"assistant"`) {
			_, _ = io.WriteString(w, answers)
			return
		}
		_, _ = io.WriteString(w, calls)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return m, server.URL
}

// TestThinkingGoesBack: what a model thought goes back to it to the byte, in its
// order, within a prompt and after the daemon was killed.
func TestThinkingGoesBack(t *testing.T) {
	m, url := newThinker(t)
	s := newSite(t, "plugin \"bash\" {\n  enabled = false\n}\n", fmt.Sprintf("provider \"thinker\" {\n  plugin   = \"anthropic\"\n  base_url = %q\n}\n", url))
	write(t, filepath.Join(s.project, "README.md"), "# Kettles\n")
	s.up()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, prompt := range []string{"go", "go on"} {
		a, err := s.client.Act(ctx, rpc.Prompt{Project: s.project, Run: "thinking", Model: "thinker/m", Prompt: prompt})
		if err == nil {
			err = s.followLoop(ctx, s.client, a, a.Seq)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, s.evidence())
		}
		s.kill()
		s.up()
	}
	const (
		asked = `{"signature":"c2ln\\/+==","thinking":"First.","type":"thinking"},{"type":"text","text":"Wait."},{"signature":"c2VjMg==","thinking":"Then.","type":"thinking"},{"type":"tool_use"`
		told  = `{"signature":"c2ln","thinking":"Let me see: 1 < 2 & 3.","type":"thinking"},{"type":"text","text":"4"}`
	)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, want := range []struct{ asked, told int }{{0, 0}, {1, 0}, {1, 1}, {2, 1}} {
		if i >= len(m.sent) {
			t.Fatalf("%d requests, want 4", len(m.sent))
		}
		if asked, told := strings.Count(m.sent[i], asked), strings.Count(m.sent[i], told); asked != want.asked || told != want.told {
			t.Errorf("request %d has the thinking of %d calls and %d answers, want %+v:\n%s", i, asked, told, want, m.sent[i])
		}
	}
}
