package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// payloads are values of a hook as a daemon may send them, so that what is subscribed
// to does its work: of entry.recording a call of each sort. A name that this version
// does not know gets an empty object.
func payloads(s Subject, name string) ([]json.RawMessage, error) {
	point, known := sdk.FindHook(name)
	if !known {
		return []json.RawMessage{json.RawMessage("{}")}, nil
	}
	var values []any
	all := plausible(s)
	for _, v := range all {
		if reflect.TypeOf(v) == point.Payload {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("there is no value to tell %s with, which is a mistake in Bothy", name)
	}
	var texts []json.RawMessage
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// plausible has values of every type of the catalogue that a daemon of this version
// sends, all of one small run.
func plausible(s Subject) []any {
	at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	const model = "conformance/none"
	run := sdk.Run{ID: 1, Project: 1, Alias: "conformance", Key: "conformance", Agent: "default", Model: model, Status: 102, Turns: 1, Created: at, Updated: at}
	loop := sdk.HookLoop{ID: 1, Run: 1, Sequence: 1, Model: model, Agent: "default", Prompt: "Tidy the notes up.", Status: 102, Created: at}
	usage := &sdk.Usage{Prompt: 100, Completion: 10, Total: 110}
	completion := sdk.Completion{Text: "I look at the notes.", Usage: usage, Finish: "stop"}
	calls := []struct{ tool, wrote, arguments string }{
		{"read_file", "read_file", `{"path":"notes.txt"}`},
		{"write_file", "write_file", `{"path":"notes.txt","content":"a note\n"}`},
		{"delete_path", "files__delete_path", `{"path":"old"}`},
		{"bash", "bash", `{"command":"ls -l"}`},
	}
	var values []any
	var entries []sdk.Entry
	for i, c := range calls {
		declared := ""
		if c.wrote != c.tool {
			declared = fmt.Sprintf(`"declared":%q,`, c.tool)
		}
		attributes := fmt.Appendf(nil, `{"call_id":"call_%d","tool":%q,%s"arguments":%s,"index":%d,"plugin":"files"}`, i+1, c.wrote, declared, c.arguments, i)
		path := "log://turn_1/" + c.tool + "/notes"
		values = append(values, sdk.Recording{Run: 1, Turn: 1, Loop: 1, Tool: c.tool, Path: path, Attributes: attributes, State: sdk.StateStreaming})
		entries = append(entries, sdk.Entry{
			Path: path, Body: "a note\n", Attributes: attributes, Visibility: sdk.Visible, State: sdk.StateResolved, Writer: sdk.WriterSystem,
			Scope: "run:1", Loop: 1, Turn: 1, Version: 2, Created: at, Updated: at,
		})
	}
	return append(values,
		sdk.Project{ID: 1, Name: "project", Root: s.Project, Created: at},
		sdk.RunEvent{Run: run, Project: s.Project, RunDir: s.RunDir},
		sdk.Rest{ID: "conformance-rest-1", Run: run, Project: s.Project, RunDir: s.RunDir, From: 1, To: 1, Why: sdk.RestIdle},
		sdk.TurnEvent{Run: run, Loop: loop, Turn: sdk.Turn{ID: 1, Run: 1, Loop: 1, Sequence: 1, Model: model, Created: at}, Messages: 2},
		sdk.LoopEvent{Project: 1, Run: run, Loop: loop, Turns: 1, Status: 200},
		map[string]string{"read_file": "Reads a file."},
		sdk.Prompt{
			Run: run, Loop: loop, Turn: 1, Model: model, System: "You help with notes.", Messages: []sdk.Message{{Role: sdk.RoleUser, Text: loop.Prompt}},
			Tools: []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "read_file", Description: "Reads a file.", Parameters: json.RawMessage(`{"type":"object"}`)}, Plugin: "files", Pinned: true}},
		},
		completion,
		sdk.TurnResult{Run: run, Loop: loop, Turn: 1, LoopTurn: 1, Completion: completion, Actions: entries, Ruling: sdk.Ruling{Continue: true, Status: 102}},
		sdk.EntryEvent{Run: 1, Entry: entries[0]},
		sdk.Resolution{Run: 1, Entry: entries[1], Allow: true, Body: "a note\n"},
		sdk.ConfigChange{Run: run, Model: model, Config: sdk.RunConfig{ContextLimit: 8192, NoWeb: true}},
		sdk.Notice{Project: 1, Run: 1, Text: "half of the notes are tidy", Level: "warn"},
		sdk.SocketRequest{Project: 1, ID: json.RawMessage("1"), Method: "getRun", Params: json.RawMessage(`{"run":"conformance"}`)},
	)
}
