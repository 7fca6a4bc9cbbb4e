//go:build linux

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
)

// editor is an editor with its bridge: `bothy acp` as a process, and what it told.
type editor struct {
	t    testing.TB
	s    *seat
	conn *acp.ClientSideConnection
	cmd  *exec.Cmd
	in   io.Closer
	log  *bytes.Buffer

	answers func(context.Context, acp.RequestPermissionRequest) acp.RequestPermissionOutcome

	mu      sync.Mutex
	told    []acp.SessionNotification
	noted   func(acp.SessionUpdate) // when one comes; may be nil
	changed chan struct{}           // closed and made anew with each update
	frames  bytes.Buffer            // all that came on standard output
}

// within is how long something may take that is waited for, on a machine that is busy.
const within = 2 * time.Minute

// opens starts an editor in the seat's project.
func (s *seat) opens(t testing.TB, args ...string) *editor {
	t.Helper()
	e := &editor{t: t, s: s, changed: make(chan struct{}), log: &bytes.Buffer{}}
	e.cmd = exec.Command(s.prefix("bin", "bothy"), append([]string{"acp"}, args...)...)
	e.cmd.Dir, e.cmd.Env, e.cmd.Stderr = s.dir, s.env, e.log
	in, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e.in = in
	e.conn = acp.NewClientSideConnection(e, in, io.TeeReader(out, &e.frames))
	t.Cleanup(func() {
		e.closes()
		if t.Failed() {
			t.Logf("the bridge's log:\n%s", e.log)
		}
	})
	if _, err := e.conn.Initialize(e.ctx(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "test", Version: "1"}}); err != nil {
		t.Fatal(err)
	}
	return e
}

// ctx ends when something takes too long.
func (e *editor) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	e.t.Cleanup(cancel)
	return ctx
}

// closes closes the editor, waits for its bridge and looks at what that wrote: frames alone.
func (e *editor) closes() {
	if e.in == nil {
		return
	}
	_, _ = e.in.Close(), e.cmd.Wait() // how it ended is in its log
	e.in = nil
	for line := range strings.Lines(e.frames.String()) {
		var frame struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &frame); err != nil || frame.JSONRPC != "2.0" {
			e.t.Errorf("on standard output stands no frame: %q (%v)", line, err)
		}
	}
}

// begins begins a session.
func (e *editor) begins() acp.NewSessionResponse {
	e.t.Helper()
	made, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: e.s.dir, McpServers: []acp.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return made
}

// asks gives a prompt and returns how it ended.
func (e *editor) asks(id acp.SessionId, text string) acp.StopReason {
	e.t.Helper()
	done, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	if err != nil {
		e.t.Fatalf("%s: %v", text, err)
	}
	return done.StopReason
}

// SessionUpdate implements acp.Client.
func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, n)
	if e.noted != nil {
		e.noted(n.Update)
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return nil
}

// RequestPermission implements acp.Client.
func (e *editor) RequestPermission(ctx context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	if e.answers == nil {
		return acp.RequestPermissionResponse{}, errors.New("nothing was to be asked")
	}
	return acp.RequestPermissionResponse{Outcome: e.answers(ctx, p)}, nil
}

// notes returns when the next update of a kind comes.
func (e *editor) notes(is func(acp.SessionUpdate) bool) <-chan time.Time {
	came := make(chan time.Time, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noted = func(u acp.SessionUpdate) {
		if is(u) {
			select {
			case came <- time.Now():
			default: // a later one
			}
		}
	}
	return came
}

// waits waits until what was told is as it should be.
func (e *editor) waits(what string, is func([]acp.SessionNotification) bool) {
	e.t.Helper()
	ctx := e.ctx()
	for {
		e.mu.Lock()
		told, changed := slices.Clone(e.told), e.changed
		e.mu.Unlock()
		if is(told) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			e.t.Fatalf("%s: it was not told; there is\n%s", what, strings.Join(toldLines(told, ""), "\n"))
		}
	}
}

// has is what was told of a session, a line for each text, thought and state of a call.
func (e *editor) has(id acp.SessionId) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return toldLines(e.told, id)
}

