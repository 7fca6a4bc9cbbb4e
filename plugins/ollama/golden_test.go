package main

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
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
}{
	{file: "plain", want: sdk.Completion{Text: "Hello", Finish: "stop", Usage: counted}},
	{file: "thinking", want: sdk.Completion{Text: "4", Reasoning: "hm", Finish: "stop", Usage: counted}},
	{file: "reasoning-content", want: sdk.Completion{Text: "4", Reasoning: "hm", Finish: "stop", Usage: counted}},
	{file: "calls", want: sdk.Completion{Finish: "calls", Calls: []sdk.Call{{ID: "*", Tool: "bash", Arguments: `{"command":"id"}`}, {ID: "*", Tool: "now", Arguments: `{}`}}, Usage: counted}},
	{file: "same-id", want: sdk.Completion{Finish: "calls", Calls: []sdk.Call{{ID: "a", Tool: "bash", Arguments: `{"command":"id"}`}, {ID: "*", Tool: "bash", Arguments: `{}`}}}},
	{file: "nameless", want: sdk.Completion{Finish: "calls", Calls: []sdk.Call{{ID: "a", Tool: "unnamed", Arguments: `{}`}}}},
	{file: "length", want: sdk.Completion{Text: "a", Finish: "length"}},
	{file: "split-character", want: sdk.Completion{Text: "ä", Finish: "stop"}},
	{file: "error", want: sdk.Completion{Text: "a"}, fails: sdk.ClassServer, says: "unexpected EOF"},
	{file: "error-wrapped", fails: sdk.ClassOverflow, says: "request too large"},
	{file: "load", fails: sdk.ClassWarmUp, says: "loaded"},
	{file: "cut", want: sdk.Completion{Text: "a"}, fails: sdk.ClassGateway, says: "before its answer was complete"},
	{file: "cut-within", fails: sdk.ClassGateway, says: "not the JSON"},
	{file: "empty", fails: sdk.ClassGateway, says: "before its answer"},
	{file: "truncated", want: sdk.Completion{Text: "a"}, fails: sdk.ClassOverflow, says: "its window is 1024, and it read 1000"},
}

var counted = &sdk.Usage{Prompt: 11, Completion: 3, Total: 14}

func TestGoldenStreams(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range golden {
		seen[g.file+".ndjson"] = true
		raw := readGolden(t, g.file)
		for _, size := range []int{5, 61, len(raw) + 1} { // however the network cuts it
			t.Run(g.file, func(t *testing.T) {
				got, err := collect(t, server(t, settings{}, inPieces(raw, size)), asked(g.file))
				for i := range min(len(got.Calls), len(g.want.Calls)) {
					if g.want.Calls[i].ID == "*" {
						got.Calls[i].ID = "*"
					}
				}
				if diff := cmp.Diff(g.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				var e *sdk.ProviderError
				switch {
				case g.fails == "":
					if err != nil {
						t.Errorf("error %v", err)
					}
				case !errors.As(err, &e) || e.Class != g.fails || !strings.Contains(e.Message, g.says) || e.Streamed != (g.want.Text != ""):
					t.Errorf("error %+v, want class %s and %q in it", err, g.fails, g.says)
				}
			})
		}
	}
	files, err := filepath.Glob("testdata/*.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[filepath.Base(f)] {
			t.Errorf("%s is in no test", f)
		}
	}
}

// asked is the request of a file: one that fits, but where it was truncated.
func asked(file string) sdk.Request {
	if file != "truncated" {
		return hello()
	}
	return sdk.Request{Model: "m", Context: 1024, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: strings.Repeat("word ", 4000)}}}
}

// readGolden returns a stream without its first line, which says where it comes from.
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	_, stream, _ := bytes.Cut(raw, []byte("\n"))
	return stream
}

func inPieces(raw []byte, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for rest := raw; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = w.Write(rest[:n]) // a client that left is the test's own matter
			w.(http.Flusher).Flush()
			rest = rest[n:]
		}
	}
}
