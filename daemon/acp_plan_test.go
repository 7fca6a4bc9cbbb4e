//go:build linux

package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// TestEditorPlan: an editor shows the plan of a session that it loads, and each mark as it is set.
func TestEditorPlan(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("shop/release.md", "# Release\n## Test\nRun the tests.\n## Tag\nTag it.\n## Push\nPush it.\n")
	s.bothy("run", "-q", "-r", "r", "--plan", "release.md", "--until", "2")
	e := s.opens(t)
	list, err := e.conn.ListSessions(e.ctx(), acp.ListSessionsRequest{Cwd: &s.dir})
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("sessions: %+v, %v", list, err)
	}
	plan := func(want string) {
		t.Helper()
		e.waits(want, func(told []acp.SessionNotification) bool {
			last := ""
			for _, n := range told {
				if p := n.Update.Plan; p != nil {
					last = ""
					for _, x := range p.Entries {
						last += fmt.Sprintf("%s %s;", x.Content, x.Status)
					}
				}
			}
			return last == want
		})
	}
	id := list.Sessions[0].SessionId
	loaded := e.loads(id)
	if text := strings.Join(loaded, "\n"); !strings.Contains(text, "user Follow the plan release.md: Release") {
		t.Errorf("loaded is\n%s", text)
	}
	plan("Test: Run the tests. pending;Tag: Tag it. pending;")
	e.asks(id, `call plan {"steps":[{"number":1,"status":"done"},{"number":2,"status":"doing"},{"text":"Tell people"}]}`)
	plan("Test: Run the tests. completed;Tag: Tag it. in_progress;Tell people pending;")
	e.asks(id, `call plan {"steps":[{"number":2,"status":"dropped","note":"it is there"}]}`)
	plan("Test: Run the tests. completed;dropped: Tag: Tag it. completed;Tell people pending;")
}
