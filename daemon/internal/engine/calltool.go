package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// ToolCall is a call that no model made. Without a run it goes into the
// project's implicit one.
type ToolCall struct {
	Project   string
	Run       string // alias of a run that exists
	Tool      string // bare or qualified name
	Arguments json.RawMessage
	Model     string     // that plugins ask who name none; the run's when empty
	Approved  bool       // whoever calls may approve what would have to be proposed
	Origin    sdk.Origin // of whoever calls: a channel does so in runs of that alone; zero is whoever works at this machine
	Join      bool       // the model of the run reads it, as what the person did
	Offline   bool       // for a prompt of an agent that reaches no network, or of a run that does not
	verb      string     // Tool is one of the verbs, and the call changes a file
}

// ToolDone is how a tool call ended. A call that was refused or failed is a
// result too: Result.Success is false.
type ToolDone struct {
	Run    sdk.Run
	Entry  sdk.Entry
	Result sdk.ToolResult
}

// CallTool makes one call on the path of all actions: read, recorded, judged,
// dispatched, in a turn of its own. It costs two durable commits: the turn with
// the action started, and the action's end with the turn closed; a call that is
// refused costs one. It ends soon after ctx does.
func (e *Engine) CallTool(ctx context.Context, c ToolCall) (ToolDone, error) {
	leave, err := e.enter()
	if err != nil {
		return ToolDone{}, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.base, func() { cancel(context.Cause(e.base)) })()

	a, err := e.toolRun(ctx, c)
	if err != nil {
		return ToolDone{}, err
	}
	b, giveBack := e.book(a.run.ID)
	defer giveBack()
	receipt, err := e.beginCall(ctx, a, b, c)
	if err != nil {
		return ToolDone{}, fmt.Errorf("record the call: %w", err)
	}
	x := a.turn.actions[0]
	x.committed(receipt.Entries[0])
	if x.closed() {
		e.cfg.Hooks.EntryCreated.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)})
		result := x.result
		if x.Reason != "" { // whoever calls is no model
			result.Output, result.Error = x.Reason, x.Reason
		}
		return ToolDone{Run: a.run, Entry: x.entry, Result: result}, nil
	}
	failpoint.Hit(failpoint.CallAfter)
	defer func() {
		if x.result.Metadata[sdk.MetadataRunning] == true {
			e.wakeIdle(a.run.ID) // there is no prompt to live for
		}
	}()
	defer e.calling.begin(a.run.ID, x.Path, cancel)()
	for running := a.turn.running(); len(running) > 0; running = a.turn.running() {
		e.runTogether(ctx, a, running)
		if a.turn.unended() {
			return ToolDone{}, sdk.Errorf(sdk.Interrupted, "the daemon stopped while the call ran; what it did is unknown")
		}
		if err := e.endCall(ctx, a); err != nil {
			return ToolDone{}, fmt.Errorf("the call ended, and its end could not be recorded: %w", err)
		}
	}
	result := x.result
	for _, f := range a.turn.queue()[1:] {
		result.Output += "\n\n" + f.Remark()
	}
	result.Follow = nil // it was made, or refused
	return ToolDone{Run: a.run, Entry: x.entry, Result: result}, nil
}

// endCall records the ends of what ran, with what its results asked for: that begins, or
// is refused. With nothing more to run the turn is closed.
func (e *Engine) endCall(ctx context.Context, a *activeLoop) error {
	t := a.turn
	over := t.unclosed()
	fresh := e.followUps(ctx, a)
	var begun []sdk.Write
	for _, f := range fresh {
		f.start()
		begun = append(begun, f.recordWrite())
	}
	receipt, err := e.commitEnds(e.base, happened, a, over, func() sdk.Change {
		change := sdk.Change{Run: a.run.ID}
		for _, x := range over {
			change.Writes = append(change.Writes, x.endWrite())
		}
		change.Writes = slices.Concat(change.Writes, begun, changeWrites(over), entryWrites(over), outputWrites(fresh), outputEnds(over))
		if !t.unended() {
			change.CloseTurn = t.closing()
		}
		return change
	})
	if err != nil {
		return err
	}
	paths, _ := touched(over) // the next prompt looks at the rest
	e.lookAgain(context.WithoutCancel(ctx), a, paths, false)
	for i, x := range slices.Concat(over, fresh) {
		if x.committed(receipt.Entries[i]); x.closed() {
			e.tellOver(context.WithoutCancel(ctx), a, x)
		}
	}
	return nil
}

