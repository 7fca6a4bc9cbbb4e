package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The kinds of lines. Those that agent-fabric has mean what they mean there.
const (
	kindRunCreated    = "run_created"
	kindRunReset      = "run_reset"
	kindRunExpired    = "run_expired"
	kindRunDeleted    = "run_deleted"
	kindRunRested     = "run_rested"
	kindRestHeard     = "run_heard"
	kindLoopQueued    = "loop_queued"
	kindPrompt        = "prompt"
	kindLoopStarted   = "loop_started"
	kindTurnStarted   = "turn_started"
	kindRequest       = "llm_request"
	kindRetry         = "llm_retry"
	kindFallback      = "llm_fallback"
	kindPruned        = "context_pruned"
	kindResponse      = "llm_response"
	kindToolCall      = "tool_call"
	kindProposed      = "tool_proposed"
	kindAnswered      = "tool_answered"
	kindToolResult    = "tool_result"
	kindToolError     = "tool_error"
	kindSecurityEvent = "security_event"
	kindPluginCall    = "plugin_call"
	kindError         = "error"
	kindWarning       = "warning"
	kindTurnComplete  = "turn_complete"
	kindLoopDetected  = "loop_detected"
	kindRunComplete   = "run_complete"
	kindRunFailed     = "run_failed"
)

// plain are the rows whose data is the payload.
var plain = map[string]string{
	sdk.KindRunCreated:   kindRunCreated,
	sdk.KindRunReset:     kindRunReset,
	sdk.KindRunExpired:   kindRunExpired,
	sdk.KindRunDeleted:   kindRunDeleted,
	sdk.KindRunRested:    kindRunRested,
	sdk.KindRestHeard:    kindRestHeard,
	sdk.KindLoopQueued:   kindLoopQueued,
	sdk.KindLoopStarted:  kindLoopStarted,
	sdk.KindTurnOpened:   kindTurnStarted,
	sdk.KindNoteSent:     kindRequest,
	sdk.KindTurnClosed:   kindTurnComplete,
	sdk.KindNoteRetry:    kindRetry,
	sdk.KindNoteFallback: kindFallback,
	sdk.KindNotePruned:   kindPruned,
	sdk.KindNoteWarning:  kindWarning,
	sdk.KindNoteCall:     kindPluginCall,
}

// linesOf are the lines of one row, mostly one or none. They depend on nothing
// but the row and on entries that do not change once it is there, so that they
// are the same whenever they are made.
func (r *Runlogs) linesOf(ctx context.Context, row sdk.JournalRow) ([]line, error) {
	switch {
	case row.Kind == sdk.KindEntrySet:
		return r.entryLines(row), nil
	case row.Kind == sdk.KindLoopEnded:
		return r.endLines(ctx, row)
	case plain[row.Kind] == "", row.Turn != 0 && row.Loop == 0 && !strings.HasPrefix(row.Kind, sdk.KindNote):
		return nil, nil // of no interest, or a turn without a model
	}
	p := payload{}
	p.members(row.Data)
	if row.Path != "" {
		p["path"] = row.Path
	}
	return []line{r.newLine(row, plain[row.Kind], p)}, nil
}

// newLine is a line of a row. Its payload is complete by then, so that no text
// of it goes past the redaction.
func (r *Runlogs) newLine(row sdk.JournalRow, kind string, p payload) line {
	p.clean(r.cfg.Redact)
	l := line{V: Version, Seq: row.Seq, TS: json.Number(timestamp(row.Time)), Kind: kind, Loop: row.Loop, Payload: p}
	if row.Turn != 0 && kind != kindPrompt {
		l.Step = fmt.Sprintf("step_%d", row.Turn)
	}
	return l
}

// members adds the members of a JSON object; what is none adds nothing.
func (p payload) members(object json.RawMessage) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(object, &all)
	for name, value := range all {
		p[name] = value
	}
}

