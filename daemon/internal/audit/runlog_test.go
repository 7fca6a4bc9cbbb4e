package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// tell writes a loop with everything that a model does in two turns.
func (h *house) tell(r sdk.Run) sdk.Loop {
	l := h.loop(r, "fix it")
	one := h.open(r, l)
	h.commit(sdk.Change{Run: r.ID, Notes: []sdk.Note{{Kind: "note.retry", Loop: l.ID, Turn: one.Sequence, Data: map[string]any{"class": "rate_limit", "wait_ms": 10, "attempt": 2, "message": "slow down"}}}})
	out := sdk.Note{Kind: sdk.KindNoteSent, Loop: l.ID, Turn: one.Sequence, Data: sdk.Sent{Hash: "ab12", Messages: 2, Model: "fake/m"}}
	h.commit(sdk.Change{Run: r.ID, Before: []sdk.Note{out}, Writes: []sdk.Write{
		answer(one, "I look", sdk.Call{ID: "c1", Tool: "read", Arguments: `{"path":"a"}`}, sdk.Call{ID: "c2", Tool: "bash", Arguments: `{"command":"make"}`}),
		started(one, "read", "a", "c1", map[string]any{"path": "a"}),
	}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(one, "read", "a", "hello", "", nil), started(one, "bash", "call", "c2", map[string]any{"command": "make"})}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{write(one, actionPath(one, "bash", "call"), sdk.Write{Chunk: &sdk.Chunk{Channel: 1, Text: "so far"}})}})
	violations := map[string]any{"metadata": map[string]any{"violations": []map[string]string{{"path": ".git/hooks/x", "action": "removed"}}}, "error": "sandbox violation: no"}
	two := &sdk.Turn{Run: r.ID, Loop: l.ID, Model: "fake/m"}
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(one, "bash", "call", "boom", sdk.Permission, violations)}})
	h.commit(sdk.Change{Run: r.ID, OpenTurn: two, CloseTurn: &sdk.Turn{Sequence: one.Sequence, Finish: "calls", Duration: time.Second}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{
		answer(two, "done", sdk.Call{ID: "c3", Tool: "finish", Arguments: `{"summary":"all well"}`}),
		write(two, actionPath(two, "error", "dialect_1"), sdk.Write{Body: text("a warning"), State: sdk.StateFailed, Outcome: sdk.Validation}),
		started(two, "finish", "call", "c3", map[string]any{"summary": "all well"}),
	}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(two, "finish", "call", "ok", "", nil)}})
	h.commit(sdk.Change{Run: r.ID, CloseTurn: &sdk.Turn{Sequence: two.Sequence, Finish: "calls"}, EndLoop: end(l, 200, "terminal", "finish ended the work")})
	return l
}

func text(s string) *string { return &s }

