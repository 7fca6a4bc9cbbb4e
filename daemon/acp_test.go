//go:build linux

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
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

	buffers func(context.Context, string) (string, error)
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
	return s.opensWith(t, nil, args...)
}

// opensWith starts an editor that lends what it has unsaved, by path; nil is one that reads no files for an agent.
func (s *seat) opensWith(t testing.TB, buffers func(ctx context.Context, path string) (string, error), args ...string) *editor {
	t.Helper()
	e := &editor{t: t, buffers: buffers, s: s, changed: make(chan struct{}), log: &bytes.Buffer{}}
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
	if _, err := e.conn.Initialize(e.ctx(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "test", Version: "1"},
		ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: buffers != nil}}}); err != nil {
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

// begins begins a session, with servers of MCP that the editor names.
func (e *editor) begins(servers ...acp.McpServer) acp.NewSessionResponse {
	e.t.Helper()
	if servers == nil {
		servers = []acp.McpServer{}
	}
	made, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: e.s.dir, McpServers: servers})
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
		if c.Text == nil {
			c = acp.TextBlock("[no text]")
		}
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

// ReadTextFile implements acp.Client.
func (e *editor) ReadTextFile(ctx context.Context, p acp.ReadTextFileRequest) (r acp.ReadTextFileResponse, err error) {
	if e.buffers == nil {
		e.t.Errorf("an editor that reads no files was asked for %s", p.Path)
		return r, errors.ErrUnsupported
	}
	r.Content, err = e.buffers(ctx, p.Path)
	return r, err
}

// The rest of acp.Client: the bridge asks for none of it.

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