// toldLines are what was told: texts of one kind that follow each other are one.
func toldLines(told []acp.SessionNotification, id acp.SessionId) (all []string) {
	last := ""
	text := func(kind string, c acp.ContentBlock) {
		if last == kind {
			all[len(all)-1] += c.Text.Text
		} else {
			all = append(all, kind+" "+c.Text.Text)
		}
		last = kind
	}
	for _, n := range told {
		if id != "" && n.SessionId != id {
			continue
		}
		switch u := n.Update; {
		case u.UserMessageChunk != nil: // each is a prompt
			last = ""
			text("user", u.UserMessageChunk.Content)
			last = ""
		case u.AgentMessageChunk != nil:
			text("agent", u.AgentMessageChunk.Content)
		case u.AgentThoughtChunk != nil:
			text("thought", u.AgentThoughtChunk.Content)
		case u.ToolCall != nil:
			last = ""
			all = append(all, fmt.Sprintf("call %s %s %s", u.ToolCall.Kind, u.ToolCall.Title, u.ToolCall.Status))
		case u.ToolCallUpdate != nil:
			last = ""
			all = append(all, fmt.Sprintf("call %s", *u.ToolCallUpdate.Status))
		}
	}
	return all
}

// ofKind is what is left of the lines when those of a kind alone are taken.
func ofKind(lines []string, kind string) (all []string) {
	for _, line := range lines {
		if rest, is := strings.CutPrefix(line, kind+" "); is {
			all = append(all, rest)
		}
	}
	return all
}

// The rest of acp.Client: the bridge asks for none of it.

