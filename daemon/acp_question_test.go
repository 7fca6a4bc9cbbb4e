//go:build linux

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// TestEditorQuestions: what is proposed is asked, whole; the answer resolves it, and leaves a rule
// where it says so. Who answered elsewhere is told, and the editor's question taken back.
func TestEditorQuestions(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t, "--mode", "interactive")
	kind, asked := acp.PermissionOptionKindAllowOnce, []acp.RequestPermissionRequest{}
	e.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		asked = append(asked, p)
		return selects(p, kind)
	}
	id := e.begins().SessionId
	write := func(name string) acp.StopReason {
		return e.asks(id, fmt.Sprintf(`call write_file {"path":%q,"content":"text\n"}`, name))
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil
	}
	if stop := write("a.txt"); stop != acp.StopReasonEndTurn || !there("a.txt") || len(asked) != 1 {
		t.Fatalf("%s: a.txt is there: %v, asked %d times", stop, there("a.txt"), len(asked))
	}
	p := asked[0]
	if *p.ToolCall.Title != "write_file a.txt" || *p.ToolCall.Kind != acp.ToolKindEdit || len(p.ToolCall.Content) != 2 || p.ToolCall.Content[0].Diff == nil || p.ToolCall.Content[0].Diff.NewText != "text\n" ||
		!strings.Contains(p.ToolCall.Content[1].Content.Content.Text.Text, "write_file a.txt") {
		t.Errorf("asked is %+v", p.ToolCall)
	}
	if first, last := p.Options[0], p.Options[len(p.Options)-1]; first.Kind != acp.PermissionOptionKindAllowOnce || last.Kind != acp.PermissionOptionKindRejectOnce || len(p.Options) < 3 || !strings.HasPrefix(p.Options[1].Name, "Always allow") {
		t.Errorf("options are %+v", p.Options)
	}
	kind = acp.PermissionOptionKindRejectOnce
	if stop := write("b.txt"); stop != acp.StopReasonEndTurn || there("b.txt") {
		t.Errorf("%s: b.txt is there: %v", stop, there("b.txt"))
	}
	e.waits("the rejected call", func(told []acp.SessionNotification) bool { return slices.Contains(toldLines(told, id), "call failed") })
	kind = acp.PermissionOptionKindAllowAlways
	before := len(asked)
	for range 2 {
		if stop := write("c.txt"); stop != acp.StopReasonEndTurn || !there("c.txt") {
			t.Errorf("%s: c.txt is there: %v", stop, there("c.txt"))
		}
	}
	if rules := s.bothy("policy", "rules"); len(asked) != before+1 || !strings.Contains(rules, "files__write_file") {
		t.Errorf("asked %d times more; rules are\n%s", len(asked)-before, rules)
	}

	// Somebody else is faster.
	taken := make(chan struct{})
	e.answers = func(ctx context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		open := s.bothy("proposals", "--json")
		var list []struct{ ID, Hash string }
		if err := json.Unmarshal([]byte(open), &list); err != nil || len(list) != 1 {
			t.Errorf("proposals: %v\n%s", err, open)
			return acp.NewRequestPermissionOutcomeCancelled()
		}
		s.bothy("proposals", "accept", list[0].ID, "--hash", list[0].Hash)
		<-ctx.Done() // the bridge takes its question back
		close(taken)
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	if stop := write("d.txt"); stop != acp.StopReasonEndTurn || !there("d.txt") {
		t.Errorf("%s: d.txt is there: %v", stop, there("d.txt"))
	}
	<-taken
	e.tells("who answered", func(u acp.SessionUpdate) bool {
		return u.ToolCallUpdate != nil && len(u.ToolCallUpdate.Content) > 0 && u.ToolCallUpdate.Content[0].Content != nil &&
			strings.HasPrefix(u.ToolCallUpdate.Content[0].Content.Content.Text.Text, "Answered elsewhere: accepted by ")
	})
}

