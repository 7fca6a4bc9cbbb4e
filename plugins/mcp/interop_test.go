//go:build interop

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// reference is the program of one of the reference servers of MCP, which npm has.
func reference(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("BOTHY_MCP_SERVERS")
	if dir == "" {
		t.Fatal("BOTHY_MCP_SERVERS names no folder with the reference servers (see docs/development.md)")
	}
	return filepath.Join(dir, "mcp-server-"+name)
}

// everything are calls of each tool of server-everything that a client without sampling
// and roots is offered.
var everything = map[string]string{
	"echo":                           `{"message":"hello"}`,
	"get-annotated-message":          `{"messageType":"success","includeImage":true}`,
	"get-env":                        `{}`,
	"get-resource-links":             `{"count":3}`,
	"get-resource-reference":         `{"resourceType":"Text","resourceId":1}`,
	"get-structured-content":         `{"location":"Chicago"}`,
	"get-sum":                        `{"a":2,"b":3}`,
	"get-tiny-image":                 `{}`,
	"gzip-file-as-resource":          `{"name":"x.gz","data":"data:text/plain,hello","outputType":"resource"}`,
	"simulate-research-query":        `{"topic":"bothies"}`,
	"toggle-simulated-logging":       `{}`,
	"toggle-subscriber-updates":      `{}`,
	"trigger-elicitation-request":    `{}`,
	"trigger-long-running-operation": `{"duration":1,"steps":4}`,
	"trigger-url-elicitation":        `{"url":"https://far.example/consent","elicitationId":"e1","errorPath":true}`,
}

// TestInteropEverything calls every tool of server-everything, over its standard streams
// and by both HTTP transports.
func TestInteropEverything(t *testing.T) {
	program := reference(t, "everything")
	t.Run("stdio", func(t *testing.T) { callEverything(t, fmt.Sprintf(`{"command":%q,"arguments":["stdio"]}`, program)) })
	for kind, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(kind, func(t *testing.T) {
			port := freePort(t)
			cmd := exec.Command(program, kind)
			cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			listens(t, port)
			callEverything(t, fmt.Sprintf(`{"url":"http://127.0.0.1:%d%s"}`, port, path))
		})
	}
}

// person answers each question: with what is typed there for a field, or nothing.
var person = &sdktest.Daemon{Tools: map[string]func(context.Context, json.RawMessage) (sdk.ToolResult, error){
	sdk.ToolAskUser: func(_ context.Context, arguments json.RawMessage) (sdk.ToolResult, error) {
		typed := map[string]string{"name": "Ada Lovelace", "check": "y", "email": "ada@example.com", "homepage": "https://ada.example", "birthdate": "1815-12-10",
			"untitledMultipleSelectEnum": "1, Drums", "titledSingleSelectEnum": "2", "legacyTitledEnum": "Dogs"}
		q, err := sdk.QuestionOf(arguments)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		fields, err := q.Fields()
		if err != nil {
			return sdk.ToolResult{}, err
		}
		given := map[string]json.RawMessage{}
		for _, f := range fields {
			value, err := f.Read(typed[f.Name])
			if err != nil {
				return sdk.ToolResult{}, err
			}
			if value != nil {
				given[f.Name] = value
			}
		}
		a := sdk.QuestionAnswer{Answer: sdk.Accept}
		if q.Schema != nil {
			if a.Data, err = json.Marshal(given); err != nil {
				return sdk.ToolResult{}, err
			}
			if err := q.CheckAnswer(a.Data); err != nil {
				return sdk.ToolResult{}, err
			}
		}
		said, err := json.Marshal(a)
		return sdk.ToolResult{Success: true, Structured: said}, err
	},
}}

func callEverything(t *testing.T, config string) {
	t.Helper()
	t.Setenv("CANARY", "canary")
	m, err := configured(t, config)
	if err != nil {
		t.Fatal(err)
	}
	// It adds tools after it has greeted.
	for m.own() < len(everything) {
		select {
		case <-m.changed:
		case <-time.After(20 * time.Second):
			t.Fatalf("it offers %d tools only", m.own())
		}
	}
	for _, s := range m.Tools() {
		m.mu.Lock()
		own, prompt := m.raw[s.Name], m.added.prompts[s.Name]
		m.mu.Unlock()
		if own == "" {
			arguments := map[string]string{"args-prompt": `{"city":"Chicago"}`, "completable-prompt": `{"department":"Sales","name":"David"}`, "resource-prompt": `{"resourceType":"Text","resourceId":"1"}`}[prompt]
			if r, err := call(t, m, s.Name, arguments); err != nil || !r.Success || r.Output == "" || strings.HasSuffix(s.Name, "___server") && len(r.Structured) < 100 {
				t.Errorf("%s %s: %+v, %v", s.Name, arguments, r, err)
			}
			continue
		}
		arguments, ok := everything[own]
		if !ok {
			t.Errorf("the tool %s is not called here", own)
			continue
		}
		ctx := host.WithCall(host.With(t.Context(), person), own)
		r, err := m.Invoke(ctx, sdk.Invocation{Tool: s.Name, Arguments: json.RawMessage(arguments), CallID: own}, &sdktest.Recorder{})
		if own == "simulate-research-query" { // a task (SEP-1686), which the Go SDK does not have
			if err != nil || !strings.Contains(r.Error, "requires task augmentation") {
				t.Errorf("%s: %+v, %v", own, r, err)
			}
			continue
		}
		if err != nil || !r.Success || r.Output == "" {
			t.Errorf("%s: %+v, %v", own, r, err)
		}
		if own == "get-env" && strings.HasPrefix(config, `{"command"`) && strings.Contains(r.Output, "canary") {
			t.Error("the server has the environment of the user")
		}
		if own == "trigger-elicitation-request" && !strings.Contains(r.Output, "- Name: Ada Lovelace") || own == "trigger-url-elicitation" && !strings.Contains(r.Output, "User completed the URL elicitation flow") {
			t.Errorf("%s: %s", own, r.Output)
		}
		if own == "get-tiny-image" && r.Metadata["media"] == nil {
			t.Error("the image is gone")
		}
	}
}

// own is how many tools are the server's.
func (m *mcpServer) own() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.raw)
}

// TestInteropServers: the other reference servers are used as people use them.
func TestInteropServers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, tool, arguments, want string }{
		{"filesystem", fmt.Sprintf(`[%q]`, dir), "read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "note.txt")), "a note"},
		{"memory", `[]`, "create_entities", `{"entities":[{"name":"Bothy","entityType":"program","observations":["hosts agents"]}]}`, "hosts agents"},
		{"sequential-thinking", `[]`, "sequentialthinking", `{"thought":"first","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := fmt.Sprintf(`{"MEMORY_FILE_PATH":%q}`, filepath.Join(dir, "memory.jsonl"))
			m, err := configured(t, fmt.Sprintf(`{"command":%q,"arguments":%s,"environment":%s}`, reference(t, c.name), c.args, env))
			if err != nil {
				t.Fatal(err)
			}
			r, err := call(t, m, "mcp__fake__"+c.tool, c.arguments)
			if err != nil || !r.Success || !strings.Contains(r.Output, c.want) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// listens waits until the port is served.
func listens(t *testing.T, port int) {
	t.Helper()
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