func (e *editor) ReadTextFile(context.Context, acp.ReadTextFileRequest) (r acp.ReadTextFileResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (r acp.WriteTextFileResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (r acp.CreateTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) KillTerminal(context.Context, acp.KillTerminalRequest) (r acp.KillTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) TerminalOutput(context.Context, acp.TerminalOutputRequest) (r acp.TerminalOutputResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (r acp.ReleaseTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (e *editor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (r acp.WaitForTerminalExitResponse, err error) {
	return r, errors.ErrUnsupported
}

// tells returns a part of what was told, once it is there.
func (e *editor) tells(what string, is func(acp.SessionUpdate) bool) (found acp.SessionUpdate) {
	e.t.Helper()
	e.waits(what, func(told []acp.SessionNotification) bool {
		i := slices.IndexFunc(told, func(n acp.SessionNotification) bool { return is(n.Update) })
		if i >= 0 {
			found = told[i].Update
		}
		return i >= 0
	})
	return found
}

// wrote reports whether the model's text has a part.
func wrote(part string) func([]acp.SessionNotification) bool {
	return func(told []acp.SessionNotification) bool {
		return strings.Contains(strings.Join(ofKind(toldLines(told, ""), "agent"), "\n"), part)
	}
}

// selects answers with the first option of a kind.
func selects(p acp.RequestPermissionRequest, kind acp.PermissionOptionKind) acp.RequestPermissionOutcome {
	i := slices.IndexFunc(p.Options, func(o acp.PermissionOption) bool { return o.Kind == kind })
	if i < 0 {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	return acp.NewRequestPermissionOutcomeSelected(p.Options[i].OptionId)
}

// loads loads a session and returns what was told of it.
func (e *editor) loads(id acp.SessionId) []string {
	e.t.Helper()
	if _, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: e.s.dir, McpServers: []acp.McpServer{}}); err != nil {
		e.t.Fatal(err)
	}
	return e.has(id)
}

// TestEditor: a session with its commands, texts, thoughts, calls and differences; listed, loaded
// and resumed by another editor.
func TestEditor(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.skill("greet", "Greets.")
	e := s.opens(t)
	made := e.begins()
	if made.Modes == nil || made.Modes.CurrentModeId != "workspace" || len(made.Modes.AvailableModes) != 3 {
		t.Errorf("modes: %+v", made.Modes)
	}
	if len(made.ConfigOptions) != 3 || made.ConfigOptions[1].Select.CurrentValue != "parrot/parrot" || made.ConfigOptions[2].Select.CurrentValue != "chat" {
		t.Errorf("options: %+v", made.ConfigOptions)
	}
	commands := e.tells("commands", func(u acp.SessionUpdate) bool { return u.AvailableCommandsUpdate != nil }).AvailableCommandsUpdate.AvailableCommands
	if !slices.ContainsFunc(commands, func(c acp.AvailableCommand) bool {
		return c.Name == "greet" && c.Description == "Greets." && c.Input != nil
	}) {
		t.Errorf("commands: %+v", commands)
	}
	s.skill("later", "Comes later.")
	e.tells("a new command", func(u acp.SessionUpdate) bool {
		return u.AvailableCommandsUpdate != nil && slices.ContainsFunc(u.AvailableCommandsUpdate.AvailableCommands, func(c acp.AvailableCommand) bool { return c.Name == "later" })
	})
	for _, prompt := range []string{
		"hello", "reason hmm", "play edit-a", `call write_file {"path":"a.txt","content":"one\n"}`, `call edit_file {"path":"a.txt","old_text":"one","new_text":"two"}`,
		`call read_file {"path":"missing.txt"}`, `call delete_path {"path":"a.txt"}`,
	} {
		if stop := e.asks(made.SessionId, prompt); stop != acp.StopReasonEndTurn {
			t.Errorf("%s: it stopped with %s", prompt, stop)
		}
	}
	had := e.has(made.SessionId)
	want := []string{
		"agent you said: hello", "thought hmm", "agent so it isI have played edit-a.",
		"call edit write_file a.txt in_progress", "call completed", "call completed", "agent the tool said: Created a.txt (4 bytes)",
		"call edit edit_file a.txt in_progress", "call completed", "call completed", "agent the tool said: Edited a.txt at line 1\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
		"call read read_file missing.txt in_progress", "call failed", "agent the tool said: missing.txt is not there",
	}
	for i, line := range want {
		if i >= len(had) || had[i] != line && !(i == len(want)-1 && strings.HasPrefix(had[i], "agent the tool said: ")) {
			t.Fatalf("line %d is not %q; there is\n%s", i, line, strings.Join(had, "\n"))
		}
	}
	var diffs []string
	e.mu.Lock()
	for _, n := range e.told {
		if u := n.Update.ToolCallUpdate; u != nil {
			for _, c := range u.Content {
				if d := c.Diff; d != nil {
					old := "nothing"
					if d.OldText != nil {
						old = *d.OldText
					}
					diffs = append(diffs, strings.TrimPrefix(d.Path, s.dir)+" "+old+"→"+d.NewText)
				}
			}
		}
	}
	e.mu.Unlock()
	if want := []string{"/a.txt nothing→one\n", "/a.txt one\n→two\n", "/a.txt two\n→"}; !slices.Equal(slices.Compact(diffs), want) {
		t.Errorf("differences: %q", diffs)
	}
	call := e.tells("a call", func(u acp.SessionUpdate) bool { return u.ToolCall != nil }).ToolCall
	if len(call.Locations) != 1 || call.Locations[0].Path != filepath.Join(s.dir, "a.txt") {
		t.Errorf("places: %+v", call.Locations)
	}

	again := s.opens(t)
	list, err := again.conn.ListSessions(again.ctx(), acp.ListSessionsRequest{Cwd: &s.dir})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != made.SessionId || list.Sessions[0].Cwd != s.dir || !strings.HasPrefix(*list.Sessions[0].Title, "chat-1: call delete_path") || list.Sessions[0].UpdatedAt == nil {
		t.Fatalf("sessions: %+v, %v", list, err)
	}
	loaded := again.loads(made.SessionId)
	if got := ofKind(loaded, "user"); len(got) != 7 || got[0] != "hello" {
		t.Errorf("prompts: %q", got)
	}
	same := slices.DeleteFunc(slices.Clone(loaded), func(line string) bool { return strings.HasPrefix(line, "user ") })
	if before := strings.Join(had, "\n"); strings.ReplaceAll(strings.Join(same, "\n"), "\nagent I have", "I have") != before {
		t.Errorf("loaded is\n%s\nand was\n%s", strings.Join(same, "\n"), before)
	}

	third := s.opens(t)
	resumed, err := third.conn.ResumeSession(third.ctx(), acp.ResumeSessionRequest{SessionId: made.SessionId, Cwd: s.dir})
	if err != nil || resumed.Modes == nil || len(third.has(made.SessionId)) != 0 {
		t.Errorf("resumed: %+v, %v, %q", resumed, err, third.has(made.SessionId))
	}
	if stop := third.asks(made.SessionId, "hello again"); stop != acp.StopReasonEndTurn || !slices.Equal(third.has(made.SessionId), []string{"agent you said: hello again"}) {
		t.Errorf("%s: %q", stop, third.has(made.SessionId))
	}
	e.waits("the prompt of another editor", wrote("you said: hello again"))
	if got := ofKind(e.has(made.SessionId), "user"); !slices.Equal(got, []string{"hello again"}) {
		t.Errorf("the first editor shows the prompts %q of others", got)
	}
}

// TestEditorRefuses: mistakes are sentences.
func TestEditorRefuses(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t)
	for name, c := range map[string]struct {
		try  func() error
		want string
	}{
		"the home directory": {func() error {
			_, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: s.home, McpServers: []acp.McpServer{}})
			return err
		}, "is no project"},
		"a folder that is not there": {func() error {
			_, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: s.home + "/none", McpServers: []acp.McpServer{}})
			return err
		}, "no such file"},
		"a session that is not there": {func() error {
			_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "x", Cwd: s.dir, McpServers: []acp.McpServer{}})
			return err
		}, "there is no such session"},
		"a prompt for one that is not open": {func() error {
			_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: "x", Prompt: []acp.ContentBlock{acp.TextBlock("x")}})
			return err
		}, "is not open"},
		"the mode full": {func() error {
			_, err := e.conn.SetSessionMode(e.ctx(), acp.SetSessionModeRequest{SessionId: e.begins().SessionId, ModeId: "full"})
			return err
		}, "--allow-dangerous"},
		"an image": {func() error {
			_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: e.begins().SessionId, Prompt: []acp.ContentBlock{acp.ImageBlock("AAAA", "image/png")}})
			return err
		}, "no image"},
		"a skill that is not there": {func() error {
			_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: e.begins().SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("/explane x")}})
			return err
		}, "explain"},
		"a model that refuses": {func() error {
			_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: e.begins().SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("refuse")}})
			return err
		}, "bad key"},
		"a model that is not there": {func() error {
			id := e.begins().SessionId
			_, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: "model", Value: "none"}})
			if err == nil {
				_, err = e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("x")}})
			}
			return err
		}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			var refused *acp.RequestError
			if err := c.try(); !errors.As(err, &refused) || !strings.Contains(refused.Message, c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	e.closes()
	if runs := s.bothy("runs", "list"); strings.Count(runs, "chat-") != 1 { // that whose prompt was taken
		t.Errorf("runs are left that nobody used:\n%s", runs)
	}
}

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

