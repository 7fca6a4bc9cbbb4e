package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/daemon/internal/reply"
	"github.com/bothyd/bothy/sdk"
)

// action is one call on its way from record to its end. Its sdk.Action is what
// the store holds of it, or will with its next write: there is no other state
// (state.go). Arguments are in it to the byte.
type action struct {
	sdk.Action
	entry sdk.Entry     // as last committed, or read
	anew  *sdk.Decision // takes the place of the recorded one with the next write
	cause cause         // of an end that this daemon gave it

	call    sdk.ReadCall  // as the model wrote it
	answer  string        // that it is part of
	tool    sdk.Tool      // as policy knows it; its zero value when there is none of that name
	own     sdk.TurnTools // that runs it; nil for a plugin's tool
	stands  *standIn      // of a verb that stands for a plugin's tool
	fault   error         // why the call cannot be made at all
	project string
	folder  string     // of a private run: where its tools work in the place of the project
	until   time.Time  // the call has to end by then; zero where nothing but its own limit says so
	recheck bool       // policy is asked again before it starts, for time has passed
	child   *sdk.Child // that begins when it starts; nil of one that does not delegate, or has
	again   bool       // an earlier daemon had begun the call already
	lone    bool       // it gives out a task of a team, on which the others do not build
	strict  bool       // its model wrote the whole turn before it knew anything: any failure gives up the rest
	result  sdk.ToolResult
	rest    []sdk.Write // what a command printed and that is not committed yet
	printed *[2]string  // what it printed in all, by channel, where that is known
	marks   *sdk.Write  // the mark of its run, which the commit of its end writes; see Engine.mark
	outside outside     // what its plugin read on its way that came from outside
	accepts atomic.Bool // a person accepted what its plugin asked on its way
	behind  *action     // the call that its result asked for
	took    time.Duration
	ends    int // the status with which it ends the loop; 0 is that of any terminal call
}

// files is the folder that the action works in: that of the project or, of a private run, its own.
func (x *action) files() string { return cmp.Or(x.folder, x.project) }

// touchesEntries reports whether the call is one of the verbs on entries: planned, and made by
// the commit that records its end.
func (x *action) touchesEntries() bool { return x.own != nil && x.tool.Entries }

// readOnly reports whether the call has no side effects, on the word of a
// pinned plugin. That of one that delegates are those of its child.
func (x *action) readOnly() bool {
	return x.tool.Pinned && x.tool.Annotations.ReadOnly && !x.delegates()
}

// plugged reports whether a plugin made the call, and waits for it.
func (x *action) plugged() bool { return x.Parent != "" && !x.Follows }

// repeatable reports whether a call that was begun may be made again, on the
// word of a pinned plugin: it has no side effects, or none the second time.
func (x *action) repeatable() bool {
	return x.tool.Pinned && (x.tool.Annotations.ReadOnly || x.tool.Annotations.Idempotent)
}

// breaks reports whether this end gives up the rest of the turn: a side effect
// that failed or was refused does, for what follows may build on it, and so does
// whatever a person or a guard turned down. A failed read does not, nor does a
// call of a tool that is not there, nor a task of a team that comes to nothing:
// no model is asked to give out the rest of them again. Where calls stand in the
// text any failure does (decision 126).
func (x *action) breaks() bool {
	return x.failed() && (x.strict || x.turnedDown() || x.tool.Name != "" && !x.readOnly() && !x.touchesEntries() && (!x.lone || x.rejected()))
}

// untold reports whether the call may have changed files that its result does
// not tell of.
func (x *action) untold() bool {
	return !x.readOnly() && !x.touchesEntries() && !x.delegates() && (x.cause == unknown || x.cause == concluded && (x.result.Untold || x.again))
}

// use puts other arguments in the place of those that there are, to the byte.
func (x *action) use(arguments json.RawMessage) {
	x.Arguments, x.Changed = arguments, string(arguments)
}

// declared is the name of the action's tool as hooks know it: that which its plugin
// declares, whichever block it is of and whichever name the model wrote.
func (x *action) declared() string { return cmp.Or(x.tool.Declared, x.tool.Name, x.Tool) }

