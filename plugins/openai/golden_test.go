package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// golden is what each recorded stream must become. An id of "*" is one of ours.
var golden = []struct {
	file  string
	want  sdk.Completion
	fails sdk.FailureClass // "" is a completion
	says  string           // in the error's text

	window int // the server is one that says nothing of a prompt that is too long
}{
	{file: "plain", want: sdk.Completion{Text: "Hello", Finish: "stop", Usage: &sdk.Usage{Prompt: 12, Cached: 8, Completion: 3, Reasoning: 1, Total: 15}}},
	{file: "parallel", want: calling(call("call_a", "read_file", `{"path":"a"}`), call("call_b", "grep", `{"pattern":"x"}`))},
	{file: "interleaved", want: calling(call("call_a", "a", `{"x":1}`), call("call_b", "b", `{"y":2}`))},
	{file: "index-zero", want: calling(call("call_x1", "bash", `{"command":"id"}`), call("call_x2", "bash", `{"command":"pwd"}`))},
	{file: "index-zero-no-ids", want: calling(call("*", "read_file", `{"path":"a"}`), call("*", "read_file", `{"path":"b"}`), call("*", "grep", `{}`))},
	{file: "index-zero-pieces", want: calling(call("call_1", "a", `{"n":1}`), call("call_2", "a", `{"n":2}`))},
	{file: "one-id", want: calling(call("call_0", "a", `{"n":1}`), call("*", "a", `{"n":2}`))},
	{file: "no-index", want: calling(call("call_p", "a", `{"n":1}`), call("call_q", "b", `{"n":2}`))},
	{file: "no-index-no-id", want: calling(call("*", "a", `{"n":1}`), call("*", "a", `{"n":2}`))},
	{file: "new-id-each-piece", want: calling(call("chatcmpl-tool-1", "bash", `{"command": "id"}`))},
	{file: "name-repeated", want: calling(call("call_r", "bash", `{"command":"id"}`))},
	{file: "name-repeated-no-id", want: calling(call("*", "bash", `{"command":"id"}`))},
	{file: "object-arguments", want: calling(call("call_o", "bash", `{"command": "id"}`), call("call_o2", "bash", `{"command": "pwd"}`))},
	{file: "empty-arguments", want: calling(call("call_e", "now", `{}`))},
	{file: "repeated-whole", want: calling(call("call_w", "bash", `{"command":"id"}`))},
	{file: "nameless", want: calling(call("call_n", "unnamed", `{"a":1}`))},
	{file: "stop-with-calls", want: sdk.Completion{Text: "Let me look.", Finish: "calls", Calls: []sdk.Call{call("call_s", "bash", `{"command":"ls"}`)}}},
	{file: "length-with-calls", want: sdk.Completion{Finish: "length", Calls: []sdk.Call{call("call_l", "bash", `{"comm`)}}},
	{file: "error-in-stream", want: sdk.Completion{Text: "So"}, fails: sdk.ClassGateway, says: "Provider disconnected"},
	{file: "error-vllm", fails: sdk.ClassOverflow, says: "4096"},
	{file: "error-event", fails: sdk.ClassRateLimit, says: "Rate limit reached"},
	{file: "error-bare", want: sdk.Completion{Text: "a"}, fails: sdk.ClassServer, says: "slot unavailable"},
	{file: "finish-error", want: sdk.Completion{Text: "x"}, fails: sdk.ClassServer, says: "no reason"},
	{file: "cut", want: sdk.Completion{Text: "Half an ans"}, fails: sdk.ClassGateway, says: "broke off"},
	{file: "cut-between", want: sdk.Completion{Text: "Half an ans"}, fails: sdk.ClassGateway, says: "before its answer was complete"},
	{file: "no-done", want: sdk.Completion{Text: "All of it", Finish: "stop", Usage: &sdk.Usage{Prompt: 1, Completion: 2, Total: 3}}},
	{file: "no-finish", want: sdk.Completion{Text: "All of it", Finish: "stop"}},
	{file: "usage-each-chunk", want: sdk.Completion{Text: "ab", Finish: "stop", Usage: &sdk.Usage{Prompt: 5, Completion: 2, Total: 7}}},
	{file: "usage-groq", want: sdk.Completion{Text: "a", Finish: "stop", Usage: &sdk.Usage{Prompt: 7, Completion: 1, Total: 8}}},
	{file: "usage-openrouter", want: sdk.Completion{Text: "a", Finish: "stop", Usage: &sdk.Usage{Prompt: 7, Cached: 2, Completion: 1, Total: 8, Cost: new(0.00042)}}},
	{file: "usage-beyond", window: 100, want: sdk.Completion{Text: "a"}, fails: sdk.ClassOverflow, says: "a prompt of 120 tokens"},
	{file: "usage-beyond", window: 120, want: sdk.Completion{Text: "a", Finish: "stop", Usage: &sdk.Usage{Prompt: 120, Completion: 1, Total: 121}}},
	{file: "usage-negative", want: sdk.Completion{Text: "a", Finish: "stop"}},
	{file: "reasoning-content", want: sdk.Completion{Text: "4", Reasoning: "Let me see.", Finish: "stop", Extra: []byte(`{"from":"HOST","reasoning_field":"reasoning_content"}`)}},
	{file: "reasoning", want: sdk.Completion{Text: "4", Reasoning: "Let me see.", Finish: "stop"}},
	{file: "reasoning-twice", want: sdk.Completion{Text: "4", Reasoning: "Let me see.", Finish: "stop", Extra: []byte(`{"from":"HOST","reasoning_field":"reasoning_content"}`)}},
	{file: "reasoning-details", want: sdk.Completion{Reasoning: "Let me see.", Finish: "calls", Calls: []sdk.Call{call("call_d", "bash", `{"command":"id"}`)},
		Extra: []byte(`{"from":"HOST","reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"Let me see.","type":"reasoning.text"},{"data":"ZW5j","id":"rs_1","index":1,"type":"reasoning.encrypted"}]}`)}},
	{file: "think-tags", want: sdk.Completion{Text: "4 <think> is a tag", Reasoning: "Let me see.", Finish: "stop"}},
	{file: "thinking-parts", want: sdk.Completion{Text: "4", Reasoning: "Let me see.", Finish: "stop"}},
	{file: "refusal", want: sdk.Completion{Text: "I cannot do that.", Finish: "stop"}},
	{file: "filter", want: sdk.Completion{Text: "x", Finish: "filter"}},
	{file: "signature", want: sdk.Completion{Finish: "calls", Calls: []sdk.Call{call("call_g", "bash", `{"command":"id"}`)}, Extra: []byte(`{"from":"HOST","calls":{"call_g":{"google":{"thought_signature":"c2ln"}}}}`)}},
	{file: "crlf", want: sdk.Completion{Text: "a", Finish: "stop"}},
	{file: "split-character", want: sdk.Completion{Text: "grüße 🙂 \uFFFD!", Finish: "stop"}},
	{file: "empty", fails: sdk.ClassServer, says: "empty answer"},
	{file: "not-json", want: sdk.Completion{Text: "a"}, fails: sdk.ClassGateway, says: "not the JSON"},
}

