package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// golden is what each recorded stream must become. An id of "*" is one of ours;
// usage is that of most files where none is said.
var golden = []struct {
	file  string
	want  sdk.Completion
	kept  []keptBlock
	fails sdk.FailureClass // "" is a completion
	says  string           // in the error's text
}{
	{file: "plain", want: sdk.Completion{Text: "Hello", Finish: "stop", Usage: counted(25, 15)}},
	{file: "tool", want: sdk.Completion{Text: "Let me look.", Finish: "calls", Calls: []sdk.Call{call("toolu_01", "bash", `{"command": "id"}`)},
		Usage: &sdk.Usage{Prompt: 2776, Cached: 2048, Completion: 89, Reasoning: 7, Total: 2865}}},
	{file: "parallel", want: calling(call("toolu_a", "read_file", `{"path":"a"}`), call("toolu_b", "grep", `{"pattern":"x"}`))},
	{file: "interleaved", want: calling(call("toolu_a", "a", `{"x":1}`), call("toolu_b", "b", `{"y":2}`))},
	{file: "empty-input", want: calling(call("toolu_e", "now", `{}`))},
	{file: "thinking", want: sdk.Completion{Text: "4", Reasoning: "Let me see: 1 < 2 & 3.", Finish: "stop"},
		kept: []keptBlock{{Thinking: `{"signature":"c2ln","thinking":"Let me see: 1 < 2 & 3.","type":"thinking"}`}, {Text: 1}}},
	{file: "thinking-tools", want: sdk.Completion{Text: "Wait.", Reasoning: "First.\n\nThen.", Finish: "calls", Calls: []sdk.Call{call("toolu_t", "bash", `{"command":"id"}`)}},
		kept: []keptBlock{{Thinking: `{"signature":"c2ln\\/+==","thinking":"First.","type":"thinking"}`}, {Text: 5}, {Thinking: `{"signature":"c2VjMg==","thinking":"Then.","type":"thinking"}`}, {Call: true}}},
	{file: "redacted", want: sdk.Completion{Reasoning: "Hm.", Finish: "calls", Calls: []sdk.Call{call("toolu_r", "bash", `{"command":"id"}`)}},
		kept: []keptBlock{{Thinking: `{"signature":"c2ln","thinking":"Hm.","type":"thinking"}`}, {Thinking: `{"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"}`}, {Call: true}}},
	{file: "omitted", want: calling(call("toolu_o", "bash", `{}`)), kept: []keptBlock{{Thinking: `{"signature":"b21pdA==","thinking":"","type":"thinking"}`}, {Call: true}}},
	{file: "overloaded", want: sdk.Completion{Text: "So"}, fails: sdk.ClassServer, says: "Overloaded"},
	{file: "error-first", fails: sdk.ClassServer, says: "Internal server error"},
	{file: "error-overflow", fails: sdk.ClassOverflow, says: "210000 tokens"},
	{file: "error-rate", fails: sdk.ClassRateLimit, says: "exceeded your rate limit"},
	{file: "error-bare", fails: sdk.ClassServer, says: "upstream timed out"},
	{file: "cut", want: sdk.Completion{Text: "Half an ans"}, fails: sdk.ClassGateway, says: "before its answer was complete"},
	{file: "cut-within", want: sdk.Completion{Text: "Half an ans"}, fails: sdk.ClassGateway, says: "broke off"},
	{file: "cut-before-stop", want: sdk.Completion{Text: "All of it?"}, fails: sdk.ClassGateway, says: "before its answer was complete"},
	{file: "max-tokens", want: sdk.Completion{Finish: "length", Calls: []sdk.Call{call("toolu_m", "bash", `{"comm`)}}},
	{file: "max-tokens-no-input", want: sdk.Completion{Finish: "length", Calls: []sdk.Call{call("toolu_1", "now", `{}`), call("toolu_2", "bash", ``)}}},
	{file: "window", want: sdk.Completion{Text: "a", Finish: "length"}},
	{file: "refusal", want: sdk.Completion{Text: "I", Finish: "filter", Usage: counted(8, 2)}},
	{file: "stop-sequence", want: sdk.Completion{Text: "a", Finish: "stop", Usage: counted(8, 2)}},
	{file: "pause", want: sdk.Completion{Text: "a", Finish: "length"}},
	{file: "end-turn-with-calls", want: calling(call("toolu_s", "bash", `{"command":"ls"}`))},
	{file: "no-names", want: sdk.Completion{Text: "Hello", Finish: "stop", Usage: counted(8, 2)}},
	{file: "index-zero", want: sdk.Completion{Text: "a", Reasoning: "Hm.", Finish: "calls", Calls: []sdk.Call{call("toolu_x", "bash", `{"command":"id"}`), call("toolu_y", "bash", `{"command":"pwd"}`)}},
		kept: []keptBlock{{Thinking: `{"signature":"","thinking":"Hm.","type":"thinking"}`}, {Text: 1}, {Call: true}, {Call: true}}},
	{file: "no-stops", want: sdk.Completion{Text: "a", Finish: "calls", Calls: []sdk.Call{call("toolu_n", "bash", `{"command":"id"}`)}}},
	{file: "no-starts", want: sdk.Completion{Text: "ab", Reasoning: "Hm.", Finish: "stop"}, kept: []keptBlock{{Thinking: `{"thinking":"Hm.","type":"thinking"}`}, {Text: 2}}},
	{file: "whole-input", want: calling(call("toolu_w", "bash", `{"command": "id"}`))},
	{file: "same-id", want: calling(call("call_0", "a", `{"n":1}`), call("*", "a", `{"n":2}`))},
	{file: "nameless", want: calling(call("*", "unnamed", `{"a":1}`))},
	{file: "usage-late", want: sdk.Completion{Text: "a", Finish: "stop", Usage: &sdk.Usage{Prompt: 48, Cached: 8, Completion: 3, Total: 51}}},
	{file: "usage-none", want: sdk.Completion{Text: "a", Finish: "stop", Usage: &sdk.Usage{Prompt: none}}},
	{file: "unknown", want: sdk.Completion{Text: "a", Finish: "stop"}},
	{file: "done-mark", want: sdk.Completion{Text: "a", Finish: "stop", Usage: counted(8, 2)}},
	{file: "done-only", want: sdk.Completion{Text: "a"}, fails: sdk.ClassGateway, says: "before its answer was complete"},
	{file: "crlf", want: sdk.Completion{Text: "a", Finish: "stop", Usage: counted(8, 2)}},
	{file: "split-character", want: sdk.Completion{Text: "grüße \uFFFD!", Finish: "stop", Usage: counted(8, 2)}},
	{file: "not-json", want: sdk.Completion{Text: "a"}, fails: sdk.ClassGateway, says: "not the JSON"},
	{file: "empty", fails: sdk.ClassServer, says: "empty answer"},
}

