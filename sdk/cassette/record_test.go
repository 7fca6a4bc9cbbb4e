package cassette

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func said(text string, calls ...string) sdk.Completion {
	c := sdk.Completion{Text: text, Finish: "stop"}
	for i, tool := range calls {
		c.Finish = "calls"
		c.Calls = append(c.Calls, sdk.Call{ID: fmt.Sprint(tool, i), Tool: tool, Arguments: `{"n":1}`})
	}
	return c
}

func message(c sdk.Completion) sdk.Message {
	return sdk.Message{Role: sdk.RoleAssistant, Text: c.Text, Calls: c.Calls}
}

// recorded plays the part of an engine that records: of a conversation that had gone on
// before, with a call that no server takes as it is, and with an old message left out.
func recorded(t *testing.T) (*Cassette, [][]sdk.Message) {
	t.Helper()
	cost := 1.5
	first, second, third := said("look", "read", "ba sh"), said("", "read"), said("done")
	first.Usage, first.Reasoning = &sdk.Usage{Prompt: 3, Completion: 2, Total: 5, Cost: &cost}, "hm"
	second.Finish = "stop" // some servers say so
	before := []sdk.Message{{Role: sdk.RoleSystem, Text: "be good"}, user("hello"), message(said("", "finish")), result("finish", "ok"), user("go")}
	requests := [][]sdk.Message{
		before,
		append(before[:len(before):len(before)], message(first), result("read", "1"), result("ba_sh", "12:00"), user("and?")),
		{user("hello"), message(second), result("read", "2")},
	}
	exact := func(tool string) bool { return tool == "read" }
	c := Cassette{Model: "a/m", Context: 100}
	for i, said := range []sdk.Completion{first, second, third} {
		c.Steps = append(c.Steps, NewStep(Fresh(requests[i], i == 0), said, exact))
	}
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if again, err := read.Encode(); err != nil || !bytes.Equal(raw, again) {
		t.Errorf("it is written in another way after it was read, error %v\n%s", err, again)
	}
	return read, requests
}