// TestEditorChoices: a mode, a model and an agent that are chosen go with the next prompt.
func TestEditorChoices(t *testing.T) {
	s := newSeat(t, 80, 24)
	url, end := (&parrot{}).serve("parrot", "second")
	defer end()
	s.write(".config/bothy/config.hcl", strings.Replace(parrotConfig, `env("MODEL_URL")`, `"`+url+`"`, 1)+"agent \"reader\" {\n  mode = \"restricted\"\n}\n")
	e := s.opens(t, "--allow-dangerous")
	made := e.begins()
	id := made.SessionId
	if len(made.Modes.AvailableModes) != 4 {
		t.Errorf("modes: %+v", made.Modes)
	}
	choose := func(option, value string) []acp.SessionConfigOption {
		t.Helper()
		got, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{
			SessionId: id, ConfigId: acp.SessionConfigId(option), Value: acp.SessionConfigValueId(value),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return got.ConfigOptions
	}
	if o := choose("agent", "reader"); o[0].Select.CurrentValue != "restricted" || o[2].Select.CurrentValue != "reader" {
		t.Errorf("with the agent hold %+v", o)
	}
	e.tells("the agent's mode", func(u acp.SessionUpdate) bool {
		return u.CurrentModeUpdate != nil && u.CurrentModeUpdate.CurrentModeId == "restricted"
	})
	choose("model", "parrot/second")
	if stop := e.asks(id, "which"); stop != acp.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	e.waits("the model's name", wrote("the model is second"))
	if _, err := e.conn.SetSessionMode(e.ctx(), acp.SetSessionModeRequest{SessionId: id, ModeId: "interactive"}); err != nil {
		t.Fatal(err)
	}
	e.tells("the option", func(u acp.SessionUpdate) bool {
		return u.ConfigOptionUpdate != nil && u.ConfigOptionUpdate.ConfigOptions[0].Select.CurrentValue == "interactive"
	})
	e.answers = func(_ context.Context, p acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return selects(p, acp.PermissionOptionKindRejectOnce)
	}
	e.asks(id, `call write_file {"path":"a.txt","content":"text\n"}`)
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
		t.Error("the mode was not told to the daemon")
	}
	choose("mode", "full")
	e.asks(id, `call write_file {"path":"b.txt","content":"text\n"}`)
	if got := s.written(filepath.Join(s.dir, "b.txt")); got != "text\n" {
		t.Errorf("b.txt is %q", got)
	}
	again := s.opens(t)
	loaded, err := again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: s.dir, McpServers: []acp.McpServer{}})
	if err != nil || loaded.Modes.CurrentModeId == "full" || len(loaded.Modes.AvailableModes) != 3 {
		t.Errorf("who did not mean it goes on in the mode full: %+v, %v", loaded.Modes, err)
	}
}

