package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/coder/websocket"
)

// plainClient knows WebSockets and JSON, and nothing of this module.
type plainClient struct {
	t  *testing.T
	ws *websocket.Conn
	id int
}

// plain connects to the site's web listener with the token of a role, which it reads from its file.
func (s *site) plain(t *testing.T, role string) *plainClient {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(s.root, "run", "bothy", role+".token"))
	if err != nil {
		t.Fatal(err)
	}
	ws, _, err := websocket.Dial(t.Context(), "ws://"+s.status().Web+"/?token="+string(token), nil) //nolint:bodyclose // of a connection that was taken over
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &plainClient{t: t, ws: ws}
}

// until reads messages until one fits.
func (p *plainClient) until(what string, fits func(m map[string]any) bool) map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		_, text, err := p.ws.Read(ctx)
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", what, err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			p.t.Fatalf("%s: %v", text, err)
		}
		if fits(m) {
			return m
		}
	}
}

func (p *plainClient) call(method string, params any) map[string]any {
	p.t.Helper()
	p.id++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method, "params": params})
	if err == nil {
		err = p.ws.Write(p.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	m := p.until("the answer to "+method, func(m map[string]any) bool { return m["id"] == float64(p.id) })
	if m["error"] != nil {
		p.t.Fatalf("%s: %v", method, m["error"])
	}
	result, _ := m["result"].(map[string]any)
	return result
}

// TestPlainClient: with nothing but JSON on a WebSocket and a token from its file somebody gives a
// prompt, follows it to its end and reads what was done.
func TestPlainClient(t *testing.T) {
	s := newSite(t, withoutSandbox, "listen {\n  web = \"127.0.0.1:0\"\n}\n")
	s.up()
	p := s.plain(t, "submit")
	p.until("the greeting", func(m map[string]any) bool { return m["method"] == "rummy/hello" })
	prompt := plan{Tag: "plain", Steps: 2, Tools: []string{"note_line"}}.prompt()
	accepted := p.call("act", map[string]any{"project": s.project, "prompt": prompt, "permission_mode": "restricted"})
	p.call("journal/watch", map[string]any{"run": fmt.Sprint(accepted["id"]), "after": accepted["seq"]})
	p.until("the end of the loop", func(m map[string]any) bool {
		params, _ := m["params"].(map[string]any)
		row, _ := params["row"].(map[string]any)
		return row["kind"] == "loop.ended"
	})
	detail := p.call("getRun", map[string]any{"run": fmt.Sprint(accepted["id"])})
	if detail["run"] != accepted["run"] || len(detail["history"].([]any)) < 2 {
		t.Errorf("getRun: %v", detail)
	}
}