func TestWhatIsRecordedPlays(t *testing.T) {
	c, requests := recorded(t)
	want := Step{
		Request: []Expected{{Role: sdk.RoleUser, Text: Says(requests[0][4].Text)}},
		Events: []Played{
			{Delta: sdk.Delta{Reasoning: "hm"}}, {Delta: sdk.Delta{Text: "look"}},
			{Delta: sdk.Delta{Call: &sdk.CallDelta{ID: "read0", Tool: "read", Arguments: `{"n":1}`}}},
			{Delta: sdk.Delta{Call: &sdk.CallDelta{Index: 1, ID: "ba sh1", Tool: "ba sh", Arguments: `{"n":1}`}}},
			{Delta: sdk.Delta{Usage: &sdk.Usage{Prompt: 3, Completion: 2, Total: 5}}}, // what it cost is not spent again
			{Delta: sdk.Delta{Finish: &sdk.Finish{Reason: "calls"}}},
		},
	}
	if diff := cmp.Diff(want, c.Steps[0], cmpopts.IgnoreUnexported(Rule{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for n, messages := range requests {
		if s, d := c.Next(n, Fresh(messages, n == 0)); d != nil || len(s.Events) == 0 {
			t.Errorf("step %d: %v", n, d)
		}
	}
}

func TestNextTellsTheFirstDifference(t *testing.T) {
	c, requests := recorded(t)
	strict, _ := recorded(t)
	if err := strict.Strict(); err != nil {
		t.Fatal(err)
	}
	with := func(n, at int, m sdk.Message) []sdk.Message {
		out := append([]sdk.Message(nil), requests[n]...)
		out[at] = m
		return out
	}
	for _, x := range []struct {
		name     string
		c        *Cassette
		n        int
		messages []sdk.Message
		says     []string // none: it plays
	}{
		{"the prompt", c, 0, with(0, 4, user("stop")), []string{"step 1, message 1 (user)", `"go"`, `"stop"`}},
		{"a result that only reads", c, 1, with(1, 6, result("read", "9")), []string{"step 2, message 1 (tool) of read", `"1"`, `"9"`}},
		{"another result", c, 1, with(1, 7, result("ba_sh", "13:00")), nil},
		{"another result, strictly", strict, 1, with(1, 7, result("ba_sh", "13:00")), []string{"message 2 (tool) of ba sh", "12:00", "13:00"}},
		{"the same, strictly", strict, 1, requests[1], nil},
		{"a message more", c, 2, append(requests[2][:3:3], user("more")), []string{"step 3, message 2 (user)", "nothing more", "more"}},
		{"a message less", c, 1, requests[1][:8], []string{"step 2, message 3 (user)", "the end of the request"}},
		{"behind the end", c, 3, requests[2], []string{"step 4, the end", "ends after 3 steps", "the result of read"}},
		{"nothing", c, 0, nil, []string{"step 1, message 1 (user)"}},
	} {
		_, d := x.c.Next(x.n, Fresh(x.messages, x.n == 0))
		if (d == nil) != (x.says == nil) {
			t.Errorf("%s: %v", x.name, d)
			continue
		}
		for _, text := range x.says {
			if !strings.Contains(d.Error(), text) {
				t.Errorf("%s: %q lacks %q", x.name, d.Error(), text)
			}
		}
	}
}

func TestStrictNeedsAllResults(t *testing.T) {
	c, err := Read(strings.NewReader(twoSteps))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Strict(); err == nil || !strings.Contains(err.Error(), "step 2, request message 2") || !strings.Contains(err.Error(), "bash") {
		t.Errorf("error %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	step := NewStep([]sdk.Message{user("go")}, said("done"), nil)
	lost := NewStep([]sdk.Message{result("read", "1"), user("and?")}, said("done"), func(string) bool { return true })
	long := step
	long.Events = append([]Played{{Delta: sdk.Delta{Text: strings.Repeat("x", MaxBytes)}}}, step.Events...)
	for name, x := range map[string]struct {
		c    Cassette
		says string
	}{
		"no steps":   {Cassette{Model: "m"}, "no steps"},
		"no prompt":  {Cassette{Model: "m", Steps: []Step{NewStep(nil, said("x"), nil)}}, "no message"},
		"no result":  {Cassette{Model: "m", Steps: []Step{NewStep([]sdk.Message{user("go")}, said("", "read", "bash"), nil), lost}}, `result of tool "bash"`},
		"beyond all": {Cassette{Model: "m", Steps: []Step{long}}, "larger than 64 MiB"},
		"no model":   {Cassette{Steps: []Step{step}}, "model is missing"},
	} {
		if _, err := x.c.Encode(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: error %v, want %q in it", name, err, x.says)
		}
	}
}

// TestAnyCompletionIsRecorded: whatever a model says can be read back, and says the same.
func TestAnyCompletionIsRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sdk.Completion{
			Text: rapid.String().Draw(t, "text"), Reasoning: rapid.String().Draw(t, "reasoning"),
			Finish: rapid.SampledFrom([]string{"", "stop", "calls", "length", "filter", "other"}).Draw(t, "finish"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			c.Calls = append(c.Calls, sdk.Call{ID: rapid.String().Draw(t, "id"), Tool: rapid.String().Draw(t, "tool"), Arguments: rapid.String().Draw(t, "arguments")})
		}
		raw, err := Cassette{Model: "m", Steps: []Step{NewStep([]sdk.Message{user("go")}, c, nil)}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		got := read.Steps[0].said()
		if got.Text != c.Text || len(got.Calls) != len(c.Calls) {
			t.Fatalf("%+v of %+v", got, c)
		}
		for i, call := range got.Calls {
			if call.Arguments != c.Calls[i].Arguments || c.Calls[i].Tool != "" && call.Tool != c.Calls[i].Tool {
				t.Fatalf("%+v of %+v", call, c.Calls[i])
			}
		}
	})
}

// TestALargeCassette: what is nearly too large is written, read and played.
func TestALargeCassette(t *testing.T) {
	if testing.Short() {
		t.Skip("it has 60 MiB")
	}
	text := strings.Repeat("a line of a result\n", 6000)
	c, conversation := Cassette{Model: "m"}, []sdk.Message{user("go")}
	for n := 0; n < 540; n++ {
		answer := said("", "read")
		c.Steps = append(c.Steps, NewStep(Fresh(conversation, n == 0), answer, func(string) bool { return true }))
		conversation = append(conversation, message(answer), result("read", text))
	}
	raw, err := c.Encode()
	if err != nil || len(raw) < 55<<20 {
		t.Fatalf("%d bytes, error %v", len(raw), err)
	}
	read, err := Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for n := range c.Steps {
		if _, d := read.Next(n, Fresh(conversation[:1+2*n], n == 0)); d != nil {
			t.Fatal(d)
		}
	}
	if _, d := read.Find(sdk.Request{Messages: conversation[:1+2*539]}); d != nil {
		t.Error(d)
	}
}
