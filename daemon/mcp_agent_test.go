//go:build linux

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk/rpc"
)

// askAboutWrites has a person asked about each file that is written.
const askAboutWrites = parrotConfig + `
rule "ask" {
  decision = "propose"
  tools    = ["write_file"]
}
`

// TestServedAgentAsks: what an agent proposes is asked in the client, over each transport, and goes on by the answer.
func TestServedAgentAsks(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", askAboutWrites)
	for name, way := range s.ways(t, "--approve") {
		for _, yes := range []bool{true, false} {
			p := &person{yes: yes}
			file := strings.ReplaceAll(name, " ", "-") + ".txt"
			_ = os.Remove(filepath.Join(s.dir, file))
			said, _ := says(t, way(t, p), "run_agent", map[string]any{"prompt": `call write_file {"path":"` + file + `","content":"x"}`})
			_, err := os.Stat(filepath.Join(s.dir, file))
			if yes != (err == nil) || len(p.asked) != 1 || !strings.Contains(p.asked[0], file) {
				t.Errorf("%s, %v: asked %q; %s (%v)", name, yes, p.asked, said, err)
			}
		}
	}
}

// TestServedAgentWaits: where nobody can be asked in the client the result says how to answer, and the end can be
// waited for.
func TestServedAgentWaits(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", askAboutWrites)
	c := s.client(t, nil, "--approve")
	said, bad := says(t, c, "run_agent", map[string]any{"prompt": `call write_file {"path":"x.txt","content":"x"}`})
	var open []struct{ ID, Hash, Alias string }
	if err := json.Unmarshal([]byte(s.bothy("proposals", "--json")), &open); err != nil || len(open) != 1 {
		t.Fatalf("%v, %+v: %s", err, open, said)
	}
	if bad || !strings.Contains(said, "bothy proposals accept "+open[0].ID) || !strings.Contains(said, open[0].Alias) {
		t.Error(said)
	}
	s.bothy("proposals", "accept", open[0].ID, "--hash", open[0].Hash)
	if said, bad := says(t, c, "run_agent", map[string]any{"run": open[0].Alias}); bad || strings.Contains(said, "waits for a person") {
		t.Error(said)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "x.txt")); err != nil {
		t.Error(err)
	}
	for _, x := range []struct{ part, want string }{{"", "write_file"}, {"/prompts/1", "write_file"}, {"/changes", "+x"}} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "bothy://runs/" + open[0].Alias + x.part})
		if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, x.want) {
			t.Errorf("%s: %+v, %v", x.part, r, err)
		}
	}
	if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "bothy://runs/" + open[0].Alias + "/prompts/2"}); err == nil {
		t.Error("a prompt that is not there is read")
	}
}

