//go:build linux

package daemon

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// finishConfig has agents that hand over what a server of MCP helped them to, also by a child; one that delegates to
// them, and a team of them.
const finishConfig = parrotConfig + `
mcp "web" {
  command  = "/usr/bin/python3"
  args     = ["-c", file("web.py")]
  confined = false
}
rule "web" {
  decision = "allow"
  tools    = ["mcp__web__*"]
}
agent "cites" {
  model  = "parrot/parrot"
  mcp    = ["web"]
  agents = ["worker"]
  finish {
    schema = { type = "object", properties = { summary = { type = "string" }, citations = { type = "array", items = { type = "string" } } }, required = ["summary"] }
    prove  = ["citations"]
  }
}
agent "tested" {
  model  = "parrot/parrot"
  mcp    = ["web"]
  agents = ["worker"]
  finish {
    schema = { type = "object", properties = { tests_verified = { type = "boolean" } }, required = ["tests_verified"] }
    prove  = ["tests"]
  }
}
agent "worker" {
  model = "parrot/parrot"
  mcp   = ["web"]
}
plugin "review" {
  path        = env("REVIEW")
  grants      = ["project"]
  agents      = ["reviewer"]
  agent_tools = ["read_*"]
}
agent "lead" {
  model  = "parrot/parrot"
  mcp    = []
  agents = ["cites", "tested", "reviewer"]
}
team "crew" {
  agents = ["cites", "tested", "reviewer"]
  model  = "parrot/parrot"
}
`

// webServer is a server of MCP with a tool that reaches the network, one that does not, and one that says that it ran the
// tests.
const webServer = `
import json, sys
def tool(name, reaches):
    return {"name": name, "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}, "annotations": {"readOnlyHint": True, "openWorldHint": reaches}}
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    answer = {"jsonrpc": "2.0", "id": m["id"]}
    if m["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}
    elif m["method"] == "tools/list":
        answer["result"] = {"tools": [tool("fetch", True), tool("note", False), tool("run_tests", True)]}
    elif m["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"passed": 3, "failed": 0}}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
`

// handed is work of which a result is handed over: the calls of others, and what is handed over one after the other.
type handed struct {
	agent string
	work  []string
	gives []string
	says  []string // the run, in the end
}

// handedOver are the gates, by tools of a server of MCP.
var handedOver = map[string]handed{
	"nothing was done": {
		"cites", nil, []string{`finish_task {"summary":"s"}`, `mcp__web__note {}`, `finish_task {"summary":"it is so"}`},
		[]string{"nothing was done for it yet", "summary: it is so"},
	},
	"the schema": {
		"cites", []string{`mcp__web__note {}`}, []string{`finish_task {"summary":1}`, `finish_task {"summary":"it is so"}`},
		[]string{"do not satisfy its schema", "summary: it is so"},
	},
	"what is cited": {
		"cites", []string{`mcp__web__fetch {"url":"https://a.example/"}`, `mcp__web__note {"url":"https://b.example/"}`},
		[]string{`finish_task {"summary":"s","citations":["https://b.example/"]}`, `finish_task {"summary":"it is so","citations":["https://a.example/"]}`},
		[]string{"https://b.example/ was not fetched", "summary: it is so"},
	},
	"what a plugin's agent reviewed": {
		"reviewer", []string{`read_file {"path":"notes.txt"}`},
		[]string{`finish_task {"summary":"s","findings":[{"file":"other.txt","line":1,"text":"t"}]}`, `finish_task {"summary":"it is so","findings":[]}`},
		[]string{"other.txt is spoken of, and was not read", "summary: it is so"},
	},
	"tests of a server, and plain text": {
		"tested", []string{`mcp__web__run_tests {}`}, []string{`finish_task {"tests_verified":true}`},
		[]string{"no run of run_tests passed", "does not end by an answer in plain text", "plain text 3 times in a row"},
	},
}

// handedTo are the ways in which the work comes to the agent, each with who is asked in its place and what.
var handedTo = map[string]func(t *testing.T, w handed) (agent, prompt string){
	"the agent": func(_ *testing.T, w handed) (string, string) { return w.agent, w.prompt() },
	"a child":   func(t *testing.T, w handed) (string, string) { return "lead", delegated(t, w.agent, w.prompt()) },
	"a member": func(t *testing.T, w handed) (string, string) {
		plan, err := json.Marshal(map[string]any{"assignments": []map[string]string{{"agent": w.agent, "task": w.prompt()}}})
		if err != nil {
			t.Fatal(err)
		}
		return "crew", "call create_plan " + string(plan)
	},
	"whose child did it": func(t *testing.T, w handed) (string, string) {
		if len(w.work) > 0 {
			w.work = []string{strings.TrimPrefix(delegated(t, "worker", "calls\n"+strings.Join(w.work, "\n")), "call ")}
		}
		return w.agent, w.prompt()
	},
}