func TestStory(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	l := h.tell(r)
	h.logged()
	lines := h.lines(r)
	want := "run_created loop_queued prompt loop_started turn_started llm_retry llm_request llm_response tool_call tool_result tool_call tool_error security_event " +
		"turn_complete turn_started llm_response error tool_call tool_result turn_complete run_complete"
	if got := kinds(lines); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	steps := ""
	for i, line := range lines {
		steps += line.Step + " "
		if i > 0 && (line.Seq < lines[i-1].Seq || line.TS < lines[i-1].TS) || line.Loop != l.ID && line.Kind != "run_created" {
			t.Errorf("line %d: %+v", i, line)
		}
	}
	if out := lines[6].Payload; out["hash"] != "ab12" || out["messages"] != 2.0 || out["model"] != "fake/m" {
		t.Errorf("the request is told as %v", out)
	}
	if got := strings.TrimSpace(steps); got != strings.TrimSpace(strings.Repeat("step_1 ", 10)+strings.Repeat("step_2 ", 6)) {
		t.Errorf("steps %s", got)
	}
	for i, want := range map[int]map[string]any{
		2:  {"path": "prompt://1", "prompt": "fix it"},
		4:  {"model": "fake/m"},
		7:  {"path": "assistant://1", "content": "I look", "model": "fake/m", "finish": "stop", "usage": map[string]any{"prompt": 10.0, "completion": 5.0, "total": 15.0}, "tool_calls": []any{map[string]any{"name": "read", "call_id": "c1"}, map[string]any{"name": "bash", "call_id": "c2"}}},
		8:  {"path": "log://turn_1/read/a", "tool": "read", "call_id": "c1", "args": map[string]any{"path": "a"}, "plugin": "files", "decision": map[string]any{"verdict": "allow", "rule": "project", "reason": "r"}},
		9:  {"path": "log://turn_1/read/a", "tool": "read", "result": "hello", "duration_ms": 12.0},
		11: {"path": "log://turn_1/bash/call", "tool": "bash", "result": "boom", "duration_ms": 12.0, "error_type": "permission", "error_message": "sandbox violation: no"},
		12: {"path": "log://turn_1/bash/call", "tool": "bash", "event_type": "sandbox_violation", "error_message": "sandbox violation: no", "violations": []any{map[string]any{"path": ".git/hooks/x", "action": "removed"}}},
		16: {"path": "log://turn_2/error/dialect_1", "error_type": "validation", "error_message": "a warning"},
		20: {"status": 200.0, "stop": "terminal", "reason": "finish ended the work", "turns": 2.0, "final": map[string]any{"path": "assistant://2", "text": "done", "tool": "finish", "call": "log://turn_2/finish/call", "args": map[string]any{"summary": "all well"}}},
	} {
		if !reflect.DeepEqual(lines[i].Payload, want) {
			t.Errorf("line %d, %s:\ngot  %v\nwant %v", i, lines[i].Kind, lines[i].Payload, want)
		}
	}
	info, err := os.Stat(h.file(r))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		stop       string
		writes     func(turn *sdk.Turn) []sdk.Write
		kinds      string
		final      any
		detectedIn any
	}{
		"an answer": {200, "answer", func(turn *sdk.Turn) []sdk.Write { return []sdk.Write{answer(turn, "42")} }, "run_complete", map[string]any{"path": "assistant://1", "text": "42"}, nil},
		"an answer in tags": {204, "answer", func(turn *sdk.Turn) []sdk.Write {
			w := answer(turn, `<get path="a"/> it is 42`)
			w.Attributes = []byte(`{"found":[{"id":"c1","tool":"get","at":[0,15]}]}`)
			return []sdk.Write{w}
		}, "run_complete", map[string]any{"path": "assistant://1", "text": " it is 42"}, nil},
		"without a word": {204, "answer", func(turn *sdk.Turn) []sdk.Write { return []sdk.Write{answer(turn, "")} }, "run_complete", nil, nil},
		"nothing at all": {500, "failed", nil, "run_failed", nil, nil},
		"aborted":        {499, "aborted", nil, "run_failed", nil, nil},
		"unable":         {422, "terminal", nil, "run_failed", nil, nil},
		"overflow":       {413, "overflow", nil, "run_failed", nil, nil},
		"cut off": {500, "failed", func(turn *sdk.Turn) []sdk.Write {
			w := answer(turn, "half an ans")
			w.State, w.Outcome = sdk.StateFailed, sdk.Unavailable
			return []sdk.Write{w}
		}, "run_failed", map[string]any{"path": "assistant://1", "text": "half an ans", "partial": true}, nil},
		"in circles": {499, "window", func(turn *sdk.Turn) []sdk.Write {
			w := started(turn, "read", "a", "c", map[string]any{"path": "a"})
			w.State, w.Outcome, w.Phase, w.Body = sdk.StateCancelled, sdk.Aborted, sdk.PhaseEnded, text("this call was not made")
			return []sdk.Write{answer(turn, "again"), w}
		}, "loop_detected run_failed", map[string]any{"path": "assistant://1", "text": "again"}, "read"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			r := h.run()
			l := h.loop(r, "go")
			turn := h.open(r, l)
			change := sdk.Change{Run: r.ID, CloseTurn: &sdk.Turn{Sequence: turn.Sequence}, EndLoop: end(l, c.status, c.stop, "because")}
			if c.writes != nil {
				change.Writes = c.writes(turn)
			}
			h.commit(change)
			h.logged()
			lines := h.lines(r)
			if got := kinds(lines); !strings.HasSuffix(got, "turn_complete "+c.kinds) {
				t.Errorf("got %s", got)
			}
			last := lines[len(lines)-1].Payload
			if !reflect.DeepEqual(last["final"], c.final) || last["reason"] != "because" || last["stop"] != c.stop {
				t.Errorf("the end is %v", last)
			}
			if found := lines[len(lines)-2]; found.Kind == "loop_detected" && found.Payload["tool"] != c.detectedIn {
				t.Errorf("%v", found.Payload)
			}
		})
	}
}

