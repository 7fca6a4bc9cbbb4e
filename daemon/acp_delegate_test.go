//go:build linux

package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// delegatingConfig has an agent that delegates to one that writes, and to one that hands a result over.
const delegatingConfig = parrotConfig + `
agent "lead" {
  model  = "parrot/parrot"
  agents = ["worker", "report"]
}
agent "worker" {
  model = "parrot/parrot"
}
agent "report" {
  model = "parrot/parrot"
  finish {
    schema = { type = "object", properties = { n = { type = "integer" } }, required = ["n"] }
  }
}
`

// delegated is a prompt that gives an agent a task.
func delegated(t testing.TB, agent, task string) string {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"agent": agent, "task": task})
	if err != nil {
		t.Fatal(err)
	}
	return "call delegate " + string(arguments)
}

// reported is a task of which a result is handed over.
const reported = "calls\nlist_files {\"path\":\".\"}\nfinish_task {\"n\":2}"

// contents are the texts of the calls that were told of a session, as they were told.
func (e *editor) contents(id acp.SessionId) (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.told {
		var content []acp.ToolCallContent
		switch {
		case n.SessionId != id:
		case n.Update.ToolCall != nil:
			content = n.Update.ToolCall.Content
		case n.Update.ToolCallUpdate != nil:
			content = n.Update.ToolCallUpdate.Content
		}
		for _, c := range content {
			if c.Content != nil && c.Content.Content.Text != nil {
				all = append(all, c.Content.Content.Text.Text)
			}
		}
	}
	return all
}

// TestEditorDelegates: what a child proposes is asked in the session of its parent, and names both; the call shows how
// far the child is, and its end is the call's. The child's own calls are none of the session, also when it is loaded.
func TestEditorDelegates(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", delegatingConfig)
	e := s.opens(t, "--agent", "lead", "--mode", "interactive")
	kind, asked := acp.PermissionOptionKindAllowOnce, []acp.RequestPermissionRequest{}
	e.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		asked = append(asked, p)
		return selects(p, kind)
	}
	id := e.begins().SessionId
	write := func(name string) acp.StopReason {
		return e.asks(id, delegated(t, "worker", `call write_file {"path":"`+name+`","content":"text\n"}`))
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil
	}
	if stop := write("a.txt"); stop != acp.StopReasonEndTurn || !there("a.txt") || len(asked) != 1 {
		t.Fatalf("%s: a.txt is there: %v, asked %d times", stop, there("a.txt"), len(asked))
	}
	if p := asked[0].ToolCall; *p.Title != "write_file a.txt" || !strings.HasPrefix(string(p.ToolCallId), "worker-1 log://") || len(p.Content) != 2 || p.Content[0].Diff == nil ||
		!strings.Contains(p.Content[1].Content.Content.Text.Text, "lead-1 > worker-1: ") {
		t.Errorf("asked is %+v", p)
	}
	if shown := e.contents(id); !slices.Contains(shown, "worker in worker-1, 1 call: waits for you") {
		t.Errorf("the call shows %q", shown)
	}
	lines := e.has(id)
	if text := strings.Join(lines, "\n"); strings.Contains(text, "call edit") || !strings.Contains(text, "call other delegate ") || !strings.Contains(text, "agent the tool said: the tool said: ") {
		t.Errorf("told is\n%s", text)
	}

	// What is refused to the child without a reason ends the parent's prompt as one of its own would.
	kind = acp.PermissionOptionKindRejectOnce
	if stop := write("b.txt"); stop != acp.StopReasonEndTurn || there("b.txt") || len(asked) != 2 {
		t.Errorf("%s: b.txt is there: %v, asked %d times", stop, there("b.txt"), len(asked))
	}
	e.waits("the call that was rejected", func(told []acp.SessionNotification) bool { return slices.Contains(toldLines(told, id), "call failed") })

	// Another editor that loads the session has what was told, and no session of a child.
	other := s.opens(t)
	text := strings.Join(other.loads(id), "\n")
	if strings.Contains(text, "call edit") || strings.Count(text, "call other delegate ") != 2 || !strings.Contains(text, "agent the tool said: the tool said: ") {
		t.Errorf("loaded is\n%s", text)
	}
	list, err := other.conn.ListSessions(other.ctx(), acp.ListSessionsRequest{Cwd: &s.dir})
	if err != nil || len(list.Sessions) != 1 {
		t.Errorf("sessions: %+v, %v", list, err)
	}

	// A child that a person aborts alone is a call that failed; the session goes on.
	stopped := make(chan acp.StopReason)
	go func() { stopped <- e.asks(id, delegated(t, "worker", "slow")) }()
	s.awaitsRuns(func(statuses string) bool { return strings.Contains(statuses, "102") })
	e.waits("the child", func([]acp.SessionNotification) bool { return slices.Contains(e.contents(id), "worker in worker-3") })
	s.bothy("runs", "abort", "worker-3")
	if stop := <-stopped; stop != acp.StopReasonEndTurn {
		t.Errorf("the prompt of an aborted child stopped with %s", stop)
	}
	if text := strings.Join(e.contents(id), "\n"); !strings.Contains(text, "worker (run worker-3) came to no result: ") {
		t.Errorf("the call shows\n%s", text)
	}

	// A session that is cancelled ends its children.
	go func() { stopped <- e.asks(id, delegated(t, "worker", "slow")) }()
	e.waits("the child", func([]acp.SessionNotification) bool { return slices.Contains(e.contents(id), "worker in worker-4") })
	if err := e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-stopped; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	if text := s.bothy("runs", "show", "worker-4"); !strings.Contains(text, "aborted") {
		t.Errorf("the child is\n%s", text)
	}
}