// entryLines are those of a write: of a prompt, an answer, an action, or a
// failure that belongs to none. Whatever else is written is no part of a runlog.
func (r *Runlogs) entryLines(row sdk.JournalRow) []line {
	var c sdk.EntryChange
	if json.Unmarshal(row.Data, &c) != nil {
		return nil
	}
	switch sdk.SchemeOf(row.Path) {
	case "prompt":
		if row.BodyHash != "" {
			p := payload{"path": row.Path}
			p.body("prompt", row)
			return []line{r.newLine(row, kindPrompt, p)}
		}
	case "assistant":
		if row.BodyHash != "" && c.State.Ended() {
			return []line{r.newLine(row, kindResponse, answerOf(row, c))}
		}
	case "log":
		if c.Phase != sdk.PhaseNone {
			return r.actionLines(row, c)
		}
		if row.BodyHash != "" && c.State == sdk.StateFailed {
			p := payload{"path": row.Path, "error_type": c.Outcome}
			p.body("error_message", row)
			return []line{r.newLine(row, kindError, p)}
		}
	}
	return nil
}

// body adds the text that the row gave its entry. The journal has only its hash
// when it was deleted or written over since.
func (p payload) body(name string, row sdk.JournalRow) {
	if row.Body == nil {
		p["gone"] = true
		return
	}
	p[name] = *row.Body
}

func answerOf(row sdk.JournalRow, c sdk.EntryChange) payload {
	at, err := sdk.ReplyOf(c.Attributes)
	p := payload{"path": row.Path, "model": at.Model}
	if err != nil {
		p["gone"] = true
	}
	p.body("content", row)
	if at.Reasoning != "" {
		p["reasoning"] = at.Reasoning
	}
	calls := []any{}
	for _, call := range at.Calls {
		calls = append(calls, map[string]any{"name": call.Tool, "call_id": call.ID})
	}
	for _, call := range at.Found {
		calls = append(calls, map[string]any{"name": call.Tool, "call_id": call.ID})
	}
	p["tool_calls"] = calls
	if at.Finish != "" {
		p["finish"] = at.Finish
	}
	if at.Usage != nil {
		p["usage"] = encodeJSON(at.Usage)
	}
	if c.State != sdk.StateResolved {
		p["partial"], p["error_type"] = true, c.Outcome
	}
	return p
}

// actionLines are those of one row of an action: what of the action that row
// changed, and nothing that stood there before. An action that was refused at
// once has its call and its end in one row.
func (r *Runlogs) actionLines(row sdk.JournalRow, c sdk.EntryChange) []line {
	at, err := sdk.ActionOf(sdk.Entry{Path: row.Path, Attributes: c.Attributes})
	if err != nil {
		at = sdk.Action{}
	}
	var lines []line
	if _, is := c.Hashed["call_id"]; is || at.CallID != "" {
		lines = append(lines, r.newLine(row, kindToolCall, callOf(row, at)))
	}
	lines = append(lines, r.personLines(row, c, at)...)
	if c.Phase != sdk.PhaseEnded || row.BodyHash == "" {
		return lines
	}
	p := payload{"path": row.Path, "tool": toolOf(row.Path)}
	p.body("result", row)
	if at.DurationMS != nil {
		p["duration_ms"] = *at.DurationMS
	}
	if at.Truncated {
		p["truncated"] = true
	}
	if id := at.Container(); id != "" {
		p["container"] = id
	}
	if c.State == sdk.StateResolved {
		return append(lines, r.newLine(row, kindToolResult, p))
	}
	p["error_type"], p["error_message"] = c.Outcome, at.Why()
	lines = append(lines, r.newLine(row, kindToolError, p))
	if c.Outcome == sdk.Permission && !at.Rejected() {
		lines = append(lines, r.newLine(row, kindSecurityEvent, denialOf(row, at)))
	}
	return lines
}

func callOf(row sdk.JournalRow, at sdk.Action) payload {
	p := payload{"path": row.Path, "tool": at.Tool, "call_id": at.CallID, "args": nil}
	if at.Arguments == nil {
		p["gone"] = true
	} else {
		p["args"] = at.Arguments
	}
	if at.Plugin != "" {
		p["plugin"] = at.Plugin
	}
	if at.Parent != "" {
		p["parent"] = at.Parent
	}
	if at.Decision != nil {
		p["decision"] = encodeJSON(at.Decision)
	}
	return p
}

func denialOf(row sdk.JournalRow, at sdk.Action) payload {
	p := payload{"path": row.Path, "tool": toolOf(row.Path), "event_type": "permission_denied", "error_message": at.Why()}
	if v, is := at.Metadata["violations"]; is {
		p["event_type"] = EventViolation
		p["violations"] = encodeJSON(v)
	}
	return p
}

// toolOf is the tool's name in the path of an action.
func toolOf(path string) string {
	p, _ := sdk.ParseActionPath(path)
	return p.Tool
}