func (w handed) prompt() string {
	return "calls\n" + strings.Join(append(w.work[:len(w.work):len(w.work)], w.gives...), "\n")
}

// TestGatesThroughPrograms: the gates hold with real servers of MCP, whoever asks, and for whoever works in the end.
func TestGatesThroughPrograms(t *testing.T) {
	review, _ := example(t, "review-agent", "review")
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "REVIEW="+review)
	s.write("notes.txt", "one\ntwo\n")
	s.write(".config/bothy/web.py", webServer)
	s.write(".config/bothy/config.hcl", finishConfig)
	s.bothy("run", "hello") // so that the daemon runs
	made := map[string]int{}
	for asker, ask := range map[string]func(t *testing.T, agent, prompt string){
		"a person": func(_ *testing.T, agent, prompt string) { _, _ = s.tries("run", "--agent", agent, prompt) }, // some are not finished
		"an editor": func(t *testing.T, agent, prompt string) {
			e := s.opens(t, "--agent", agent)
			id := e.begins().SessionId
			stopped, said := e.asks(id, prompt) != acp.StopReasonEndTurn, strings.Join(e.has(id), "\n")
			if stopped != strings.Contains(said, "(not finished: the model answered in plain text 3 times in a row") {
				t.Errorf("it stopped: %t, and said\n%s", stopped, said)
			}
		},
		"a client of MCP": func(t *testing.T, agent, prompt string) {
			if _, err := s.client(t, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "run_agent", Arguments: map[string]any{"agent": agent, "prompt": prompt}}); err != nil {
				t.Fatal(err)
			}
		},
		"a channel": s.channelAsks,
	} {
		for to, take := range handedTo {
			for name, w := range handedOver {
				if w.agent == "reviewer" && to == "whose child did it" { // which delegates nothing, as no plugin's agent does
					continue
				}
				t.Run(asker+"/"+to+"/"+name, func(t *testing.T) {
					agent, prompt := take(t, w)
					stem := w.agent
					if asker == "a channel" { // whose runs begin with its name, and are counted by themselves
						stem = "front_" + stem
					}
					made[stem]++
					ask(t, agent, prompt)
					s.ends(t, fmt.Sprintf("%s-%d", stem, made[stem]), w.says)
				})
			}
		}
	}
}

// channelAsks has a channel give a prompt in the seat's project, in a conversation of its own.
func (s *seat) channelAsks(t *testing.T, agent, prompt string) {
	t.Helper()
	key := strconv.FormatInt(time.Now().UnixNano(), 36) // what is served again asks nothing twice
	asks, err := json.Marshal([]rpc.Prompt{{Agent: agent, Prompt: prompt, Key: key, From: &sdk.From{Person: "ada", Thread: key}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(".config/bothy/config.hcl", finishConfig+`
plugin "front" {
  env      = { `+playFront+` = "/none", `+frontAsks+` = `+strconv.Quote(string(asks))+` }
  grants   = ["channel"]
  projects = [`+strconv.Quote(s.dir)+`]
}
person "front/ada" {}
`)
	if said, err := s.tries("config", "reload"); err != nil {
		t.Fatal(said)
	}
}

// ends waits for the end of the work in a run, and holds what the run shows then.
func (s *seat) ends(t *testing.T, run string, says []string) {
	t.Helper()
	var is struct{ Status int }
	for deadline := time.Now().Add(within); ; <-time.After(20 * time.Millisecond) {
		text, err := s.tries("runs", "show", run, "--json")
		if err == nil {
			err = json.Unmarshal([]byte(text), &is)
		}
		if err == nil && is.Status != sdk.StatusQueued && is.Status != sdk.StatusRunning {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not end: %v\n%s", err, text)
		}
	}
	shown, err := s.tries("runs", "show", run)
	for _, text := range says {
		if err != nil || !strings.Contains(shown, text) {
			t.Errorf("%q is missing: %v\n%s", text, err, shown)
		}
	}
}