// none marks an answer without usage.
const none = -1

func counted(prompt, completion int) *sdk.Usage {
	return &sdk.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
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
				got, err := collect(t, o, hello())
				want := g.want
				switch {
				case want.Usage != nil && want.Usage.Prompt == none:
					want.Usage = nil
				case want.Usage == nil && g.fails == "":
					want.Usage = counted(8, 12)
				}
				checkKept(t, got.Extra, g.kept, o.client.Host())
				got.Extra = nil
				for i := range min(len(want.Calls), len(got.Calls)) {
					if want.Calls[i].ID == "*" {
						if !regexp.MustCompile(`^call_[a-z0-9]{26}$`).MatchString(got.Calls[i].ID) {
							t.Errorf("call %d has id %q, want one of ours", i, got.Calls[i].ID)
						}
						got.Calls[i].ID = "*"
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
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

// checkKept reads what an answer leaves for the next request as that request does.
func checkKept(t *testing.T, extra json.RawMessage, want []keptBlock, host string) {
	t.Helper()
	if want == nil && extra != nil {
		t.Errorf("an answer without thinking leaves %s", extra)
	}
	if diff := cmp.Diff(want, readKept(extra, host).Blocks); diff != "" {
		t.Errorf("what is kept (-want +got)\n%s", diff)
	}
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
