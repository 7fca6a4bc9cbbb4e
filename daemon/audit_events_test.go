package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// say sends lines to the daemon as a client that was given no token, and waits
// for as many answers.
func (s *site) say(t *testing.T, lines ...string) {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(s.root, "run", "bothy", rpc.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // all was said
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	heard := bufio.NewScanner(conn)
	for _, line := range lines {
		if _, err := fmt.Fprintln(conn, line); err != nil || !heard.Scan() {
			t.Fatalf("%s: %v, %v", line, err, heard.Err())
		}
	}
}

// TestEventsInTheAudit: what may be an attack is told apart from what merely
// failed, and where it came from is with it.
func TestEventsInTheAudit(t *testing.T) {
	s := newSite(t, "plugin \"bash\" {\n  enabled = false\n}\n")
	s.up()
	hello := `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"x","protocol":"2.0"%s}}`
	s.say(t, fmt.Sprintf(hello, `,"token":"`+strings.Repeat("0", 64)+`"`))
	s.say(t, fmt.Sprintf(hello, ""), `{"jsonrpc":"2.0","id":2,"method":"proposals/resolve","params":{"id":"00000000","hash":"y","answer":"accept"}}`)
	for _, path := range []string{"../../outside", "missing"} {
		arguments, _ := json.Marshal(map[string]string{"path": path}) // a text always can be
		if done, err := s.client.CallTool(t.Context(), rpc.ToolCall{Project: s.project, Tool: "read_file", Arguments: arguments}); err == nil && done.Result.Success {
			t.Errorf("%s was read", path)
		}
	}
	want := map[string]string{"wrong_token": "pid", "refused_approval": "proposals/resolve", "path_escape": ""}
	found := map[string]bool{}
	for deadline := time.Now().Add(10 * time.Second); len(found) < len(want) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		page, err := s.client.Audit(t.Context(), rpc.AuditParams{Events: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			detail, expected := want[r.Event]
			if !expected || !strings.Contains(r.Detail, detail) || strings.Contains(string(r.Arguments), "missing") {
				t.Fatalf("%+v", r)
			}
			found[r.Event] = true
		}
	}
	if len(found) != len(want) {
		t.Errorf("found only %v", found)
	}
	all, err := s.client.Audit(t.Context(), rpc.AuditParams{})
	if last := all.Records[len(all.Records)-1]; err != nil || last.Event != "" || !strings.Contains(string(last.Arguments), "missing") {
		t.Errorf("the last is %+v, %v", last, err)
	}
}