func call(id, tool, arguments string) sdk.Call {
	return sdk.Call{ID: id, Tool: tool, Arguments: arguments}
}

func calling(calls ...sdk.Call) sdk.Completion { return sdk.Completion{Calls: calls, Finish: "calls"} }

func TestGoldenStreams(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range golden {
		seen[g.file+".sse"] = true
		raw := readGolden(t, g.file)
		for _, size := range []int{5, 61, len(raw)} { // however the network cuts it
			t.Run(g.file, func(t *testing.T) {
				o := server(t, settings{}, inPieces(raw, size))
				req := hello()
				o.silent, req.Context = g.window > 0, g.window
				got, err := collect(t, o, req)
				want := g.want
				want.Extra = []byte(strings.ReplaceAll(string(want.Extra), "HOST", o.client.Host()))
				for i := range min(len(want.Calls), len(got.Calls)) {
					if want.Calls[i].ID == "*" {
						if !regexp.MustCompile(`^call_[a-z0-9]{26}$`).MatchString(got.Calls[i].ID) {
							t.Errorf("call %d has id %q, want one of ours", i, got.Calls[i].ID)
						}
						got.Calls[i].ID = "*"
					}
				}
				if diff := cmp.Diff(readable(want), readable(got)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				checkFailure(t, err, g.fails, g.says, got.Text != "" || len(got.Calls) > 0)
			})
		}
	}
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[filepath.Base(f)] {
			t.Errorf("%s is in no test", f)
		}
	}
}

type readableCompletion struct {
	sdk.Completion
	Extra string
}

func readable(c sdk.Completion) readableCompletion {
	r := readableCompletion{Completion: c, Extra: string(c.Extra)}
	r.Completion.Extra = nil
	return r
}

func checkFailure(t *testing.T, err error, class sdk.FailureClass, says string, streamed bool) {
	t.Helper()
	if class == "" {
		if err != nil {
			t.Errorf("error %v", err)
		}
		return
	}
	e := providerError(t, err)
	if e.Class != class || !strings.Contains(e.Message, says) || e.Streamed != streamed {
		t.Errorf("error %+v, want class %s, %q in it, streamed %v", *e, class, says, streamed)
	}
}

func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(raw), ": ") {
		t.Errorf("%s does not begin with a comment that says where it comes from", name)
	}
	return raw
}

func inPieces(raw []byte, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for rest := raw; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = w.Write(rest[:n]) // a client that left is the test's own matter
			w.(http.Flusher).Flush()
			rest = rest[n:]
		}
	}
}
