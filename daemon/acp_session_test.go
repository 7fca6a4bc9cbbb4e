//go:build linux

package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
)

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
		"an image that is none": {func() error {
			_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: e.begins().SessionId, Prompt: []acp.ContentBlock{acp.ImageBlock("AAAA", "image/png")}})
			return err
		}, "is no picture"},
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
	for n := range 8 { // who does not wait for a session
		ctx, cancel := context.WithTimeout(e.ctx(), time.Duration(n)*3*time.Millisecond)
		_, _ = e.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: s.dir, McpServers: []acp.McpServer{}}) // it may have come
		cancel()
	}
	e.begins()
	e.closes()
	if runs := s.bothy("runs", "list"); strings.Count(runs, "chat-") != 1 { // that whose prompt was taken
		t.Errorf("runs are left that nobody used:\n%s", runs)
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