// recorded is what the action's entry holds of the call and of what was decided.
func (x *action) recorded() sdk.Action {
	a := sdk.Action{ActionCall: x.ActionCall, Decision: x.Decision}
	a.Plugin, a.Digest, a.Refers = x.tool.Plugin, x.tool.Digest, nil
	if a.Declared = x.declared(); a.Declared == a.Tool {
		a.Declared = ""
	}
	a.Live = x.tool.Pinned && x.tool.Annotations.Live
	a.OpenWorld = a.OpenWorld || x.tool.Annotations.OpenWorld
	a.Keeps = a.Keeps || x.tool.Keeps
	if x.anew != nil {
		a.Decision = x.anew
	}
	if a.Arguments == nil {
		a.Arguments = encode(x.call.Raw)
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
	x.use(changed.Arguments)
	return true
}

// recordWrite is the action's first write: as it is recorded, started, or
// refused already.
func (x *action) recordWrite() sdk.Write {
	at := x.recorded()
	if x.Loop != 0 && x.Parent == "" && x.Changed == "" {
		at.Arguments, at.Refers = reply.Refer(x.Turn, x.Index, x.answer, x.call, at.Arguments)
	}
	w := sdk.Write{
		Path: x.Path, Create: true, Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn,
		State: sdk.StateStreaming, Phase: sdk.PhaseRecorded,
	}
	switch {
	case x.ended():
		w.State, w.Outcome, w.Phase, w.Body = x.State, x.Outcome, x.Phase, &x.Body
		at.Error, at.Reason = x.result.Error, x.Reason
	case x.Phase == sdk.PhaseStarted:
		w.Phase = x.Phase
	}
	w.Attributes = encode(at)
	return w
}

func (x *action) startWrite() sdk.Write {
	w := sdk.Write{Path: x.Path, Writer: sdk.WriterSystem, Expect: x.entry.Phase, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Loop: x.Loop, Turn: x.Turn}
	if x.anew != nil {
		w.Attributes = encode(map[string]any{"decision": proposal.Replacing(*x.anew)})
	}
	return w
}

// endAttributes are what the end of an action writes into its entry.
type endAttributes struct {
	sdk.ActionEnd
	Decision map[string]any    `json:"decision,omitempty"`
	Answer   *sdk.ActionAnswer `json:"answer,omitempty"` // of a person, to a call of its child
}

// endWrite finalises the action's entry: it is its own outcome.
func (x *action) endWrite() sdk.Write {
	var at endAttributes
	at.ActionEnd = sdk.ActionEnd{
		Metadata: withoutCopies(x.result.Metadata, x.Body), Structured: x.result.Structured, Truncated: x.result.Truncated,
		Error: x.result.Error, Reason: x.Reason, DurationMS: new(x.took.Milliseconds()), Untold: x.untold(),
		Told: x.result.Told && !x.untold(), Instructions: x.Instructions,
	}
	if x.behind == nil && !x.Follows { // else that is recorded now or already
		at.Follow = x.result.Follow
	}
	if x.anew != nil {
		at.Decision = proposal.Replacing(*x.anew)
	}
	if x.Child != nil {
		at.Answer = x.Answer
	}
	return sdk.Write{
		Path: x.Path, Writer: sdk.WriterSystem, Expect: x.entry.Phase, Phase: sdk.PhaseEnded, State: x.State, Outcome: x.Outcome,
		Body: &x.Body, Attributes: encode(at), Loop: x.Loop, Turn: x.Turn,
	}
}

// changeWrites are the entries of what ended actions changed: change://turn_N/...
// beside log://turn_N/..., with the list as the body, or where that is kept.
func changeWrites(over []*action) []sdk.Write {
	var writes []sdk.Write
	for _, x := range over {
		if len(x.result.Changes) == 0 && x.result.ChangesKept == "" {
			continue
		}
		path, _ := sdk.ParseActionPath(x.Path) // which actionpath.Of made
		w := sdk.Write{Path: path.Changes(), Writer: sdk.WriterSystem, State: sdk.StateResolved, Loop: x.Loop, Turn: x.Turn}
		text := "[]"
		if x.result.ChangesKept != "" {
			w.Attributes = encode(map[string]string{"kept": x.result.ChangesKept})
		} else {
			text = string(encode(x.result.Changes))
		}
		w.Body = &text
		writes = append(writes, w)
	}
	return writes
}

// endWrites finalise actions, each in its place, and keep what they changed.
func endWrites(over []*action) []sdk.Write {
	var writes []sdk.Write
	for _, x := range over {
		writes = append(writes, x.endWrite())
	}
	return slices.Concat(writes, changeWrites(over), entryWrites(over), outputEnds(over))
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
