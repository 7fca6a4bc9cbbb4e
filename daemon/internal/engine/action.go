package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// action is one call on its way from record to its end.
type action struct {
	call      sdk.ReadCall
	tool      sdk.Tool      // its zero value when there is none of that name
	own       sdk.TurnTools // that runs it; nil for a plugin's tool
	once      bool          // an own tool's call that is not made twice, whatever the tool says
	fault     error         // why the call cannot be made at all
	arguments json.RawMessage
	changed   bool // they are not the model's own
	index     int  // among the calls of its turn
	path      string
	parent    string    // the path of the action whose plugin made the call; empty where the model did
	until     time.Time // the call has to end by then; zero where nothing but its own limit says so
	loop      int64
	turn      int
	project   string
	decision  sdk.Decision
	breaking  bool // gives up the rest of the turn, whatever it is
	recheck   bool // policy is asked again before it starts, for time has passed
	decided   bool // the decision is another than the recorded one
	proposal  *sdk.ActionProposal
	answer    *sdk.ActionAnswer
	agreed    bool // a person agreed to it as it is

	started bool      // its start is part of a commit, made or about to be
	closed  bool      // its end is committed
	again   bool      // an earlier daemon had begun it already
	silent  bool      // it was made, and nothing came back that tells what it did
	state   sdk.State // empty until it has an end
	outcome sdk.Outcome
	body    string
	result  sdk.ToolResult
	took    time.Duration
	entry   sdk.Entry // as last committed, or read
}

// ended reports whether the action has its end, committed or not.
func (x *action) ended() bool { return x.state != "" }

// failed reports whether it ended and not well.
func (x *action) failed() bool { return x.ended() && x.state != sdk.StateResolved }

// readOnly reports whether the call has no side effects, on the word of a
// pinned plugin.
func (x *action) readOnly() bool { return x.tool.Pinned && x.tool.Annotations.ReadOnly && !x.once }

// repeatable reports whether a call that was begun may be made again, on the
// word of a pinned plugin: it has no side effects, or none the second time.
func (x *action) repeatable() bool {
	return x.tool.Pinned && (x.tool.Annotations.ReadOnly || x.tool.Annotations.Idempotent) && !x.once
}

// rejected reports whether a person said no to it.
func (x *action) rejected() bool {
	return x.answer != nil && x.answer.Answer == sdk.Reject && x.failed()
}

// waiting reports whether a person has to decide first.
func (x *action) waiting() bool { return !x.ended() && x.entry.State == sdk.StateProposed }

// breaks reports whether this end gives up the rest of the turn: a side effect
// that failed or was refused does, for what follows may build on it. A failed
// read does not, nor does a call of a tool that is not there.
func (x *action) breaks() bool {
	return x.failed() && (x.breaking || x.tool.Name != "" && !x.readOnly())
}

func (x *action) start() { x.started = true }

// refuse ends an action that never ran, with a reason for the model.
func (x *action) refuse(outcome sdk.Outcome, reason string) {
	x.state, x.outcome, x.body = sdk.StateFailed, outcome, strings.ToValidUTF8(reason, "\uFFFD")
	x.result = sdk.ToolResult{Output: x.body, Error: x.body, Outcome: outcome}
}

// interrupt ends an action that was begun and of which nobody knows more. Its
// output so far is kept.
func (x *action) interrupt() {
	x.silent = true
	const unknown = "the daemon ended while this call ran, so what it did is unknown; look before you make it again"
	x.refuse(sdk.Interrupted, unknown)
	if x.entry.Body != "" {
		x.body = x.entry.Body + "\n\n" + unknown
		x.result.Output = x.body
	}
}

// untold reports whether the call may have changed files that its result does
// not tell of.
func (x *action) untold() bool {
	return x.started && !x.readOnly() && (x.result.Untold || x.again || x.silent)
}

// giveUp refuses an action unless it has its end already.
func (x *action) giveUp(outcome sdk.Outcome, reason string) {
	if !x.ended() {
		x.refuse(outcome, reason)
	}
}

// conclude takes over what a call came to.
func (x *action) conclude(r sdk.ToolResult, took time.Duration) {
	x.result, x.took = r, took
	x.body = strings.ToValidUTF8(r.Output, "\uFFFD")
	if r.Success {
		x.state, x.outcome = sdk.StateResolved, ""
		return
	}
	x.state, x.outcome = sdk.StateFailed, r.Outcome
	if x.outcome == "" {
		x.outcome = sdk.Internal
	}
	if x.body == "" {
		x.body = strings.ToValidUTF8(r.Error, "\uFFFD")
	}
}

// longArguments is the length from which arguments are stored once, with the
// answer that the call is part of.
const longArguments = 1 << 10

// refersTo is where an answer that is recorded with the action holds its
// arguments, the very bytes; empty when it does not, or they are short.
func (x *action) refersTo() string {
	if x.loop == 0 || x.parent != "" || x.changed || len(x.arguments) < longArguments || strings.TrimSpace(x.call.Raw) != string(x.arguments) {
		return ""
	}
	return fmt.Sprintf("%s#/calls/%d/arguments", sdk.ReplyPath(x.turn), x.index)
}

