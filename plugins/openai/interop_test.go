//go:build interop

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
 {"match":{"userMessage":"too fast"},"response":{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"},"status":429}},
 {"match":{"userMessage":"no money"},"response":{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"},"status":429}},
 {"match":{"userMessage":"too long"},"response":{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"},"status":400}},
 {"match":{"userMessage":"break off"},"response":{"content":"A long answer that never comes to its end, because the server goes away."},"truncateAfterChunks":4},
 {"match":{"userMessage":"think"},"response":{"content":"It is four.","reasoning":"Two and two."}}
]}`

func interop(t *testing.T, at string, headers map[string]string) *openai {
	t.Helper()
	o, err := newOpenAI(settings{BaseURL: at + "/v1", Headers: headers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func saying(text string) sdk.Request {
	return sdk.Request{Model: "gpt-4o", Messages: []sdk.Message{{Role: sdk.RoleSystem, Text: "Be brief."}, {Role: sdk.RoleUser, Text: text}}, Tools: []sdk.ToolDef{
		{Name: "bash", Description: "runs a command", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
		{Name: "read_file", Description: "reads a file", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	}}
}

// TestInterop speaks to aimock over HTTP, as to any server.
func TestInterop(t *testing.T) {
	at := aimock(t, conversation)
	t.Run("two turns with parallel calls", func(t *testing.T) { twoTurns(t, at) })
	t.Run("failures", func(t *testing.T) { interopFailures(t, at) })
	t.Run("a stream that is cut", func(t *testing.T) {
		got, err := collect(t, interop(t, at, nil), saying("break off"))
		e := providerError(t, err)
		if e.Class != sdk.ClassGateway || !e.Streamed || got.Text == "" || !strings.HasPrefix("A long answer that never comes to its end", got.Text) {
			t.Errorf("%q, error %+v", got.Text, *e)
		}
	})
	t.Run("a connection that is dropped", func(t *testing.T) {
		_, err := collect(t, interop(t, at, map[string]string{"X-Aimock-Chaos-Disconnect": "1"}), saying("think"))
		if e := providerError(t, err); e.Class != sdk.ClassGateway || e.Streamed {
			t.Errorf("%+v", *e)
		}
	})
	t.Run("reasoning", func(t *testing.T) {
		req := saying("think")
		req.Model = "deepseek-reasoner"
		got, err := collect(t, interop(t, at, nil), req)
		if err != nil || got.Text != "It is four." || got.Reasoning != "Two and two." {
			t.Errorf("%+v, error %v", got, err)
		}
	})
	t.Run("models", func(t *testing.T) {
		got, err := interop(t, at, nil).Models(t.Context())
		has := func(name string) bool {
			return slices.ContainsFunc(got, func(m sdk.Model) bool { return m.Name == name })
		}
		if err != nil || !has("gpt-4o") || has("text-embedding-3-small") {
			t.Errorf("%+v, error %v", got, err)
		}
	})
}

func twoTurns(t *testing.T, at string) {
	o := interop(t, at, nil)
	req := saying("look twice")
	deltas := 0
	first, err := collect(t, counting{o, &deltas}, req)
	want := []sdk.Call{{ID: "*", Tool: "bash", Arguments: `{"command":"id -u; echo grüße"}`}, {ID: "*", Tool: "read_file", Arguments: `{"path":"go.mod"}`}}
	answer := sdk.Message{Role: sdk.RoleAssistant, Text: first.Text, Calls: slices.Clone(first.Calls)}
	for i := range first.Calls {
		first.Calls[i].ID = "*"
	}
	if diff := cmp.Diff(want, first.Calls); diff != "" || err != nil || first.Text != "Let me look at two things." || first.Finish != "calls" || first.Usage == nil || deltas < 8 {
		t.Fatalf("%+v in %d deltas, error %v\n%s", first, deltas, err, diff)
	}
	req.Messages = append(req.Messages, answer)
	for i, text := range []string{"1000\ngrüße\n", "module x\n"} {
		req.Messages = append(req.Messages, sdk.Message{Role: sdk.RoleTool, CallID: answer.Calls[i].ID, Tool: answer.Calls[i].Tool, Text: text})
	}
	second, err := collect(t, o, req)
	if err != nil || second.Text != "You are 1000, and this is a Go module." || second.Finish != "stop" || len(second.Calls) != 0 {
		t.Errorf("%+v, error %v", second, err)
	}
	checkJournal(t, at, answer.Calls)
}

// checkJournal reads what the server understood of the second request.
func checkJournal(t *testing.T, at string, calls []sdk.Call) {
	resp, err := http.Get(at + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var journal []struct {
		Body struct {
			Messages []struct {
				Role       string     `json:"role"`
				ToolCalls  []wireCall `json:"tool_calls"`
				ToolCallID string     `json:"tool_call_id"`
			} `json:"messages"`
			StreamOptions streamOptions `json:"stream_options"`
		} `json:"body"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&journal); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	last := journal[len(journal)-1].Body
	if !last.StreamOptions.IncludeUsage || len(last.Messages) != 5 || len(last.Messages[2].ToolCalls) != 2 ||
		last.Messages[3].ToolCallID != calls[0].ID || last.Messages[4].ToolCallID != calls[1].ID {
		t.Errorf("the server understood %+v", last)
	}
}

func interopFailures(t *testing.T, at string) {
	for _, c := range []struct {
		says    string
		headers map[string]string
		class   sdk.FailureClass
		status  int
		waits   time.Duration
	}{
		{"too fast", nil, sdk.ClassRateLimit, 429, time.Second},
		{"no money", nil, sdk.ClassNever, 429, 0},
		{"too long", nil, sdk.ClassOverflow, 400, 0},
		{"think", map[string]string{"X-Aimock-Chaos-Ratelimit": "1"}, sdk.ClassRateLimit, 429, time.Second},
		{"think", map[string]string{"X-Aimock-Chaos-Drop": "1"}, sdk.ClassServer, 500, 0},
	} {
		_, err := collect(t, interop(t, at, c.headers), saying(c.says))
		e := providerError(t, err)
		if e.Class != c.class || e.Status != c.status || e.RetryAfter != c.waits || e.Streamed {
			t.Errorf("%s %v became %+v", c.says, c.headers, *e)
		}
	}
	if _, err := collect(t, interop(t, at, map[string]string{"X-Aimock-Chaos-Malformed": "1"}), saying("think")); err == nil {
		t.Error("malformed JSON became an answer")
	}
}

type counting struct {
	*openai
	n *int
}

func (c counting) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	return c.openai.Complete(ctx, req, func(d sdk.Delta) error { *c.n++; return send(d) })
}
