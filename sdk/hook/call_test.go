package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// recorded is an action about to be recorded, with a member of a later daemon.
const recorded = `{"run":7,"turn":2,"loop":3,"mode":"act","tool":"write_file","path":"log://turn_2/write_file/a","body":"","state":"streaming",` +
	`"attributes":{"call_id":"c1","tool":"write_file","arguments":{"path":"a.txt","n":9007199254740993},"index":0,"parent":"log://turn_1/ask/b","x_later":1},"x_later":2}`

func TestBeforeCall(t *testing.T) {
	seen := Call{}
	for name, c := range map[string]struct {
		value string
		do    func(Call) (Call, error)
		want  string // the JSON of the answer; empty: as it came
	}{
		"nothing": {recorded, func(c Call) (Call, error) { return c, nil }, ""},
		"by the tool's other name": {strings.Replace(recorded, `"call_id":"c1","tool":"write_file"`, `"call_id":"c1","tool":"files__write_file","declared":"write_file","plugin":"files"`, 1), func(c Call) (Call, error) {
			if c.Tool != "write_file" || c.Plugin != "files" || c.Wrote != "files__write_file" {
				t.Errorf("the function saw %q of %q, written %q", c.Tool, c.Plugin, c.Wrote)
			}
			return c, nil
		}, ""},
		"of a second block": {strings.Replace(recorded, `"call_id":"c1","tool":"write_file"`, `"call_id":"c1","tool":"late__write_file","declared":"write_file","plugin":"late"`, 1), func(c Call) (Call, error) {
			if c.Tool != "write_file" || c.Plugin != "late" {
				t.Errorf("the function saw %q of %q", c.Tool, c.Plugin)
			}
			return c, nil
		}, ""},
		"what does not count": {recorded, func(c Call) (Call, error) {
			c.Tool, c.State, c.Body, c.Run = "other", sdk.StateFailed, "no", 1
			return c, nil
		}, ""},
		"other arguments": {recorded, func(c Call) (Call, error) {
			c.Arguments = json.RawMessage(`{"path":"b.txt"}`)
			return c, nil
		}, strings.Replace(recorded, `{"path":"a.txt","n":9007199254740993}`, `{"path":"b.txt"}`, 1)},
		"refused": {recorded, func(c Call) (Call, error) { return c, errors.New("not here") },
			strings.Replace(strings.Replace(recorded, `"body":"","state":"streaming"`, `"body":"not here","state":"failed"`, 1), `"tool":"write_file","path":"log`, `"outcome":"permission","tool":"write_file","path":"log`, 1)},
		"refused by its own outcome": {recorded, func(c Call) (Call, error) { return c, sdk.Errorf(sdk.Conflict, "frozen") },
			strings.Replace(strings.Replace(recorded, `"body":"","state":"streaming"`, `"body":"frozen","state":"failed"`, 1), `"tool":"write_file","path":"log`, `"outcome":"conflict","tool":"write_file","path":"log`, 1)},
		"refused before": {strings.Replace(recorded, "streaming", "failed", 1), func(Call) (Call, error) { panic("it was asked") }, ""},
	} {
		got, err := Set{BeforeCall(func(_ context.Context, call Call) (Call, error) {
			seen = call
			return c.do(call)
		})}.Filter(t.Context(), "entry.recording", json.RawMessage(c.value))
		if c.want == "" {
			c.want = c.value
		}
		if err != nil || !sameJSON(got, []byte(c.want)) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, c.want)
		}
	}
	if seen.Run != 7 || seen.Turn != 2 || seen.Loop != 3 || seen.Path != "log://turn_2/write_file/a" || seen.Parent != "log://turn_1/ask/b" || seen.Tool != "write_file" {
		t.Errorf("the function saw %+v", seen)
	}
	if _, err := (Set{BeforeCall(func(_ context.Context, c Call) (Call, error) { return c, nil })}).Filter(t.Context(), "entry.recording",
		json.RawMessage(`{"state":"streaming","attributes":[1]}`)); err == nil {
		t.Error("a call that cannot be read passes")
	}
}

func TestAfterCall(t *testing.T) {
	var seen Call
	s := Set{AfterCall(func(_ context.Context, c Call) error {
		seen = c
		return nil
	}), AfterLoop(hear[sdk.LoopEvent])}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	err := s.Event(t.Context(), "tool.after", json.RawMessage(`{"run":7,"entry":{"path":"log://turn_2/grep/a","state":"failed","outcome":"exit:1","body":"none","turn":2,"attributes":{"tool":"files__grep","declared":"grep","plugin":"files","arguments":{"p":1}}}}`))
	if err != nil || seen.Run != 7 || seen.Tool != "grep" || seen.Wrote != "files__grep" || seen.Outcome != sdk.Exit(1) || seen.Body != "none" || string(seen.Arguments) != `{"p":1}` {
		t.Errorf("%v, %+v", err, seen)
	}
}

// TestCallOfMCP: the tool of an MCP server has one name, with the server's in it.
func TestCallOfMCP(t *testing.T) {
	var action sdk.Action
	action.Tool, action.Plugin = "mcp__notes__search", "mcp__notes"
	if c := callOf(1, action); c.Tool != "mcp__notes__search" {
		t.Error(c.Tool)
	}
}
