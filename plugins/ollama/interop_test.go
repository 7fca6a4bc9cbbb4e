//go:build interop

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// aimock starts a model server that is not ours and returns its address. It
// must be named: who opted in to these tests wants them to run.
func aimock(t *testing.T, fixtures string) string {
	t.Helper()
	command := os.Getenv("BOTHY_AIMOCK")
	if command == "" {
		t.Fatal("set BOTHY_AIMOCK to the aimock command of the npm package @copilotkit/aimock 1.43.0, for instance node_modules/.bin/aimock")
	}
	dir := t.TempDir()
	config := fmt.Sprintf(`{"port":0,"host":"127.0.0.1","llm":{"fixtures":%q,"latency":10,"chunkSize":8}}`, filepath.Join(dir, "fixtures"))
	if err := os.Mkdir(filepath.Join(dir, "fixtures"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config.json": config, filepath.Join("fixtures", "all.json"): fixtures} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(command, "--config", filepath.Join(dir, "config.json"))
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatalf("BOTHY_AIMOCK names %s: %v", command, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its state is of no interest
		_ = cmd.Wait()
	})
	late := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return strings.TrimSpace(at)
		}
	}
	t.Fatalf("aimock ended or took more than 60 s before it listened: %s", complaints.String())
	return ""
}

const conversation = `{"fixtures":[
 {"match":{"userMessage":"look twice","hasToolResult":false},"response":{"content":"Let me look at two things.","toolCalls":[
   {"name":"bash","arguments":"{\"command\":\"id -u; echo grüße\"}"},{"name":"read_file","arguments":"{\"path\":\"go.mod\"}"}]}},
 {"match":{"userMessage":"look twice","hasToolResult":true},"response":{"content":"You are 1000, and this is a Go module."}},
 {"match":{"userMessage":"too long"},"response":{"error":{"message":"the input length exceeds the context length","type":"invalid_request_error"},"status":400}},
 {"match":{"userMessage":"break off"},"response":{"content":"A long answer that never comes to its end, because the server goes away."},"truncateAfterChunks":4},
 {"match":{"userMessage":"think"},"response":{"content":"It is four.","reasoning":"Two and two."}}
]}`

func interop(t *testing.T, at string) *ollama {
	t.Helper()
	o, err := newOllama(settings{BaseURL: at, Context: 8192}, &servers{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func saying(text string) sdk.Request {
	return sdk.Request{Model: "gpt-4o", Messages: []sdk.Message{{Role: sdk.RoleSystem, Text: "Be brief."}, {Role: sdk.RoleUser, Text: text}}, Tools: []sdk.ToolDef{
		{Name: "bash", Description: "runs a command", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
	}}
}

// TestInterop speaks to aimock's Ollama over HTTP, as to any server.
func TestInterop(t *testing.T) {
	at := aimock(t, conversation)
	t.Run("two turns with parallel calls", func(t *testing.T) { twoTurns(t, at) })
	t.Run("too long", func(t *testing.T) {
		_, err := collect(t, interop(t, at), saying("too long"))
		var e *sdk.ProviderError
		if !errors.As(err, &e) || e.Class != sdk.ClassOverflow || e.Streamed {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a stream that is cut", func(t *testing.T) {
		got, err := collect(t, interop(t, at), saying("break off"))
		var e *sdk.ProviderError
		if !errors.As(err, &e) || e.Class != sdk.ClassGateway || !e.Streamed || got.Text == "" || !strings.HasPrefix("A long answer that never comes to its end", got.Text) {
			t.Errorf("%q, error %v", got.Text, err)
		}
	})
	t.Run("reasoning", func(t *testing.T) {
		req := saying("think")
		req.Model = "deepseek-reasoner"
		got, err := collect(t, interop(t, at), req)
		if err != nil || got.Text != "It is four." || got.Reasoning != "Two and two." {
			t.Errorf("%+v, error %v", got, err)
		}
	})
	t.Run("models", func(t *testing.T) {
		got, err := interop(t, at).Models(t.Context()) // it has no /api/show, as an old server
		has := func(name string) bool {
			return slices.ContainsFunc(got, func(m sdk.Model) bool { return m.Name == name && m.Context == 8192 })
		}
		if err != nil || !has("gpt-4o") || has("text-embedding-3-small") {
			t.Errorf("%+v, error %v", got, err)
		}
	})
}

func twoTurns(t *testing.T, at string) {
	o := interop(t, at)
	req := saying("look twice")
	first, err := collect(t, o, req)
	answer := sdk.Message{Role: sdk.RoleAssistant, Text: first.Text, Calls: slices.Clone(first.Calls)}
	for i := range first.Calls {
		first.Calls[i].ID = "*"
	}
	want := []sdk.Call{{ID: "*", Tool: "bash", Arguments: `{"command":"id -u; echo grüße"}`}, {ID: "*", Tool: "read_file", Arguments: `{"path":"go.mod"}`}}
	if diff := cmp.Diff(want, first.Calls); diff != "" || err != nil || first.Text != "Let me look at two things." || first.Finish != "calls" {
		t.Fatalf("%+v, error %v\n%s", first, err, diff)
	}
	req.Messages = append(req.Messages, answer,
		sdk.Message{Role: sdk.RoleTool, CallID: answer.Calls[0].ID, Tool: "bash", Text: "1000\ngrüße\n"},
		sdk.Message{Role: sdk.RoleTool, CallID: answer.Calls[1].ID, Tool: "read_file", Text: "module x\n"})
	second, err := collect(t, o, req)
	if err != nil || second.Text != "You are 1000, and this is a Go module." || second.Finish != "stop" || len(second.Calls) != 0 {
		t.Errorf("%+v, error %v", second, err)
	}
}