// TestEditorsBesideEachOther: ten sessions of two editors, each with a server of MCP that has a key of its own, wait for
// answers at once. Each editor is asked about its own, and about one that it loads of the other; the command line sees
// all, and what that answers the editor takes back. No key is anywhere but with its server.
func TestEditorsBesideEachOther(t *testing.T) {
	s := newSeat(t, 80, 24)
	const each = 5
	release := make(chan struct{})
	var asked, open sync.WaitGroup
	ended := make(chan acp.StopReason, 2*each)
	editors := make([]*editor, 2)
	ids := make([][]acp.SessionId, 2)
	sessions := make([]map[acp.SessionId]int, 2) // how often each was asked about
	var keys []string
	var mu sync.Mutex
	for i := range editors {
		e := s.opens(t, "--mode", "interactive")
		editors[i], sessions[i] = e, map[acp.SessionId]int{}
		e.answers = func(ctx context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
			mu.Lock()
			sessions[i][p.SessionId]++
			mu.Unlock()
			asked.Done()
			select {
			case <-release:
				return selects(p, acp.PermissionOptionKindAllowOnce)
			case <-ctx.Done(): // it was answered elsewhere
				return acp.NewRequestPermissionOutcomeCancelled()
			}
		}
		for n := range each {
			key := fmt.Sprintf("key-of-%d-%d", i, n)
			id := e.begins(e.notesServer(key)).SessionId
			ids[i], keys = append(ids[i], id), append(keys, key)
			mu.Lock()
			sessions[i][id] = 0
			mu.Unlock()
			asked.Add(1)
			open.Go(func() {
				ended <- e.asks(id, "call "+lentTool(id, "who")+" {}")
			})
		}
	}
	asked.Wait()
	asked.Add(1)
	editors[1].loads(ids[0][1])
	asked.Wait()
	var list []struct{ ID, Hash string }
	text := s.bothy("proposals", "--json")
	if json.Unmarshal([]byte(text), &list) != nil || len(list) != 2*each {
		t.Fatalf("the command line sees\n%s", text)
	}
	s.bothy("proposals", "accept", list[0].ID, "--hash", list[0].Hash)
	if stop := <-ended; stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	close(release)
	open.Wait()
	for range 2*each - 1 {
		if stop := <-ended; stop != acp.StopReasonEndTurn {
			t.Errorf("it stopped with %s", stop)
		}
	}
	for i, e := range editors {
		for n, id := range ids[i] {
			key := fmt.Sprintf("key-of-%d-%d", i, n)
			if got := strings.Join(ofKind(e.has(id), "agent"), "\n"); strings.Count(got, "the tool said: ") != 1 || !strings.Contains(got, "\n"+digestOf(key)+"\n") { // in the fence of a server of MCP
				t.Errorf("the session with %s has %q", key, got)
			}
			if times := sessions[i][id]; times != 1 {
				t.Errorf("about %s was asked %d times", id, times)
			}
		}
	}
	if times := sessions[1][ids[0][1]]; times != 1 || len(sessions[0]) != each || len(sessions[1]) != each+1 {
		t.Errorf("the editors were asked about %v and %v", sessions[0], sessions[1])
	}
	text += s.bothy("plugins", "list", "--json") + s.bothy("tools", "list", "--json") + s.bothy("runs", "list", "--json") + s.bothy("logs")
	for _, e := range editors {
		e.closes()
		text += e.frames.String() + e.log.String()
	}
	for _, key := range keys {
		if strings.Contains(text, key) {
			t.Errorf("%s was told", key)
		}
	}
	s.bothy("stop")
	s.nowhere(keys...)
}

// TestEditorAnswersLate: an answer that somebody else was faster with is none, and the person is told.
func TestEditorAnswersLate(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t, "--mode", "interactive")
	e.answers = func(ctx context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		var list []struct{ ID, Hash string }
		if err := json.Unmarshal([]byte(s.bothy("proposals", "--json")), &list); err != nil || len(list) != 1 {
			t.Errorf("proposals: %v, %v", list, err)
			return acp.NewRequestPermissionOutcomeCancelled()
		}
		s.bothy("proposals", "reject", list[0].ID)
		return selects(p, acp.PermissionOptionKindAllowOnce)
	}
	id := e.begins().SessionId
	if stop := e.asks(id, `call write_file {"path":"a.txt","content":"text\n"}`); stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
		t.Error("it was written, though somebody had said no")
	}
	e.waits("who answered", func(told []acp.SessionNotification) bool {
		return strings.Contains(strings.Join(toldLines(told, id), "\n"), "too late") || slices.ContainsFunc(told, func(n acp.SessionNotification) bool {
			u := n.Update.ToolCallUpdate
			return u != nil && len(u.Content) > 0 && u.Content[0].Content != nil && strings.HasPrefix(u.Content[0].Content.Content.Text.Text, "Answered elsewhere: rejected by ")
		})
	})
}
