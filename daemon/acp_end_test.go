//go:build linux

package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// TestEditorCancels: a prompt that is worked on ends, one that waits is taken back, and so is that
// of a session that is closed.
func TestEditorCancels(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t)
	id := e.begins().SessionId
	prompt := func(text string) <-chan acp.StopReason {
		ended := make(chan acp.StopReason, 1)
		go func() {
			done, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
			if err != nil {
				t.Error(err)
			}
			ended <- done.StopReason
		}()
		return ended
	}
	ended := prompt("slow")
	e.waits("a text", wrote("tick"))
	if err := e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-ended; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	if stop := e.asks(id, "hello"); stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	// Another one takes its place.
	ended = prompt("slow 2")
	e.waits("a user's text", func(told []acp.SessionNotification) bool {
		return strings.Contains(toldLines(told, id)[len(toldLines(told, id))-1], "hellotick")
	})
	if stop := e.asks(id, "and now"); stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	if stop := <-ended; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	e.waits("the answer", wrote("you said: and now"))
	// Of another client, in a session that was loaded.
	other := s.opens(t)
	other.loads(id)
	ended = prompt("slow 3")
	other.waits("a prompt of another", func(told []acp.SessionNotification) bool {
		return slices.Contains(ofKind(toldLines(told, id), "user"), "slow 3")
	})
	if err := other.conn.Cancel(other.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-ended; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	// One that waits behind that of another editor, which goes on.
	ended = prompt("slow and busy")
	other.waits("a prompt of another", func(told []acp.SessionNotification) bool {
		return slices.Contains(ofKind(toldLines(told, id), "user"), "slow and busy")
	})
	waiting := make(chan acp.StopReason, 1)
	go func() { waiting <- other.asks(id, "it waits") }()
	for !strings.Contains(s.bothy("runs", "list", "--json"), `"queued": 1`) {
		select {
		case stop := <-waiting:
			t.Fatalf("it stopped with %s", stop)
		default:
		}
	}
	if err := other.conn.Cancel(other.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-waiting; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	select {
	case stop := <-ended:
		t.Errorf("the prompt of the first editor stopped with %s", stop)
	default:
	}
	if err := e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-ended; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
	ended = prompt("slow 4")
	other.waits("a prompt of another", func(told []acp.SessionNotification) bool {
		return slices.Contains(ofKind(toldLines(told, id), "user"), "slow 4")
	})
	if _, err := e.conn.CloseSession(e.ctx(), acp.CloseSessionRequest{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-ended; stop != acp.StopReasonCancelled {
		t.Errorf("it stopped with %s", stop)
	}
}

// TestEditorOutlivesTheDaemon: a daemon that is killed in the middle of a text or of a question
// costs nothing, and what was told is not told again.
func TestEditorOutlivesTheDaemon(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t, "--mode", "interactive")
	id := e.begins().SessionId
	ended := make(chan error, 1)
	prompt := func(text string) {
		go func() {
			done, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
			if err == nil && done.StopReason != acp.StopReasonEndTurn {
				err = errors.New(string(done.StopReason))
			}
			ended <- err
		}()
	}
	prompt("stall")
	e.waits("a text", wrote("tick"))
	s.killDaemon()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	text := strings.Join(ofKind(e.has(id), "agent"), "\n")
	if strings.Count(text, "you said it twice: stall") != 1 || strings.Count(text, "The model was asked again") != 1 {
		t.Errorf("the text is %q", text)
	}

	killed := false
	e.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		if killed {
			t.Error("it was asked twice")
		}
		s.killDaemon()
		killed = true
		return selects(p, acp.PermissionOptionKindAllowOnce)
	}
	prompt(`call write_file {"path":"a.txt","content":"text\n"}`)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if calls := strings.Join(ofKind(e.has(id), "call"), "\n"); strings.Count(calls, "write_file") != 1 || !strings.HasSuffix(calls, "completed") {
		t.Errorf("calls are\n%s", calls)
	}
	if got := s.written(filepath.Join(s.dir, "a.txt")); got != "text\n" {
		t.Errorf("a.txt is %q", got)
	}

	s.killDaemon()
	again := s.opens(t)
	loaded := again.loads(id)
	if got := ofKind(loaded, "user"); !slices.Equal(got, []string{"stall", `call write_file {"path":"a.txt","content":"text\n"}`}) {
		t.Errorf("prompts: %q", got)
	}
	if got := ofKind(loaded, "agent"); len(got) != 2 || got[0] != "you said it twice: stall" || !strings.HasPrefix(got[1], "the tool said: Created a.txt") {
		t.Errorf("texts: %q", got)
	}
}

// TestEditorLeaves: an editor that is closed, or dismisses a question, ends nothing: another one that loads
// the session has what is being written, and is asked what waits.
func TestEditorLeaves(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t, "--mode", "interactive")
	id := e.begins().SessionId
	prompt := func(e *editor, text string) <-chan acp.StopReason {
		ended := make(chan acp.StopReason, 1)
		go func() {
			done, _ := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}}) // its editor may be closed by then
			ended <- done.StopReason
		}()
		return ended
	}
	prompt(e, "slow")
	e.waits("a text", wrote("tick"))
	e.closes()

	second := s.opens(t)
	second.loads(id)
	second.waits("what is being written", wrote("tick tick"))
	if err := second.conn.Cancel(second.ctx(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	second.waits("the end", func(told []acp.SessionNotification) bool {
		return strings.Contains(strings.Join(toldLines(told, id), "\n"), "aborted")
	})
	if texts := ofKind(second.has(id), "agent"); len(texts) == 0 || strings.Trim(strings.ReplaceAll(texts[0], "tick ", ""), " ") != "" {
		t.Errorf("the text is %q", texts)
	}

	dismissed := make(chan struct{}, 1)
	second.answers = func(context.Context, acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		dismissed <- struct{}{}
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	ended := prompt(second, `call write_file {"path":"a.txt","content":"text\n"}`)
	<-dismissed
	third := s.opens(t)
	third.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return selects(p, acp.PermissionOptionKindAllowOnce)
	}
	third.loads(id)
	if stop := <-ended; stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	if got := s.written(filepath.Join(s.dir, "a.txt")); got != "text\n" {
		t.Errorf("a.txt is %q", got)
	}
}
