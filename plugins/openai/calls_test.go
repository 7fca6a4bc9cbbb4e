package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// TestCallsSurviveAnyDialect draws calls, writes them as one of the dialects in
// use does, and expects the same calls back.
func TestCallsSurviveAnyDialect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(rapid.Custom(drawCall), 1, 5, func(c sdk.Call) string { return c.ID }).Draw(t, "calls")
		dialect := rapid.SampledFrom([]string{"standard", "zero", "no-index", "no-id-whole", "object", "repeated"}).Draw(t, "dialect")
		var got conformance.Deltas
		c := calls{out: modelhttp.NewSender(nil, got.Add)}
		for i, call := range want {
			for _, f := range write(t, dialect, i, call) {
				if err := c.add(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.finish(); err != nil {
			t.Fatal(err)
		}
		read := got.Completion.Calls
		if dialect == "no-id-whole" {
			for i := range read {
				read[i].ID = want[i].ID
			}
		}
		if diff := cmp.Diff(want, read); diff != "" || got.Wrong() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", dialect, got.Wrong(), diff)
		}
	})
}

func drawCall(t *rapid.T) sdk.Call {
	tool := rapid.SampledFrom([]string{"bash", "grep"}).Draw(t, "tool")
	value := rapid.String().Draw(t, "value")
	id := rapid.StringMatching(`[a-z0-9]{1,16}`).Draw(t, "id")
	arguments, err := json.Marshal(map[string]string{"v": value, "of": id})
	if err != nil {
		t.Fatal(err)
	}
	return sdk.Call{ID: id, Tool: tool, Arguments: string(arguments)}
}

func write(t *rapid.T, dialect string, i int, call sdk.Call) []fragment {
	whole := fragment{index: i, id: call.ID, tool: call.Tool, arguments: []byte(call.Arguments)}
	switch dialect {
	case "no-index":
		whole.index = -1
		return []fragment{whole}
	case "no-id-whole":
		whole.index, whole.id, whole.whole = 0, "", true
		return []fragment{whole}
	case "object":
		whole.whole = true
		return []fragment{whole}
	}
	if dialect == "zero" {
		whole.index = 0
	}
	first := whole
	first.arguments = nil
	out := []fragment{first}
	for rest := []byte(call.Arguments); len(rest) > 0; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "cut") // anywhere, inside a character too
		f := fragment{index: whole.index, arguments: rest[:n]}
		if dialect == "repeated" {
			f.id, f.tool = call.ID, call.Tool
		}
		out, rest = append(out, f), rest[n:]
	}
	return out
}

// TestIdenticalCallsWithoutIDs holds the limit of what can be known: the very
// same call twice, without ids, is taken for one that was repeated.
func TestIdenticalCallsWithoutIDs(t *testing.T) {
	var got conformance.Deltas
	c := calls{out: modelhttp.NewSender(nil, got.Add)}
	for range 2 {
		if err := c.add(fragment{index: 0, tool: "bash", arguments: []byte(`{"a":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(got.Completion.Calls); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestManyCallsAndLongArguments(t *testing.T) {
	const n, size = 500, 10 << 20
	o := server(t, settings{}, func(w http.ResponseWriter, _ *http.Request) {
		for i := range n {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]}}]}\n\n", i, i)
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"long\",\"function\":{\"name\":\"bash\",\"arguments\":\"%s\"}}]}}]}\n\n", n, strings.Repeat("ä", size/2))
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
	})
	longest := 0
	var got conformance.Deltas
	err := o.Complete(t.Context(), hello(), func(d sdk.Delta) error {
		if d.Call != nil {
			longest = max(longest, len(d.Call.Arguments))
		}
		return got.Add(d)
	})
	if calls := got.Completion.Calls; errors.Join(err, got.End()) != nil || len(calls) != n+1 || len(calls[n].Arguments) != size {
		t.Fatalf("error %v, %d calls", errors.Join(err, got.End()), len(calls))
	}
	if longest > modelhttp.MaxPiece {
		t.Errorf("a piece of %d bytes", longest)
	}
}

func TestThinkingAnywhereCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		thought := rapid.StringMatching(`[a-z<>/ ]{0,20}`).Filter(func(s string) bool { return !strings.Contains(s, thinkClose) }).Draw(t, "thought")
		said := rapid.StringMatching(`[a-z][a-z<>/ ]{0,20}`).Draw(t, "said")
		whole := thinkOpen + thought + thinkClose + "\n\n" + said
		var think thinking
		var gotSaid, gotThought string
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			s, th := think.add(rest[:n])
			gotSaid, gotThought, rest = gotSaid+s, gotThought+th, rest[n:]
		}
		s, th := think.rest()
		if gotSaid+s != said || gotThought+th != thought {
			t.Errorf("said %q thought %q, want %q and %q", gotSaid+s, gotThought+th, said, thought)
		}
	})
}

func TestThinkingOnlyAtTheBeginning(t *testing.T) {
	for in, want := range map[string][2]string{
		"a <think>b</think>":          {"a <think>b</think>", ""},
		"<thinker>":                   {"<thinker>", ""},
		"<thi":                        {"<thi", ""},
		"  ":                          {"  ", ""},
		"<think>never closed </th":    {"", "never closed </th"},
		"<think></think>x":            {"x", ""},
		"<think>a</think>":            {"", "a"},
		"\n <think>a</think> <think>": {"<think>", "a"},
	} {
		var think thinking
		said, thought := think.add(in)
		s, th := think.rest()
		if got := [2]string{said + s, thought + th}; got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// FuzzCompletion feeds any bytes as a stream: an answer or a typed error, and
// never a broken contract.
func FuzzCompletion(f *testing.F) {
	for _, g := range golden[:8] {
		f.Add(bytes.TrimSpace(readSeed(f, g.file)))
	}
	client, err := modelhttp.New(modelhttp.Options{Base: "http://127.0.0.1:1/v1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got conformance.Deltas
		c := newCompletion(t.Context(), client, got.Add)
		err := c.readEvents(modelhttp.NewEvents(bytes.NewReader(in)), nothing)
		if err == nil {
			err = c.close()
		}
		var e *sdk.ProviderError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("error %v (%T)", err, err)
		}
		if wrong := got.Wrong(); wrong != nil || err == nil && got.End() != nil {
			t.Error(got.End())
		}
	})
}
