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
	t    *testing.T
	ws   *websocket.Conn
	id   int
	kept []map[string]any // came while an answer was waited for
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

// until takes messages until one fits.
func (p *plainClient) until(what string, fits func(m map[string]any) bool) map[string]any {
	p.t.Helper()
	for {
		var m map[string]any
		if len(p.kept) > 0 {
			m, p.kept = p.kept[0], p.kept[1:]
		} else {
			m = p.read(what)
		}
		if fits(m) {
			return m
		}
	}
}

func (p *plainClient) read(what string) (m map[string]any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	_, text, err := p.ws.Read(ctx)
	if err != nil {
		p.t.Fatalf("waiting for %s: %v", what, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	return m
}

// call is ask where no error is wanted, and returns the result.
func (p *plainClient) call(method string, params any) map[string]any {
	p.t.Helper()
	m := p.ask(method, params)
	if m["error"] != nil {
		p.t.Fatalf("%s: %v", method, m["error"])
	}
	result, _ := m["result"].(map[string]any)
	return result
}

// ask sends a request and returns the answer to it.
func (p *plainClient) ask(method string, params any) map[string]any {
	p.t.Helper()
	p.id++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method, "params": params})
	if err == nil {
		err = p.ws.Write(p.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	for {
		m := p.read("the answer to " + method)
		if m["id"] == float64(p.id) {
			return m
		}
		p.kept = append(p.kept, m)
	}
}

// TestPlainClient: with nothing but JSON on a WebSocket and a token from its file somebody gives a
// prompt, follows its states to the end and reads what was done.
// spec: notifications wrong_no_last_state wrong_history_status
func TestPlainClient(t *testing.T) {
	s := newSite(t, withoutSandbox, "listen {\n  web = \"127.0.0.1:0\"\n}\n")
	s.up()
	p := s.plain(t, "submit")
	p.until("the greeting", func(m map[string]any) bool { return m["method"] == "rummy/hello" })
	p.call("journal/watch", map[string]any{"project": s.project, "states": "whole"})
	prompt := plan{Tag: "plain", Steps: 2, Tools: []string{"note_line"}}.prompt()
	accepted := p.call("act", map[string]any{"project": s.project, "prompt": prompt, "permission_mode": "restricted"})
	seen := map[string]bool{}
	last := p.until("the end of the loop", func(m map[string]any) bool {
		method, _ := m["method"].(string)
		state, _ := m["params"].(map[string]any)
		seen[method+" "+fmt.Sprint(state["status"])] = true
		return method == "run/state" && state["status"] == 200.0 && state["telemetry"] != nil
	})["params"].(map[string]any)
	for _, want := range []string{"run/progress thinking", "run/progress processing", "run/state 102"} {
		if !seen[want] {
			t.Errorf("%s was not told, but %v", want, seen)
		}
	}
	if n := len(last["history"].([]any)); n != 6 { // a prompt, three answers and two calls
		t.Errorf("the last state has a history of %d: %v", n, last["history"])
	}
	detail := p.call("getRun", map[string]any{"run": fmt.Sprint(accepted["id"])})
	for _, name := range []string{"run", "turn", "status", "summary", "history", "unknowns", "telemetry"} {
		if fmt.Sprint(detail[name]) != fmt.Sprint(last[name]) {
			t.Errorf("getRun has %s as %v, and run/state as %v", name, detail[name], last[name])
		}
	}
}

// TestPlainProposal: what waits is told to who follows, and answered over another connection, which
// has the role; the one that follows has not.
// spec: resolution wrong_second_client wrong_accepting
func TestPlainProposal(t *testing.T) {
	s := newSite(t, withoutSandbox, "listen {\n  web = \"127.0.0.1:0\"\n}\n")
	s.up()
	p := s.plain(t, "submit")
	p.call("journal/watch", map[string]any{"project": s.project, "states": "increments"})
	person := s.plain(t, "approve")
	person.call("journal/watch", map[string]any{"project": s.project, "states": "whole", "attend": true})
	prompt := plan{Tag: "asked", Steps: 1, Tools: []string{"note_line"}}.prompt()
	p.call("act", map[string]any{"project": s.project, "prompt": prompt, "permission_mode": "interactive"})
	told := p.until("run/proposal", func(m map[string]any) bool { return m["method"] == "run/proposal" })["params"].(map[string]any)
	path := told["proposed"].([]any)[0].(map[string]any)["path"]
	waits := p.call("proposals/list", map[string]any{"project": s.project})["proposals"].([]any)
	if len(waits) != 1 || waits[0].(map[string]any)["path"] != path {
		t.Fatalf("%v waits, and %v was told", waits, told)
	}
	answer := map[string]any{"id": waits[0].(map[string]any)["id"], "hash": waits[0].(map[string]any)["hash"], "answer": "accept"}
	if m := p.ask("proposals/resolve", answer); m["error"] == nil {
		t.Errorf("who has submit answered: %v", m)
	}
	person.call("proposals/resolve", answer)
	p.until("the end", func(m map[string]any) bool {
		state, _ := m["params"].(map[string]any)
		return m["method"] == "run/state" && state["status"] == 200.0 && state["telemetry"] != nil
	})
}
