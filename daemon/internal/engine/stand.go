package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// A verb on the path of a file stands for a call of the files plugin: it is judged, proposed, shown, made, settled and taken
// back as that. What is recorded, and what a person answers, is the verb's call as it was written (decision 91).

// standIn is the verb of an action that stands for a call of a plugin.
type standIn struct {
	tools sdk.TurnTools // of which it is one
	verb  string
	of    json.RawMessage // the arguments that meant are of
	file  sdk.FileCall
	stays bool // the entry that was moved to a file does not go
}

// stand has an action stand for the call of a plugin that its verb means, if it means one.
func (e *Engine) stand(a *activeLoop, x *action) {
	if !x.touchesEntries() || len(x.Arguments) == 0 {
		return
	}
	f, is, err := x.own.File(x.tool.Name, x.Arguments)
	if !is {
		return
	}
	x.stands = &standIn{tools: x.own, verb: x.tool.Name, of: x.Arguments, file: f}
	x.own = nil
	var missing error
	x.tool, missing = e.toolOf(a, f.Plugin, f.Tool)
	if x.fault == nil {
		x.fault = cmp.Or(missing, err)
	}
}

// toolOf is a tool of one plugin by the name that it declares. An agent that may use the verb may use what it stands
// for, unless the run was given without it or the agent's file holds it back.
func (e *Engine) toolOf(a *activeLoop, plugin, name string) (sdk.Tool, error) {
	if slices.Contains(a.agent.Excluded, name) {
		return sdk.Tool{}, sdk.Errorf(sdk.Permission, "the run %s was given without %q", a.run.Alias, name)
	}
	if a.agent.Withholds(name) {
		return sdk.Tool{}, sdk.Errorf(sdk.Permission, "agent %q may not use %q", a.agent.Name, name)
	}
	for _, t := range e.cfg.Tools.Tools() {
		if t.Plugin == plugin && cmp.Or(t.Declared, t.Name) == name && !t.Unlisted && !t.People {
			return t, nil
		}
	}
	return sdk.Tool{}, e.noTool(plugin+"__"+name, nil)
}

// fill puts into the arguments of a fresh call the text of an entry that it takes to a file.
func (e *Engine) fill(ctx context.Context, x *action, before []*action) {
	verb := sdk.Verb(x.tool.Name)
	if !x.touchesEntries() || x.fault != nil || verb != sdk.VerbCopy && verb != sdk.VerbMove {
		return
	}
	var calls []sdk.Invocation
	for _, b := range before {
		switch {
		case b.ended():
		case b.touchesEntries():
			calls = append(calls, sdk.Invocation{Tool: b.tool.Name, Arguments: b.Arguments})
		case b.stands != nil:
			calls = append(calls, sdk.Invocation{Tool: b.stands.verb, Arguments: b.Arguments})
		}
	}
	filled, err := settle(ctx, e, "reading what a verb copies", func() (json.RawMessage, error) {
		return x.own.Fill(ctx, calls, sdk.Invocation{Tool: x.tool.Name, Arguments: x.Arguments})
	})
	if err != nil {
		x.fault = err
	} else if filled != nil {
		x.use(filled)
	}
}

// verb is the one by which the action was called; empty when its tool was.
func (x *action) verb() string {
	if x.stands == nil {
		return ""
	}
	return x.stands.verb
}

// meant are the arguments of the tool that runs.
func (x *action) meant() json.RawMessage {
	s := x.stands
	if s == nil {
		return x.Arguments
	}
	if !bytes.Equal(s.of, x.Arguments) {
		s.of = x.Arguments
		if f, is, err := s.tools.File(s.verb, x.Arguments); is && err == nil && f.Tool == s.file.Tool {
			s.file = f
		} else { // the tool refuses them
			s.file = sdk.FileCall{Plugin: s.file.Plugin, Tool: s.file.Tool, Arguments: x.Arguments}
		}
	}
	return s.file.Arguments
}

// told is an entry of the action as hooks know it: the arguments are those of the tool that they are told.
func (x *action) told(entry sdk.Entry) sdk.Entry {
	if x.stands == nil {
		return entry
	}
	var at map[string]json.RawMessage
	if json.Unmarshal(entry.Attributes, &at) != nil || at == nil {
		return entry
	}
	at["arguments"] = x.meant()
	delete(at, "changed")
	delete(at, "refers")
	entry.Attributes = encode(at)
	return entry
}

// moved reports whether an entry goes with the end of the action, because its text is in a file now.
func (x *action) moved() bool {
	return x.stands != nil && !x.stands.stays && x.stands.file.Moves != "" && x.State == sdk.StateResolved && !x.closed()
}

// leaveMoved plans that entries go which calls moved to files. One that was changed meanwhile stays. It is done to its end
// whatever ends meanwhile, since the files are written.
func (e *Engine) leaveMoved(ctx context.Context, over []*action) {
	ctx = context.WithoutCancel(ctx)
	for _, x := range which(over, (*action).moved) {
		if x.result.Writes != nil {
			continue
		}
		left, err := settle(ctx, e, "planning verbs on entries", func() (sdk.ToolResult, error) {
			return x.stands.tools.Plan(ctx, []sdk.Invocation{{Tool: x.stands.verb, Arguments: x.Arguments}})[0], nil
		})
		switch {
		case err != nil:
			x.stay(err)
		case !left.Success:
			x.stay(sdk.Errorf(left.Outcome, "%s", left.Error))
		default:
			x.result.Writes = left.Writes
		}
	}
}

// stay leaves the entry that the action moved to a file where it is, and says so.
func (x *action) stay(err error) {
	x.stands.stays, x.result.Writes = true, nil
	x.Body += "\n" + x.stands.file.Moves + " stays: " + err.Error()
}

// useFile makes the call of the files plugin that a client's verb stands for, as CallTool makes one.
func (e *Engine) useFile(ctx context.Context, approved bool, run sdk.Run, c sdk.EntryCall) (sdk.EntryDone, error) {
	project, err := e.cfg.Store.Project(ctx, run.Project)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	arguments, err := c.Arguments()
	if err != nil {
		return sdk.EntryDone{}, err
	}
	verb := string(c.Verb)
	done, err := e.CallTool(ctx, ToolCall{Project: project.Root, Run: run.Alias, Tool: verb, Arguments: arguments, Approved: approved, Origin: run.Origin, verb: verb})
	switch {
	case err != nil:
		return sdk.EntryDone{}, err
	case !done.Result.Success:
		return sdk.EntryDone{}, sdk.Errorf(cmp.Or(done.Entry.Outcome, sdk.Internal), "%s", cmp.Or(done.Result.Error, done.Entry.Body))
	}
	var told struct {
		Overwritten bool `json:"overwritten"`
	}
	_ = json.Unmarshal(done.Result.Structured, &told) // of a copy or a move alone
	return sdk.EntryDone{Text: done.Entry.Body, Overwrote: told.Overwritten}, nil
}
