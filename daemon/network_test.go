package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// pulled are answers as three kinds of servers write them: a word, and a call that would
// leave a file. Ends is where the piece begins without which an answer is none.
var pulled = map[string]struct{ path, kind, answer, ends string }{
	"openai": {
		"POST /openai/chat/completions", "text/event-stream",
		`data: {"choices":[{"delta":{"role":"assistant","content":"I shall write it down."}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"write_file","arguments":""}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"half.txt\",\"content\":"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n", `data: {"choices":[{"delta":{},"finish`,
	},
	"ollama": {
		"POST /api/chat", "application/x-ndjson",
		`{"model":"m","message":{"role":"assistant","content":"I shall "},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"write it down."},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"write_file","arguments":{"path":"half.txt","content":"x"}}}]},"done":false}` + "\n" +
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":5}` + "\n", `{"model":"m","message":{"role":"assistant","content":""},"done":true`,
	},
	"anthropic": {
		"POST /anthropic/v1/messages", "text/event-stream",
		"event: message_start\n" + `data: {"type":"message_start","message":{"id":"x","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":5,"output_tokens":1}}}` + "\n\n" +
			"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I shall write it down."}}` + "\n\n" +
			"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			"event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"write_file","input":{}}}` + "\n\n" +
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"half.txt\",\"content\":\"x\"}"}}` + "\n\n" +
			"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":1}` + "\n\n" +
			"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}` + "\n\n" +
			"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n", "event: message_stop",
	},
}

// cutServer answers each request with a part of an answer, up to a byte that is drawn, and
// then closes or resets the connection.
func cutServer(t *testing.T) string {
	rng := seeded(t)
	var mu sync.Mutex
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	mux := http.NewServeMux()
	for _, x := range pulled {
		most := strings.Index(x.answer, x.ends)
		mux.HandleFunc(x.path, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			part := x.answer[:draw(most)]
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", x.kind)
			if part != "" {
				fmt.Fprintf(conn, "%x\r\n%s\r\n", len(part), part)
			}
			if draw(2) == 0 {
				_ = conn.(*net.TCPConn).SetLinger(0) // what is not sent yet is lost as well
			}
		})
	}
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"models":[{"name":"m:latest","model":"m:latest","digest":"d","size":1000,"details":{"parameter_size":"8B"}}]}`)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"capabilities":["completion","tools"],"model_info":{"x.context_length":8192}}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// TestNetworkPulled: an answer whose connection ends at any byte is no success, hangs
// nothing, runs none of its calls and sends nothing to another machine. BOTHY_KILLS says how
// often (8).
func TestNetworkPulled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, "project/README", "x")
	url := cutServer(t)
	p.write(t, ".config/bothy/config.hcl", fmt.Sprintf(`
plugin "bash" {
  enabled = false
}
policy {
  mode = "full"
}
provider "cut-openai" {
  plugin   = "openai"
  base_url = "%[1]s/openai"
}
provider "cut-ollama" {
  plugin   = "ollama"
  base_url = "%[1]s"
}
provider "cut-anthropic" {
  plugin   = "anthropic"
  base_url = "%[1]s/anthropic"
}
provider "away" {
  plugin   = "openai"
  base_url = "http://away.invalid/v1"
}
model "openai" {
  provider = "cut-openai"
  name     = "m"
  fallback = ["away/m"]
}
model "ollama" {
  provider = "cut-ollama"
  name     = "m"
  fallback = ["away/m"]
}
model "anthropic" {
  provider = "cut-anthropic"
  name     = "m"
  fallback = ["away/m"]
}
`, url))
	times := number(t, "BOTHY_KILLS", 8)
	work := make(chan int)
	var workers sync.WaitGroup
	for range 6 {
		workers.Go(func() {
			for n := range work {
				model := []string{"openai", "ollama", "anthropic"}[n%3]
				if out, err := p.bothy("run", "-m", model, "-r", fmt.Sprintf("cut-%d", n), "write it down"); err == nil {
					t.Errorf("%s, run %d: it ended well: %s", model, n, out)
				}
			}
		})
	}
	for n := range times {
		work <- n
	}
	close(work)
	workers.Wait()
	out, err := p.bothy("runs", "list", "-g", "-n", "1000", "--json")
	var runs []rpc.RunSummary
	if err != nil || json.Unmarshal([]byte(out), &runs) != nil || len(runs) != times {
		t.Fatalf("%d runs, %v: %.2000s", len(runs), err, out)
	}
	for _, r := range runs {
		if r.Status != sdk.StatusFailed {
			t.Errorf("the run %s has the status %d", r.Alias, r.Status)
		}
		journal, err := p.bothy("journal", "-r", fmt.Sprint(r.ID), "--json")
		if err != nil || strings.Contains(journal, "answers in the place of") || strings.Contains(journal, `"phase":"recorded"`) {
			t.Errorf("the run %s: %v: %s", r.Alias, err, journal)
		}
	}
	if _, err := os.Stat(filepath.Join(p.home, "project", "half.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half of a call was made: %v", err)
	}
	if out, err := p.bothy("stop"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(p.log); err != nil || strings.Contains(string(text), "away.invalid") {
		t.Errorf("the server on another machine was asked (%v)", err)
	}
}