// TestCallsOfClients: calls that no model made are told, without a model.
func TestCallsOfClients(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	turn := &sdk.Turn{Run: r.ID}
	h.commit(sdk.Change{Run: r.ID, OpenTurn: turn})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{started(turn, "read", "a", "c1", "{")}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(turn, "read", "a", "hello", "", nil)}, CloseTurn: &sdk.Turn{Sequence: 1}})
	h.logged()
	if got := kinds(h.lines(r)); got != "run_created tool_call tool_result" {
		t.Errorf("got %s", got)
	}
}

// TestSecretsAreTakenOut: wherever one stands, also across the place where a
// text is cut, and in a form that JSON escapes.
func TestSecretsAreTakenOut(t *testing.T) {
	const secret = `sé"cret<value>` + "\n"
	h := newHouse(t)
	h.config.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }
	r := h.run()
	l := h.loop(r, "the key is "+secret)
	turn := h.open(r, l)
	long := strings.Repeat("x", MaxText/2-3) + secret + strings.Repeat("y", MaxText)
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{
		answer(turn, secret, sdk.Call{ID: secret, Tool: secret}),
		started(turn, "bash", "x", secret, map[string]any{"command": []any{secret, map[string]any{secret: secret}}}),
		write(turn, actionPath(turn, "error", "e"), sdk.Write{Body: text(secret), State: sdk.StateFailed, Outcome: sdk.Validation}),
	}, Notes: []sdk.Note{{Kind: "note.warning", Loop: l.ID, Data: map[string]string{"message": secret}}}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(turn, "bash", "x", long, sdk.Permission, map[string]any{"error": secret})}})
	h.commit(sdk.Change{Run: r.ID, CloseTurn: &sdk.Turn{Sequence: 1}, EndLoop: end(l, 200, "answer", secret)})
	h.logged()
	all := h.text(r)
	if strings.Contains(all, `cret<value>`) || strings.Contains(all, "cret\\u003cvalue") || strings.Count(all, "[secret]") < 11 {
		t.Errorf("%d were taken out: %.3000s", strings.Count(all, "[secret]"), all)
	}
	h.lines(r) // all of it can be read
}

// TestSecretsInPathsAndNumbers: an action's path is made of its arguments, and a
// secret may look like a number.
func TestSecretsInPathsAndNumbers(t *testing.T) {
	h := newHouse(t)
	h.config.Redact = func(s string) string { return strings.ReplaceAll(s, "4711471147", "[secret]") }
	r := h.run()
	turn := h.open(r, h.loop(r, "go"))
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{
		started(turn, "bash", "echo_4711471147", "c", map[string]any{"command": "echo 4711471147", "pin": 4711471147}),
	}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(turn, "bash", "echo_4711471147", "no", sdk.Permission, nil)}})
	h.logged()
	if all := h.text(r); strings.Contains(all, "4711471147") || strings.Count(all, "[secret]") != 5 {
		t.Errorf("%d were taken out: %s", strings.Count(all, "[secret]"), all)
	}
	h.lines(r)
}

func TestLongTexts(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	l := h.loop(r, "go")
	turn := h.open(r, l)
	body := strings.Repeat("é", MaxText) // two bytes each
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{started(turn, "write", "a", "c1", map[string]any{"body": body})}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{ended(turn, "write", "a", body, "", map[string]any{"truncated": true})}})
	h.logged()
	call, result := h.only(r, "tool_call").Payload, h.only(r, "tool_result").Payload
	if s, ok := call["args"].(string); !ok || len(s) > MaxText+100 || !strings.HasPrefix(s, `{"body":"éé`) || !strings.HasSuffix(s, `éé"}`) {
		t.Errorf("args are %.100v", call["args"])
	}
	if s, ok := result["result"].(string); !ok || len(s) > MaxText+100 || !strings.Contains(s, "bytes left out]") {
		t.Errorf("the result is %.100v", result["result"])
	}
	if cut, ok := result["cut"].(map[string]any); !ok || cut["result"] != float64(2*MaxText) || result["truncated"] != true || result["path"] == "" {
		t.Errorf("cut is %v", result["cut"])
	}
}

