package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

// fetches is a daemon that has the tool web_fetch and nothing else.
type fetches struct {
	host.Host
	mu     sync.Mutex
	asked  []string
	answer func(address string) (sdk.ToolResult, error)
}

func (f *fetches) Invoke(_ context.Context, name string, arguments []byte) (sdk.ToolResult, error) {
	var in struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil || name != "web__web_fetch" {
		return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "no tool %s", name)
	}
	f.mu.Lock()
	f.asked = append(f.asked, in.URL)
	f.mu.Unlock()
	return f.answer(in.URL)
}

// TestPrefetch: a search asks for its first pages by a call that follows it, and that fetches them by calls
// of web_fetch, of which none fails for another.
func TestPrefetch(t *testing.T) {
	server := newFakeEngine(t)
	server.answer = `{"results": [{"url": "https://a.example/"}, {"url": "http://127.0.0.1/"}, {"url": "https://b.example/"}, {"url": "https://c.example/"}, {"url": "https://d.example/"}]}`
	configured := server.of("searxng")
	configured.Prefetch = 3
	s := searcherOf(t, configured)
	r, err := s.call(t, `{"query": "a"}`)
	if err != nil || r.Follow == nil || r.Follow.Tool != sdk.PrefetchTool {
		t.Fatalf("%+v, %v", r.Follow, err)
	}
	daemon := &fetches{Host: host.Refusing(sdk.Errorf(sdk.Permission, "not granted")), answer: func(address string) (sdk.ToolResult, error) {
		switch address {
		case "https://a.example/":
			r := tool.Text("the page")
			r.Metadata = map[string]any{"entry": "https://a.example/", "title": "A\npage"}
			return r, nil
		case "https://b.example/":
			return sdk.Failed(sdk.Errorf(sdk.Unavailable, "b.example does not answer")), nil
		}
		return sdk.ToolResult{}, sdk.Errorf(sdk.Permission, "c.example is denied")
	}}
	set := tool.Set(s.tools())
	ahead, err := set.Invoke(host.With(t.Context(), daemon), sdk.Invocation{Tool: sdk.PrefetchTool, Arguments: r.Follow.Arguments}, nil)
	if err != nil || !ahead.Success {
		t.Fatalf("%+v, %v", ahead, err)
	}
	if len(daemon.asked) != 3 {
		t.Errorf("asked %q", daemon.asked)
	}
	for _, line := range []string{"\n- https://a.example/: A page\n", "\n- https://b.example/: not fetched: b.example does not answer\n", "\n- https://c.example/: not fetched: c.example is denied\n"} {
		if !strings.Contains(ahead.Output, line) {
			t.Errorf("%q does not stand in\n%s", line, ahead.Output)
		}
	}
	t.Run("nothing found", func(t *testing.T) {
		server.answer = `{"results": []}`
		if r, err := s.call(t, `{"query": "a"}`); err != nil || r.Follow != nil {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("too many", func(t *testing.T) {
		_, err := set.Invoke(host.With(t.Context(), daemon), sdk.Invocation{Tool: sdk.PrefetchTool, Arguments: json.RawMessage(`{"addresses": ["1", "2", "3", "4", "5", "6"]}`)}, nil)
		if sdk.OutcomeOf(err) != sdk.Validation || len(daemon.asked) != 3 {
			t.Errorf("%v, asked %q", err, daemon.asked)
		}
	})
}
