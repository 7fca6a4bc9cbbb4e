package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, s settings) *replay {
	t.Helper()
	r, err := newReplay(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func collect(ctx context.Context, r *replay, req sdk.Request) (sdk.Message, string, error) {
	m := sdk.Message{Role: sdk.RoleAssistant}
	finish := ""
	err := r.Complete(ctx, req, func(d sdk.Delta) error {
		m.Text += d.Text
		if c := d.Call; c != nil {
			if c.Index == len(m.Calls) {
				m.Calls = append(m.Calls, sdk.Call{ID: c.ID, Tool: c.Tool})
			}
			m.Calls[c.Index].Arguments += c.Arguments
		}
		if d.Finish != nil {
			finish = d.Finish.Reason
		}
		return nil
	})
	return m, finish, err
}

func user(text string) sdk.Message { return sdk.Message{Role: sdk.RoleUser, Text: text} }

func result(tool, text string) sdk.Message {
	return sdk.Message{Role: sdk.RoleTool, Tool: tool, CallID: "c", Text: text}
}

func mismatch(t *testing.T, err error, says ...string) {
	t.Helper()
	var e *sdk.ProviderError
	if !errors.As(err, &e) || !e.Replay || e.Class != sdk.ClassNever || e.Streamed {
		t.Fatalf("error %+v", err)
	}
	for _, s := range append(says, "ollama", "bothy auth login", "provider block") {
		if !strings.Contains(e.Message, s) {
			t.Errorf("%q lacks %q", e.Message, s)
		}
	}
}

const firstPrompt = "Show me that you work: run a command in the sandbox and tell me what you found."

// TestFirstRun plays the bundled cassette, with a new provider for each step,
// as after a restart.
func TestFirstRun(t *testing.T) {
	messages := []sdk.Message{{Role: sdk.RoleSystem, Text: "anything"}, user(firstPrompt)}
	said, finish, err := collect(t.Context(), open(t, settings{}), sdk.Request{Model: "first-run", Messages: messages})
	if err != nil || finish != "calls" || len(said.Calls) != 1 || said.Calls[0].Tool != "bash" {
		t.Fatalf("%+v %q, error %v", said, finish, err)
	}
	var arguments struct{ Command string }
	if err := json.Unmarshal([]byte(said.Calls[0].Arguments), &arguments); err != nil || arguments.Command != "id; pwd; uname -s; env" {
		t.Fatalf("arguments %q, error %v", said.Calls[0].Arguments, err)
	}
	// The engine may have written the arguments anew.
	said.Calls[0].Arguments = strings.Replace(said.Calls[0].Arguments, `{"command"`, `{ "command" `, 1)
	said.Reasoning = "not compared"
	for name, c := range map[string]struct {
		output string
		holds  bool
	}{
		"the container":      {"uid=1000(bothy) gid=1000(bothy) groups=1000(bothy)\n/workspace\nLinux\nPATH=/usr/bin\nHOME=/home/bothy\n", true},
		"a user of no name":  {"uid=1000 gid=1000\n/workspace\nLinux\nHOME=/home/bothy", true},
		"root":               {"uid=0(root) gid=0(root)\n/workspace\nLinux\nHOME=/root\n", false},
		"uid 10001":          {"uid=10001(x) gid=1000\n/workspace\nLinux\nHOME=/home/x\n", false},
		"outside of it":      {"uid=1000(me) gid=1000(me)\n/home/me/p\nLinux\nHOME=/home/me\n", false},
		"no home of its own": {"uid=1000(me) gid=1000(me)\n/workspace\nLinux\nPATH=/usr/bin\n", false},
		"denied":             {"refused by rule \"shell\"", false},
		"no bash":            {"bash is unavailable: install podman", false},
	} {
		req := sdk.Request{Model: "first-run", Messages: append(messages, said, result("bash", c.output))}
		answer, finish, err := collect(t.Context(), open(t, settings{}), req)
		if !c.holds {
			mismatch(t, err, "message 3 (tool) of bash", "first-run")
			continue
		}
		if err != nil || finish != "stop" || !strings.Contains(answer.Text, "It works") {
			t.Errorf("%s: %+v %q, error %v", name, answer, finish, err)
		}
	}
}

func TestFirstRunScriptSendsTheCassettesPrompt(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "scripts", "first-run"))
	if err != nil {
		t.Fatal(err)
	}
	c := named(open(t, settings{}).cassettes, "first-run")
	if prompt := *c.Steps[0].Request[0].Text.Exact; prompt != firstPrompt || !strings.Contains(string(script), prompt) {
		t.Errorf("scripts/first-run does not send %q", prompt)
	}
}