// TestFollowing: lines come while the run works, and nobody has to ask.
func TestFollowing(t *testing.T) {
	h := newHouse(t)
	logs := Start(h.config)
	r := h.run()
	h.tell(r)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(h.file(r)); err == nil && strings.Contains(string(text), `"run_complete"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the end was never written")
		}
	}
	other := h.run()
	h.tell(other)
	finish(t, logs) // what was committed before is written
	if a, b := kinds(h.lines(r)), kinds(h.lines(other)); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if n := logs.Lines(); n != int64(len(h.lines(r))+len(h.lines(other))) || logs.Failures() != 0 {
		t.Errorf("%d lines, %d failures", n, logs.Failures())
	}
}

// TestGone: a text that was deleted before its line was made is named as gone.
func TestGone(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	l := h.loop(r, "go")
	turn := h.open(r, l)
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{answer(turn, "a secret of mine"), started(turn, "read", "a", "c1", map[string]string{"path": strings.Repeat("x", 300)})}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{write(turn, "assistant://1", sdk.Write{Remove: true}), write(turn, actionPath(turn, "read", "a"), sdk.Write{Remove: true})}})
	h.commit(sdk.Change{Run: r.ID, EndLoop: end(l, 499, "aborted", "aborted by a person")})
	h.logged()
	for _, kind := range []string{"llm_response", "tool_call"} {
		if p := h.only(r, kind).Payload; p["gone"] != true {
			t.Errorf("%s: %v", kind, p)
		}
	}
	if p := h.only(r, "run_failed").Payload; p["final"] != nil {
		t.Errorf("%v", p)
	}
}

// TestCloseThatCannotWait ends the goroutine all the same.
func TestCloseThatCannotWait(t *testing.T) {
	h := newHouse(t)
	for range 20 {
		h.tell(h.run())
	}
	logs := Start(h.config)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := logs.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	h.logged() // and the next start goes on
	runs, err := h.config.Store.Runs(t.Context(), sdk.RunFilter{Hidden: true})
	if err != nil || len(runs) != 20 {
		t.Fatal(len(runs), err)
	}
	for _, r := range runs {
		if got := kinds(h.lines(r)); strings.Count(got, "run_complete") != 1 || strings.Count(got, "run_created") != 1 {
			t.Errorf("%s", got)
		}
	}
}

// TestEveryKindIsDocumented: the format is a promise, so its page tells all.
func TestEveryKindIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runlog.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		kindRunCreated, kindRunReset, kindRunExpired, kindRunDeleted, kindLoopQueued, kindPrompt, kindLoopStarted, kindRequest, kindRetry, kindPruned, kindResponse,
		kindToolCall, kindToolResult, kindToolError, kindSecurityEvent, kindPluginCall, kindError, kindWarning, kindTurnComplete, kindLoopDetected, kindRunComplete, kindRunFailed,
	} {
		if !strings.Contains(string(page), "`"+kind+"`") {
			t.Errorf("docs/runlog.md does not tell of %s", kind)
		}
	}
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	if lines := parse(t, example); len(lines) < 5 {
		t.Errorf("%d lines of example", len(lines))
	}
}

// TestAnswerThatStreams: the pieces are not told, half an answer that a daemon's
// death left is, and the whole one is told once.
func TestAnswerThatStreams(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	l := h.loop(r, "go")
	turn := h.open(r, l)
	growing := write(turn, "assistant://1", sdk.Write{Create: true, State: sdk.StateStreaming, Attributes: encode(map[string]string{"model": "fake/m"})})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{growing}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{write(turn, "assistant://1", sdk.Write{Chunk: &sdk.Chunk{Channel: 1, Text: "half an ans"}})}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{
		write(turn, "assistant://1/partial_1", sdk.Write{Body: text("half an ans"), State: sdk.StateFailed, Outcome: sdk.Interrupted, Attributes: encode(map[string]any{"model": "fake/m", "partial": true})}),
		write(turn, "assistant://1", sdk.Write{Body: text(""), State: sdk.StateStreaming}),
	}})
	h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{answer(turn, "a whole answer")}})
	h.logged()
	var told []string
	for _, l := range h.lines(r) {
		if l.Kind == "llm_response" {
			told = append(told, fmt.Sprint(l.Payload["path"], " ", l.Payload["content"], " ", l.Payload["partial"], " ", l.Payload["error_type"]))
		}
	}
	if want := []string{"assistant://1/partial_1 half an ans true interrupted", "assistant://1 a whole answer <nil> <nil>"}; !reflect.DeepEqual(told, want) {
		t.Errorf("got %q", told)
	}
}
