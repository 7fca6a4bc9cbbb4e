//go:build interop

package main

import (
	"bufio"
	"bytes"
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
func aimock(t *testing.T, all string) string {
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
	for name, text := range map[string]string{"config.json": config, filepath.Join("fixtures", "all.json"): all} {
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

const fixtures = `{"fixtures":[
 {"match":{"userMessage":"look twice","hasToolResult":false},"response":{"content":"Let me look at two things.","reasoning":"Two calls: a < b.","reasoningSignature":"c2ln/+==","redactedThinking":["EmwKAhgB/+=="],"toolCalls":[
   {"name":"bash","arguments":"{\"command\":\"id -u; echo grüße\"}"},{"name":"read_file","arguments":"{\"path\":\"go.mod\"}"}]}},
 {"match":{"userMessage":"look twice","hasToolResult":true},"response":{"content":"You are 1000, and this is a Go module."}},
 {"match":{"userMessage":"too fast"},"response":{"error":{"message":"Number of requests has exceeded your rate limit","type":"rate_limit_error"},"status":429}},
 {"match":{"userMessage":"too busy"},"response":{"error":{"message":"Overloaded","type":"overloaded_error"},"status":529}},
 {"match":{"userMessage":"no money"},"response":{"error":{"message":"Your credit balance is too low to access the Anthropic API","type":"invalid_request_error"},"status":400}},
 {"match":{"userMessage":"too long"},"response":{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"},"status":400}},
 {"match":{"userMessage":"too large"},"response":{"error":{"message":"Request exceeds the maximum size","type":"request_too_large"},"status":413}},
 {"match":{"userMessage":"break off"},"response":{"content":"A long answer that never comes to its end, because the server goes away."},"truncateAfterChunks":4},
 {"match":{"userMessage":"count"},"response":{"content":"Counted.","usage":{"input_tokens":11,"output_tokens":5}}},
 {"match":{"userMessage":"think"},"response":{"content":"It is four.","reasoning":"Two and two."}}
]}`

func interop(t *testing.T, at string, headers map[string]string) *anthropic {
	t.Helper()
	a, err := newAnthropic(settings{BaseURL: at, Headers: headers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func saying(text string) sdk.Request {
	return sdk.Request{Model: "claude-sonnet-4-5", Messages: []sdk.Message{{Role: sdk.RoleSystem, Text: "Be brief."}, {Role: sdk.RoleUser, Text: text}}, Tools: []sdk.ToolDef{
		{Name: "bash", Description: "runs a command", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
		{Name: "read_file", Description: "reads a file", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	}}
}

// TestInterop speaks to aimock's Messages over HTTP, as to any server.
func TestInterop(t *testing.T) {
	at := aimock(t, fixtures)
	t.Run("two turns with thinking and parallel calls", func(t *testing.T) { twoTurns(t, at) })
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
	t.Run("thinking", func(t *testing.T) {
		got, err := collect(t, interop(t, at, nil), saying("think"))
		if err != nil || got.Text != "It is four." || got.Reasoning != "Two and two." || got.Extra == nil {
			t.Errorf("%+v, error %v", got, err)
		}
	})
	t.Run("usage", func(t *testing.T) {
		got, err := collect(t, interop(t, at, nil), saying("count"))
		if diff := cmp.Diff(counted(11, 5), got.Usage); diff != "" || err != nil {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("models", func(t *testing.T) {
		got, err := interop(t, at, nil).Models(t.Context())
		if err != nil || !slices.ContainsFunc(got, func(m sdk.Model) bool { return strings.HasPrefix(m.Name, "claude-") }) {
			t.Errorf("%+v, error %v", got, err)
		}
	})
}

func twoTurns(t *testing.T, at string) {
	a := interop(t, at, nil)
	req := saying("look twice")
	first, err := collect(t, a, req)
	answer := sdk.Message{Role: sdk.RoleAssistant, Text: first.Text, Calls: slices.Clone(first.Calls), Extra: first.Extra}
	for i := range first.Calls {
		first.Calls[i].ID = "*"
	}
	want := []sdk.Call{{ID: "*", Tool: "bash", Arguments: `{"command":"id -u; echo grüße"}`}, {ID: "*", Tool: "read_file", Arguments: `{"path":"go.mod"}`}}
	if diff := cmp.Diff(want, first.Calls); diff != "" || err != nil || first.Text != "Let me look at two things." || first.Reasoning != "Two calls: a < b." || first.Finish != "calls" {
		t.Fatalf("%+v, error %v\n%s", first, err, diff)
	}
	req.Messages = append(req.Messages, answer)
	for i, text := range []string{"1000\ngrüße\n", "module x\n"} {
		req.Messages = append(req.Messages, sdk.Message{Role: sdk.RoleTool, CallID: answer.Calls[i].ID, Tool: answer.Calls[i].Tool, Text: text})
	}
	second, err := collect(t, a, req)
	if err != nil || second.Text != "You are 1000, and this is a Go module." || second.Finish != "stop" || len(second.Calls) != 0 {
		t.Errorf("%+v, error %v", second, err)
	}
	checkJournal(t, at, answer.Calls)
	checkThinking(t, at, a.wireRequest(req, 4096, shape{}))
}

// checkThinking has the server look at the thinking that goes back, which it does
// only where thinking is asked for.
func checkThinking(t *testing.T, at string, req wireRequest) {
	strict := interop(t, at, map[string]string{"X-Aimock-Strict": "true"})
	ask := func(req wireRequest) error {
		var body map[string]any
		raw, err := json.Marshal(req)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		body["thinking"] = map[string]any{"type": "enabled", "budget_tokens": 1024}
		answer, err := strict.client.Post(t.Context(), "/v1/messages", body)
		if err == nil {
			err = answer.Close()
		}
		return err
	}
	if err := ask(req); err != nil {
		t.Errorf("the thinking was refused: %v", err)
	}
	for i, m := range req.Messages {
		if m.Role == sdk.RoleAssistant {
			req.Messages[i].Content = slices.DeleteFunc(m.Content, func(b *wireBlock) bool { return b.Kept != nil })
		}
	}
	if err := ask(req); err == nil {
		t.Error("an answer without its thinking was taken: the check checks nothing")
	}
}

// checkJournal reads what the server understood of the second request.
func checkJournal(t *testing.T, at string, calls []sdk.Call) {
	resp, err := http.Get(at + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var journal []struct {
		Path string
		Body struct {
			Messages []struct {
				Role       string `json:"role"`
				ToolCallID string `json:"tool_call_id"`
			} `json:"messages"`
		} `json:"body"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&journal); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	last := journal[len(journal)-1]
	var said []string
	for _, m := range last.Body.Messages {
		said = append(said, m.Role+m.ToolCallID)
	}
	if diff := cmp.Diff([]string{"system", "user", "assistant", "tool" + calls[0].ID, "tool" + calls[1].ID}, said); diff != "" || last.Path != "/v1/messages" {
		t.Errorf("the server understood %+v (-want +got)\n%s", last, diff)
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
		{"too busy", nil, sdk.ClassServer, 529, 0},
		{"no money", nil, sdk.ClassNever, 400, 0},
		{"too long", nil, sdk.ClassOverflow, 400, 0},
		{"too large", nil, sdk.ClassNever, 413, 0},
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