// recorded is what the action's entry holds of the call and of what was decided.
func (x *action) recorded() sdk.Action {
	a := sdk.Action{ActionCall: sdk.ActionCall{
		CallID: x.call.ID, Parent: x.parent, Tool: x.call.Tool, Index: x.index, Plugin: x.tool.Plugin, Digest: x.tool.Digest, Arguments: x.arguments,
	}}
	if x.arguments == nil {
		a.Arguments = encode(x.call.Raw)
	}
	if x.changed {
		a.Changed = string(x.arguments)
	}
	if x.decision.Verdict != "" {
		a.Decision = &x.decision
	}
	return a
}

// adopt takes over arguments that a recording filter changed, and reports
// whether they can be used at all.
func (x *action) adopt(before, after json.RawMessage) bool {
	if bytes.Equal(before, after) {
		return true
	}
	var changed struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(after, &changed) != nil || len(changed.Arguments) == 0 || changed.Arguments[0] != '{' {
		return false
	}
	x.arguments, x.changed = changed.Arguments, true
	return true
}

// recordWrite is the action's first write: as it is recorded, started, or
// refused already.
func (x *action) recordWrite() sdk.Write {
	at := x.recorded()
	if place := x.refersTo(); place != "" {
		at.Arguments, at.Refers = nil, map[string]string{"arguments": place}
	}
	w := sdk.Write{
		Path: x.path, Create: true, Writer: sdk.WriterSystem, Loop: x.loop, Turn: x.turn,
		State: sdk.StateStreaming, Phase: sdk.PhaseRecorded,
	}
	switch {
	case x.ended():
		w.State, w.Outcome, w.Phase, w.Body = x.state, x.outcome, sdk.PhaseEnded, &x.body
		at.Error = x.result.Error
	case x.started:
		w.Phase = sdk.PhaseStarted
	}
	w.Attributes = encode(at)
	return w
}

func (x *action) startWrite() sdk.Write {
	w := sdk.Write{Path: x.path, Writer: sdk.WriterSystem, Expect: x.entry.Phase, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Loop: x.loop, Turn: x.turn}
	if x.decided {
		w.Attributes = encode(map[string]any{"decision": replacing(x.decision)})
		x.decided = false
	}
	return w
}

// endWrite finalises the action's entry: it is its own outcome.
func (x *action) endWrite() sdk.Write {
	var at struct {
		sdk.ActionEnd
		Decision map[string]any `json:"decision,omitempty"`
	}
	at.ActionEnd = sdk.ActionEnd{
		Metadata: withoutCopies(x.result.Metadata, x.body), Structured: x.result.Structured, Truncated: x.result.Truncated,
		Error: x.result.Error, DurationMS: new(x.took.Milliseconds()), Untold: x.untold(),
	}
	if x.decided {
		at.Decision = replacing(x.decision)
	}
	return sdk.Write{
		Path: x.path, Writer: sdk.WriterSystem, Expect: x.entry.Phase, Phase: sdk.PhaseEnded, State: x.state, Outcome: x.outcome,
		Body: &x.body, Attributes: encode(at), Loop: x.loop, Turn: x.turn,
	}
}

// withoutCopies leaves out long texts that the body holds too, such as a
// command's output, so that nothing is stored twice.
func withoutCopies(metadata map[string]any, body string) map[string]any {
	const short = 256
	if len(metadata) == 0 {
		return metadata
	}
	kept := make(map[string]any, len(metadata))
	for k, v := range metadata {
		if s, ok := v.(string); ok && len(s) > short && strings.Contains(body, s) {
			continue
		}
		kept[k] = v
	}
	return kept
}

// committed takes note of the entry as a commit left it.
func (x *action) committed(entry sdk.Entry) {
	x.entry = entry
	x.closed = x.ended()
}

// actionPath is the action's path, unique in its turn. Only letters,
// digits and a few signs are in it, whatever the model wrote, and no secret.
func actionPath(turn int, call sdk.ReadCall, taken map[string]bool, redact func(string) string) string {
	tool := safe(redact(call.Tool), 64)
	if tool == "" || redact(tool) != tool || tool == sdk.ErrorTool {
		tool = "unknown"
	}
	base := slug(call.Arguments, redact)
	path := sdk.ActionPath{Turn: turn, Tool: tool, Slug: base}
	for n := 2; taken[path.String()]; n++ {
		path.Slug = fmt.Sprintf("%s_%d", base, n)
	}
	taken[path.String()] = true
	return path.String()
}

// telling are arguments that say in a word what a call is about. A command is
// none of them, nor other free text or an address: each may hold a secret, which
// nobody would know again, to redact it, once it is cut and made fit for a path.
var telling = []string{"path", "source", "name"}

func slug(arguments json.RawMessage, redact func(string) string) string {
	var object map[string]any
	if json.Unmarshal(arguments, &object) == nil {
		for _, key := range telling {
			if s, ok := object[key].(string); ok {
				if s = strings.Trim(safe(redact(s), 40), "._-"); s != "" && redact(s) == s {
					return s
				}
			}
		}
	}
	return "call"
}

// safe keeps what may stand in a path as it is; anything else becomes one "_".
func safe(text string, most int) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= most {
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			b.WriteRune(r)
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "_") {
				b.WriteByte('_')
			}
		}
	}
	return strings.TrimRight(b.String(), "_")
}