// toolRun finds the run of a call, and makes the project's implicit one when
// it is not there.
func (e *Engine) toolRun(ctx context.Context, c ToolCall) (*activeLoop, error) {
	a := &activeLoop{agent: sdk.Agent{Name: toolsAlias}, mode: e.callMode(), approved: c.Approved, joins: c.Join}
	a.loop.Model = c.Model
	var err error
	if a.project, err = e.openProject(ctx, c.Project); err != nil {
		return nil, err
	}
	implicit := toolsAliasOf(c.Origin)
	alias := cmp.Or(c.Run, implicit)
	if a.run, err = e.findRun(ctx, a.project.ID, alias); err != nil {
		return nil, err
	}
	if err := reaches(c.Origin, a.run); err != nil {
		return nil, err
	}
	switch {
	case a.run.ID == 0 && alias != implicit:
		return nil, sdk.Errorf(sdk.NotFound, "there is no run called %s in this project; `bothy runs list` shows what there is", alias)
	case a.run.ID == 0:
		if a.run, err = e.ensureRun(ctx, placed{project: a.project, agent: a.agent}, Submission{Run: implicit, Origin: c.Origin}); err != nil {
			return nil, err
		}
	}
	a.run.Offline = a.run.Offline || c.Offline
	a.agent.MCP = serverOf(c.Tool)
	if c.verb != "" {
		a.agent.Tools = []string{"*", c.verb}
	}
	for _, server := range a.agent.MCP {
		a.barred = e.forbiddenCall(a, c, server)
	}
	if a.barred == nil {
		e.gather(ctx, a)
	}
	e.takeTools(ctx, a)
	return a, nil
}

// serverOf is the server of MCP that a call is for, which alone is started for it.
func serverOf(tool string) []string {
	rest, is := strings.CutPrefix(tool, sdk.MCPPrefix)
	if server, _, whole := strings.Cut(rest, "__"); is && whole {
		return []string{server}
	}
	return []string{}
}

// beginCall makes the first commit. It waits for whoever keeps the run still,
// such as a deletion, after which there is no run to make a folder for. A store
// that takes no writes refuses the call at once: nothing has happened yet.
func (e *Engine) beginCall(ctx context.Context, a *activeLoop, b *book, c ToolCall) (sdk.Receipt, error) {
	b.submit.RLock()
	defer b.submit.RUnlock()
	dir := e.runDir(a.run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return sdk.Receipt{}, sdk.Errorf(sdk.Unavailable, "make the run's folder: %w", err)
	}
	reading := e.cfg.Dialects[sdk.DialectTools].Read(sdk.Completion{Calls: []sdk.Call{{ID: "call_1", Tool: c.Tool, Arguments: string(c.Arguments)}}}, nil)
	receipt, err := e.openTurn(ctx, b, a.run.ID, once, func(n int) (sdk.Change, error) { return e.recordCall(ctx, a, n, reading), nil })
	if sdk.OutcomeOf(err) == sdk.NotFound { // the run was deleted meanwhile
		_ = os.Remove(dir) // which is empty then
	}
	return receipt, err
}

// recordCall is the first commit: the turn, and the action as started or as
// refused. A refused one closes its turn at once.
func (e *Engine) recordCall(ctx context.Context, a *activeLoop, n int, reading sdk.Reading) sdk.Change {
	t := &turn{began: time.Now(), row: sdk.Turn{Run: a.run.ID, Sequence: n}, reading: reading}
	a.turn = t
	t.actions = e.actions(ctx, a, reading.Calls)
	for _, x := range e.group(t) {
		x.start()
	}
	change := sdk.Change{Run: a.run.ID, OpenTurn: &t.row, Writes: []sdk.Write{t.actions[0].recordWrite()}}
	if t.actions[0].ended() {
		change.CloseTurn = t.closing()
	}
	return change
}