// twoSteps is a cassette with everything that is compared.
var twoSteps = func() string {
	text, err := os.ReadFile(filepath.Join("..", "..", "sdk", "cassette", "testdata", "two-steps.json"))
	if err != nil {
		panic(err)
	}
	return string(text)
}()

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMismatches(t *testing.T) {
	r := open(t, settings{Cassettes: folder(t, map[string]string{"m.json": twoSteps})})
	said := sdk.Message{Role: sdk.RoleAssistant, Text: "I look", Calls: []sdk.Call{{Tool: "read", Arguments: `{"n":1.0,"path":"x"}`}, {Tool: "bash", Arguments: "not json"}}}
	whole := []sdk.Message{user("go"), said, result("read", "1"), result("bash", "?"), user("and?")}
	if answer, _, err := collect(t.Context(), r, sdk.Request{Model: "m", Messages: whole}); err != nil || answer.Text != "done" {
		t.Fatalf("%+v, error %v", answer, err)
	}
	with := func(at int, m sdk.Message) []sdk.Message {
		out := append([]sdk.Message(nil), whole...)
		out[at] = m
		return out
	}
	call := func(i int, c sdk.Call) sdk.Message {
		m := said
		m.Calls = append([]sdk.Call(nil), said.Calls...)
		m.Calls[i] = c
		return m
	}
	for _, c := range []struct {
		name     string
		messages []sdk.Message
		says     []string
	}{
		{"another prompt", []sdk.Message{user("stop")}, []string{"message 1 (user)", `"go"`, `"stop"`}},
		{"nothing", nil, []string{"message 1 (user)", "the end of the request"}},
		{"a role", []sdk.Message{result("bash", "go")}, []string{"message 1 (user)", "the result of bash"}},
		{"more than the step has", []sdk.Message{user("go"), user("more")}, []string{"message 2 (user)", "nothing more", `"more"`}},
		{"the assistant's text", with(1, sdk.Message{Role: sdk.RoleAssistant, Text: "I see", Calls: said.Calls}), []string{"message 2 (assistant)", `"I look"`, `"I see"`}},
		{"the number of calls", with(1, sdk.Message{Role: sdk.RoleAssistant, Text: "I look"}), []string{"2 calls", "0 calls"}},
		{"a call's tool", with(1, call(0, sdk.Call{Tool: "write", Arguments: said.Calls[0].Arguments})), []string{"call 1, tool", `"read"`, `"write"`}},
		{"a call's arguments", with(1, call(0, sdk.Call{Tool: "read", Arguments: `{"path":"x","n":2}`})), []string{"call 1, arguments"}},
		{"arguments that are no JSON", with(1, call(1, sdk.Call{Tool: "bash", Arguments: "nor json"})), []string{"call 2, arguments", "nor json"}},
		{"a result", with(2, result("read", "2")), []string{"message 3 (tool) of read", `"1"`, `"2"`}},
		{"a result of another tool", with(3, result("read", "1")), []string{"message 4 (tool)", "bash", "the result of read"}},
		{"a result that is missing", whole[:3], []string{"message 4 (tool)", "the end of the request"}},
		{"behind the end", append(append([]sdk.Message(nil), whole...), sdk.Message{Role: sdk.RoleAssistant, Text: "done"}, user("again")), []string{"message 7 (user)", "ends after 2 steps", `"again"`}},
		{"two assistants", append(append([]sdk.Message(nil), whole...), sdk.Message{Role: sdk.RoleAssistant, Text: "done"}), []string{"the end of the conversation", "ends after 2 steps"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := collect(t.Context(), r, sdk.Request{Model: "m", Messages: c.messages})
			mismatch(t, err, c.says...)
		})
	}
	_, _, err := collect(t.Context(), r, sdk.Request{Model: "other"})
	mismatch(t, err, `no cassette "other"`, "m, first-run")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := open(t, settings{})
	err := r.Complete(ctx, sdk.Request{Model: "first-run", Messages: []sdk.Message{user(firstPrompt)}}, func(sdk.Delta) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestModels(t *testing.T) {
	able := true
	r := open(t, settings{Cassettes: folder(t, map[string]string{
		"m.json": twoSteps, "own.json": strings.Replace(twoSteps, `"model":"m"`, `"model":"first-run","context":9`, 1), "notes.txt": "x"})})
	got, err := r.Models(t.Context())
	want := []sdk.Model{
		{Name: "m", Tools: &able, Streaming: true, Inputs: []string{"text"}},
		{Name: "first-run", Context: 9, Tools: &able, Streaming: true, Inputs: []string{"text"}}, // in place of the bundled one
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func TestFolderErrors(t *testing.T) {
	for name, c := range map[string]struct{ dir, says string }{
		"relative":  {"cassettes", "whole path"},
		"missing":   {filepath.Join(t.TempDir(), "none"), "there is no folder"},
		"broken":    {folder(t, map[string]string{"a.json": "{\n\"format\": 1,\n oops"}), "a.json: line 3"},
		"one model": {folder(t, map[string]string{"a.json": twoSteps, "b.json": twoSteps}), "a.json too"},
		"empty":     {folder(t, map[string]string{"a.json": ""}), "a.json"},
	} {
		if _, err := newReplay(settings{Cassettes: c.dir}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.says)
		}
	}
}

// TestEveryStepAnswersTheNext draws cassettes and plays them through, as an
// engine would.
func TestEveryStepAnswersTheNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCassette(t)
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		read, err := cassette.Read(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		r := &replay{cassettes: []*cassette.Cassette{read}}
		var messages []sdk.Message
		for i, s := range c.Steps {
			for _, e := range s.Request {
				m := sdk.Message{Role: e.Role, Tool: e.Tool}
				switch {
				case e.Text != nil:
					m.Text = *e.Text.Exact
				case e.Result.Exact != nil:
					m.Text = *e.Result.Exact
				}
				messages = append(messages, m)
			}
			said, _, err := collect(context.Background(), r, sdk.Request{Model: c.Model, Messages: messages})
			if err != nil {
				t.Fatalf("step %d: %v", i+1, err)
			}
			messages = append(messages, said)
		}
	})
}

func drawCassette(t *rapid.T) cassette.Cassette {
	c := cassette.Cassette{Format: cassette.Format, Model: "m"}
	var tools []string
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		var s cassette.Step
		for _, tool := range tools {
			text := rapid.String().Draw(t, "result")
			rule := rapid.SampledFrom([]cassette.Rule{{Any: true}, {Exact: &text}}).Draw(t, "rule")
			s.Request = append(s.Request, cassette.Expected{Role: sdk.RoleTool, Tool: tool, Result: &rule})
		}
		if len(tools) == 0 {
			text := rapid.String().Draw(t, "prompt")
			s.Request = append(s.Request, cassette.Expected{Role: sdk.RoleUser, Text: cassette.Says(text)})
		}
		if text := rapid.String().Draw(t, "text"); text != "" {
			s.Events = append(s.Events, cassette.Played{Delta: sdk.Delta{Text: text}})
		}
		tools = rapid.SliceOfN(rapid.SampledFrom([]string{"bash", "grep"}), 0, 2).Draw(t, "tools")
		for i, tool := range tools {
			s.Events = append(s.Events, cassette.Played{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: i, ID: fmt.Sprint("c", i), Tool: tool, Arguments: rapid.SampledFrom([]string{"{}", "", "x"}).Draw(t, "arguments")}}})
		}
		reason := "stop"
		if len(tools) > 0 {
			reason = "calls"
		}
		s.Events = append(s.Events, cassette.Played{Delta: sdk.Delta{Finish: &sdk.Finish{Reason: reason}}})
		c.Steps = append(c.Steps, s)
	}
	return c
}
