//go:build linux

package daemon

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// tripsServer is a server of MCP that asks within its call, and answers what it was given.
const tripsServer = `import json, sys

FORM = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "beds": {"type": "integer", "minimum": 1}}}
BOOK = {"message": "Where to?", "requestedSchema": FORM}
PAY = {"mode": "url", "message": "Pay there.", "url": "https://far.example/pay", "elicitationId": "e1"}

def send(m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)

def ask(params):
    send({"id": "q", "method": "elicitation/create", "params": params})
    for line in sys.stdin:
        m = json.loads(line)
        if m.get("id") == "q" and "method" not in m:
            r = m.get("result") or {"action": str(m["error"])}
            return r["action"] + " " + json.dumps(r.get("content"), sort_keys=True)

for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        send({"id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "trips", "version": "1"}}})
    elif m.get("method") == "tools/list":
        send({"id": m["id"], "result": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("book", "pay")]}})
    elif m.get("method") == "tools/call":
        send({"id": m["id"], "result": {"content": [{"type": "text", "text": ask(BOOK if m["params"]["name"] == "book" else PAY)}]}})
    elif "id" in m and "method" in m:
        send({"id": m["id"], "error": {"code": -32601, "message": "no such method"}})
`

// TestServedAgentPassesQuestionsOn: what a server of MCP asks in a call of an agent is asked in the client, with its
// schema, over each transport; the data goes to the server. What may not be asked there waits.
func TestServedAgentPassesQuestionsOn(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("trips.py", tripsServer)
	s.write(".config/bothy/config.hcl", parrotConfig+`
mcp "trips" {
  command  = "/usr/bin/python3"
  args     = ["`+filepath.Join(s.home, "trips.py")+`"]
  confined = false
}
rule "trips" {
  decision = "allow"
  tools    = ["mcp__trips__book", "mcp__trips__pay"]
}
`)
	book := map[string]any{"prompt": "call mcp__trips__book {}"}
	for name, way := range s.ways(t, "--approve") {
		p := &person{yes: true, gives: map[string]any{"city": "Bern", "beds": 2}}
		said, bad := says(t, way(t, p), "run_agent", book)
		schema, err := json.Marshal(p.schemas)
		if err != nil || bad || !strings.Contains(said, `accept {"beds": 2, "city": "Bern"}`) || len(p.asked) != 1 || !strings.Contains(p.asked[0], "Where to?") ||
			!strings.Contains(p.asked[0], "mcp__trips") || !strings.Contains(string(schema), `"minimum":1`) {
			t.Errorf("%s: asked %q with %s; %s", name, p.asked, schema, said)
		}
	}
	no := &person{}
	if said, _ := says(t, s.client(t, no, "--approve"), "run_agent", book); !strings.Contains(said, "decline null") || len(no.asked) != 1 {
		t.Errorf("asked %q; %s", no.asked, said)
	}
	for prompt, p := range map[string]*person{"call mcp__trips__pay {}": {yes: true}, "call mcp__trips__book {}": nil} {
		said, bad := says(t, s.client(t, p, "--approve"), "run_agent", map[string]any{"prompt": prompt})
		if bad || !strings.Contains(said, "bothy proposals answer ") || p != nil && len(p.asked) > 0 {
			t.Fatalf("%s: %s", prompt, said)
		}
		s.bothy("runs", "abort", strings.Fields(said)[1]) // the server does one thing at a time
	}
}