// TestEditorSaysItAgain: a prompt that is sent again under the id of its message, by the same bridge
// or by another, is answered with what became of it, and is not given twice.
func TestEditorSaysItAgain(t *testing.T) {
	s := newSeat(t, 80, 24)
	e := s.opens(t)
	id, message := e.begins().SessionId, "6b0f2f4a-6c0f-4c53-9d8a-0c6f2f0a1b2c"
	again := func(e *editor) {
		t.Helper()
		p := acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("hello")}, MessageId: &message}
		done, err := e.conn.Prompt(e.ctx(), p)
		if err != nil || done.StopReason != acp.StopReasonEndTurn || done.UserMessageId == nil || *done.UserMessageId != message {
			t.Errorf("%+v, %v", done, err)
		}
	}
	again(e)
	again(e)
	other := s.opens(t)
	other.loads(id)
	again(other)
	if got := other.has(id); !slices.Equal(got, []string{"user hello", "agent you said: hello"}) {
		t.Errorf("%q", got)
	}
	p := acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("something else")}, MessageId: &message}
	if _, err := e.conn.Prompt(e.ctx(), p); err == nil || !strings.Contains(err.Error(), "another prompt was given") {
		t.Errorf("%v", err)
	}
}

// TestEditorTellsOfTrust: a file that came with the project and is not followed is told of, since an
// editor's person may never see a terminal.
func TestEditorTellsOfTrust(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.write("shop/AGENTS.md", "Say moo.\n")
	e := s.opens(t)
	id := e.begins().SessionId
	e.asks(id, "hello")
	e.waits("what is not followed", func(told []acp.SessionNotification) bool {
		return strings.Contains(strings.Join(ofKind(toldLines(told, id), "thought"), "\n"), "AGENTS.md was not read, since nobody has agreed")
	})
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

// TestEditorsBesideEachOther: ten sessions of two editors wait for answers at once. Each editor is asked about its
// own, the command line sees all, and what that answers the editor takes back.
func TestEditorsBesideEachOther(t *testing.T) {
	s := newSeat(t, 80, 24)
	const each = 5
	release := make(chan struct{})
	var asked, open sync.WaitGroup
	ended := make(chan acp.StopReason, 2*each)
	sessions := make([]map[acp.SessionId]int, 2) // how often each was asked about
	var mu sync.Mutex
	for i := range 2 {
		e := s.opens(t, "--mode", "interactive")
		sessions[i] = map[acp.SessionId]int{}
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
			id := e.begins().SessionId
			sessions[i][id] = 0
			asked.Add(1)
			open.Go(func() {
				ended <- e.asks(id, fmt.Sprintf(`call write_file {"path":"%d-%d.txt","content":"text\n"}`, i, n))
			})
		}
	}
	asked.Wait()
	var list []struct{ ID, Hash string }
	if text := s.bothy("proposals", "--json"); json.Unmarshal([]byte(text), &list) != nil || len(list) != 2*each {
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
	for i := range 2 {
		for n := range each {
			if got := s.written(filepath.Join(s.dir, fmt.Sprintf("%d-%d.txt", i, n))); got != "text\n" {
				t.Errorf("%d-%d.txt is %q", i, n, got)
			}
		}
		if len(sessions[i]) != each {
			t.Errorf("an editor was asked about %v", sessions[i])
		}
		for id, times := range sessions[i] {
			if times != 1 {
				t.Errorf("about %s was asked %d times", id, times)
			}
		}
	}
}