// TestServedAgentHandsOver: what an agent hands over is structured content, beside the text.
func TestServedAgentHandsOver(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", parrotConfig+`
agent "report" {
  finish {
    schema = { type = "object", properties = { n = { type = "integer" } }, required = ["n"] }
  }
}
`)
	r, err := s.client(t, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "run_agent", Arguments: map[string]any{
		"agent": "report", "prompt": "calls\nlist_files {\"path\":\".\"}\nfinish_task {\"n\":2}",
	}})
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	content, _ := r.StructuredContent.(map[string]any)
	result, _ := content["result"].(map[string]any)
	if text, _ := r.Content[0].(*mcp.TextContent); result["n"] != 2.0 || text == nil || !strings.Contains(text.Text, `"n": 2`) {
		t.Errorf("%+v, said as %+v", content, r.Content)
	}
}

// TestServedAgentIsCancelled: a call that is cancelled ends the work on the prompt.
func TestServedAgentIsCancelled(t *testing.T) {
	s := newSeat(t, 80, 24)
	c := s.client(t, &person{})
	ended, cancel := runsSlowly(t, c)
	s.awaitsRuns(func(statuses string) bool { return strings.Contains(statuses, "102") })
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was cancelled has a result")
	}
	s.awaitsRuns(func(statuses string) bool { return statuses == "499 " })
}

// TestServedAgentIsCancelledUnanswered: so does one that is cancelled before the daemon's answer to the
// prompt is there.
func TestServedAgentIsCancelledUnanswered(t *testing.T) {
	s := newSeat(t, 80, 24)
	if statuses := s.statuses(); statuses != "" { // the daemon is there
		t.Fatal(statuses)
	}
	socket, asked, goOn := s.holdsAnswers(rpc.MethodAct)
	env := s.env
	s.env = append(slices.Clone(env), "BOTHY_LISTEN_SOCKET="+socket)
	c := s.client(t, &person{})
	s.env = env
	ended, cancel := runsSlowly(t, c)
	select {
	case <-asked:
	case err := <-ended:
		t.Fatal(err)
	}
	s.awaitsRuns(func(statuses string) bool { return statuses == "102 " })
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was cancelled has a result")
	}
	if _, err := c.ListTools(t.Context(), nil); err != nil { // it is behind the notification of the cancellation
		t.Error(err)
	}
	close(goOn)
	s.awaitsRuns(func(statuses string) bool { return statuses == "499 " })
}

// runsSlowly has an agent work on a prompt that takes long, until the call is cancelled.
func runsSlowly(t *testing.T, c *mcp.ClientSession) (ended <-chan error, cancel func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	errs := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run_agent", Arguments: map[string]any{"prompt": "slow"}})
		errs <- err
	}()
	return errs, cancel
}

// holdsAnswers is a socket before the daemon's. What the daemon says over a connection on which a
// request of the method went by, which asked tells, is held until goOn is closed.
func (s *seat) holdsAnswers(method string) (socket string, asked <-chan struct{}, goOn chan<- struct{}) {
	s.t.Helper()
	runtime := strings.TrimPrefix(s.env[slices.IndexFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "XDG_RUNTIME_DIR=") })], "XDG_RUNTIME_DIR=")
	socket = filepath.Join(runtime, "before.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.t.Cleanup(func() { close(ended); _ = l.Close() })
	went, wait := make(chan struct{}), make(chan struct{})
	tell := sync.OnceFunc(func() { close(went) })
	forward := func(from, to net.Conn, before func(line []byte)) {
		defer to.Close()
		for lines := bufio.NewReader(from); ; {
			line, err := lines.ReadBytes('\n')
			before(line)
			if _, bad := to.Write(line); err != nil || bad != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			daemon, err := net.Dial("unix", filepath.Join(runtime, "bothy", "bothy.sock"))
			if err != nil {
				_ = client.Close()
				continue
			}
			var holds atomic.Bool
			go forward(client, daemon, func(line []byte) {
				if bytes.Contains(line, []byte(`"method":"`+method+`"`)) {
					holds.Store(true)
					tell()
				}
			})
			go forward(daemon, client, func([]byte) {
				if holds.Load() {
					select {
					case <-wait:
					case <-ended:
					}
				}
			})
		}
	}()
	return socket, went, wait
}

// TestServedAgentOutlivesItsClient: a client that closes its side cancels nothing.
func TestServedAgentOutlivesItsClient(t *testing.T) {
	s := newSeat(t, 80, 24)
	cmd := exec.Command(s.prefix("bin", "bothy"), "mcp", "serve")
	cmd.Dir, cmd.Env = s.dir, s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_agent","arguments":{"prompt":"slow"}}}`,
	} {
		if _, err := io.WriteString(in, frame+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitsRuns(func(statuses string) bool { return strings.Contains(statuses, "102") })
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if statuses := s.statuses(); statuses != "102 " {
		t.Errorf("the runs are %s", statuses)
	}
}

// statuses are those of the seat's runs.
func (s *seat) statuses() (all string) {
	s.t.Helper()
	var runs []struct{ Status int }
	if err := json.Unmarshal([]byte(s.bothy("runs", "--json")), &runs); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range runs {
		all += strconv.Itoa(r.Status) + " "
	}
	return all
}

// awaitsRuns waits until the statuses of the runs are as they are wanted.
func (s *seat) awaitsRuns(are func(statuses string) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(within); !are(s.statuses()); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the runs are %s", s.statuses())
		}
	}
}