// TestEditorAsksForChildrenBesideEachOther: what children propose at the same time is asked at the same time: a question
// that is left open hides none of another child's.
func TestEditorAsksForChildrenBesideEachOther(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", delegatingConfig)
	e := s.opens(t, "--agent", "lead", "--mode", "interactive")
	left := make(chan struct{}, 1)
	e.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		if strings.HasPrefix(string(p.ToolCall.ToolCallId), "worker-1 ") {
			left <- struct{}{}
			return acp.NewRequestPermissionOutcomeCancelled()
		}
		return selects(p, acp.PermissionOptionKindAllowOnce)
	}
	id := e.begins().SessionId
	write := func(name string) string {
		return strings.TrimPrefix(delegated(t, "worker", `call write_file {"path":"`+name+`","content":"text\n"}`), "call ")
	}
	stopped := make(chan acp.StopReason)
	go func() { stopped <- e.asks(id, "calls at once\n"+write("a.txt")+"\n"+write("b.txt")) }()
	<-left
	e.waits("what the second child wrote", func([]acp.SessionNotification) bool {
		_, err := os.Stat(filepath.Join(s.dir, "b.txt"))
		_, other := os.Stat(filepath.Join(s.dir, "a.txt"))
		return err == nil || other == nil
	})
	var open []struct{ ID, Hash, Alias string }
	if err := json.Unmarshal([]byte(s.bothy("proposals", "--json")), &open); err != nil || len(open) != 1 || open[0].Alias != "worker-1" {
		t.Fatalf("%v, %+v", err, open)
	}
	s.bothy("proposals", "accept", open[0].ID, "--hash", open[0].Hash)
	if stop := <-stopped; stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	for _, name := range []string{"a.txt", "b.txt"} { // whichever of them was the first child's
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestResultOfAChildIsShown: what a child hands over is what its call came to, for an editor and for a client of MCP.
func TestResultOfAChildIsShown(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", delegatingConfig)
	e := s.opens(t, "--agent", "lead")
	id := e.begins().SessionId
	if stop := e.asks(id, delegated(t, "report", reported)); stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	if text := strings.Join(e.contents(id), "\n"); !strings.Contains(text, `{"n":2}`) {
		t.Errorf("the call shows\n%s", text)
	}
	if text := strings.Join(ofKind(e.has(id), "agent"), "\n"); text != `the tool said: {"n":2}` { // and no result of the parent's
		t.Errorf("the answer is %q", text)
	}

	r, err := s.client(t, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "run_agent", Arguments: map[string]any{"agent": "lead", "prompt": delegated(t, "report", reported)}})
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	content, _ := r.StructuredContent.(map[string]any)
	if text, _ := r.Content[0].(*mcp.TextContent); text == nil || text.Text != `the tool said: {"n":2}` || content["result"] != nil {
		t.Errorf("%+v, said as %+v", content, r.Content)
	}
}

// TestServedAgentDelegates: what a child proposes is asked in the client of MCP that had its parent work, and names both;
// where nobody can be asked there, the end of the parent can be waited for once it was answered elsewhere.
func TestServedAgentDelegates(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", delegatingConfig+`
rule "ask" {
  decision = "propose"
  tools    = ["write_file"]
}
`)
	prompt := func(name string) map[string]any {
		return map[string]any{"agent": "lead", "prompt": delegated(t, "worker", `call write_file {"path":"`+name+`","content":"x"}`)}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil
	}
	p := &person{yes: true}
	said, bad := says(t, s.client(t, p, "--approve"), "run_agent", prompt("a.txt"))
	if bad || !there("a.txt") || len(p.asked) != 1 || !strings.Contains(p.asked[0], "lead-1 > worker-1: ") || !strings.Contains(p.asked[0], "a.txt") {
		t.Errorf("asked %q; %s", p.asked, said)
	}
	c := s.client(t, nil, "--approve")
	said, bad = says(t, c, "run_agent", prompt("b.txt"))
	var open []struct{ ID, Hash, Alias string }
	if err := json.Unmarshal([]byte(s.bothy("proposals", "--json")), &open); err != nil || len(open) != 1 || open[0].Alias != "worker-2" {
		t.Fatalf("%v, %+v: %s", err, open, said)
	}
	if bad || !strings.Contains(said, "Run lead-2 waits for a person") || !strings.Contains(said, "bothy proposals accept "+open[0].ID) {
		t.Error(said)
	}
	s.bothy("proposals", "accept", open[0].ID, "--hash", open[0].Hash)
	if said, bad = says(t, c, "run_agent", map[string]any{"run": "lead-2"}); bad || !strings.HasPrefix(said, "the tool said: the tool said: ") || !there("b.txt") {
		t.Error(said)
	}
}
