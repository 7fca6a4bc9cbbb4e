package builtin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// verbSpecs are the verbs as models know them.
var verbSpecs = []sdk.Tool{
	verbSpec(sdk.VerbSet, "Creates or changes an entry: what you know is known://NAME, a question that is open is unknown://NAME. With a body the entry is that text, and in sight. Without one only what you name changes, also for all entries that a pattern fits. A path without a scheme is a file of the project, which is made, or gets the body as its whole text.",
		`"path":{"type":"string","description":"SCHEME://NAME; a pattern, as known://plan/**; or a file"},`+
			`"body":{"type":"string","description":"the whole text; or an edit of what is there, as <<SEARCH old SEARCH<<REPLACE new REPLACE, <<DELETE old DELETE or <<APPEND text APPEND; with append the text that goes behind what is there"},`+
			`"append":{"type":"boolean"},`+
			`"summary":{"type":"string","description":"what it is about, in 80 characters, for when the text is out of sight"},`+
			visibilityProperty+`,`+
			`"state":{"type":"string","enum":["resolved","failed","cancelled"]},`+
			`"outcome":{"type":"string","description":"why it failed or was cancelled, in a word"},`+
			`"attributes":{"type":"object","description":"merged into those that are there; null removes one"},`+
			`"pattern":{"type":"boolean","description":"with a body: path is a pattern, and all that fit get this body"},`+
			filterProperty, `"path"`, sdk.Annotations{Idempotent: true}),
	verbSpec(sdk.VerbGet, "Reads an entry or a file and keeps it in sight, or at the visibility that is named; with a pattern all that fit. With line and limit only those lines are read, and with preview the entries are only listed: then nothing changes.",
		`"path":{"type":"string","description":"SCHEME://NAME, or a file of the project, as src/main.go; or a pattern, as known://** or src/**"},`+
			`"line":{"type":"integer","description":"the first line to read; -1 is the last one, -20 the 20th from the end"},`+
			`"limit":{"type":"integer","minimum":1,"description":"how many lines"},`+
			`"preview":{"type":"boolean","description":"list what fits and read nothing"},`+
			visibilityProperty+`,`+filterProperty, `"path"`, sdk.Annotations{ReadOnly: true, Idempotent: true}),
	verbSpec(sdk.VerbRemove, "Removes an entry, or all that a pattern fits; or a file of the project.",
		`"path":{"type":"string","description":"SCHEME://NAME; a pattern; or a file"},`+
			`"preview":{"type":"boolean","description":"list what would be removed and remove nothing"},`+filterProperty, `"path"`, sdk.Annotations{Idempotent: true}),
	verbSpec(sdk.VerbCopy, "Copies an entry to another path or into a file, or a file to another, over what is there.", pathsProperties, `"path"`, sdk.Annotations{Idempotent: true}),
	verbSpec(sdk.VerbMove, "Gives an entry or a file another path, or puts an entry into a file in its place, over what is there. With a visibility and no destination all that path fits only gets that.", pathsProperties, `"path"`, sdk.Annotations{Idempotent: true}),
	verbSpec(sdk.VerbUpdate, "Says how far the work has come. The status 102 goes on; 200 ends the work as done, with the body as the answer; 204 ends it with nothing to tell; 422 ends it because it cannot be done.",
		`"body":{"type":"string","description":"what was done and what is next, or the answer"},`+
			`"status":{"type":"integer","enum":[102,200,204,422],"description":"102 when left out"}`, `"body"`, sdk.Annotations{Idempotent: true}),
}

const (
	visibilityProperty = `"visibility":{"type":"string","enum":["visible","summarized","archived"],"description":"the whole text in sight, its summary, or nothing"}`
	filterProperty     = `"filter":{"type":"string","description":"a pattern: only entries whose text has it"}`
	pathsProperties    = `"path":{"type":"string","description":"SCHEME://NAME, or a file, of what is there"},"to":{"type":"string","description":"SCHEME://NAME, or a file, where it shall be"},` + visibilityProperty
)

func verbSpec(verb sdk.Verb, description, properties, required string, annotations sdk.Annotations) sdk.Tool {
	return sdk.Tool{
		ToolSpec: sdk.ToolSpec{
			Name: string(verb), Description: description, Annotations: annotations,
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`),
		},
		Plugin: Plugin, Pinned: true, Entries: true, Named: true,
	}
}

// verbTool is one of the verbs.
type verbTool struct {
	verbs *Verbs
	spec  sdk.Tool
}

// take implements tool. A verb is offered to an agent that names it.
func (v verbTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Admits == nil || !t.Admits(v.spec) {
		return nil, nil
	}
	writer := sdk.WriterModel
	if t.Loop.ID == 0 {
		writer = sdk.WriterClient
	}
	return verbTurn{v, sdk.EntryUse{Run: t.Run, Writer: writer, Loop: t.Loop.ID, Turn: t.Run.Turns}}, nil
}

// verbTurn is a verb for one turn.
type verbTurn struct {
	verbTool
	use sdk.EntryUse
}

func (v verbTurn) tool() sdk.Tool                             { return v.spec }
func (v verbTurn) system() string                             { return "" }
func (v verbTurn) once(context.Context, json.RawMessage) bool { return false }

// invoke is for whoever makes one call; see turn.Plan.
func (v verbTurn) invoke(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
	return turn{v}.Plan(ctx, []sdk.Invocation{call})[0], nil
}

// call reads the arguments of a model, and what is added to those that it may write. Names are taken as they are written: policy
// judges what it finds under the very name.
func (v verbTurn) call(arguments json.RawMessage, added ...string) (sdk.EntryCall, error) {
	var c sdk.EntryCall
	var names map[string]json.RawMessage
	err := sdk.ReadJSON(arguments, &c)
	if err == nil {
		err = json.Unmarshal(arguments, &names)
	}
	if err != nil {
		return c, sdk.Errorf(sdk.Validation, "the arguments of %s cannot be read: %w", v.spec.Name, err)
	}
	c.Verb = sdk.Verb(v.spec.Name)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(takes[c.Verb], name) && !slices.Contains(added, name) {
			return c, takesNone(c.Verb, name)
		}
	}
	return c, nil
}

// Ends implements sdk.TurnTools.
func (t turn) Ends(name string, arguments json.RawMessage) int {
	v, err := t.verb(name)
	if err != nil {
		return 0
	}
	c, err := v.call(arguments)
	if err != nil || c.Verb != sdk.VerbUpdate || c.Status == sdk.StatusRunning {
		return 0
	}
	if _, err := t.find(sdk.ToolFinish); err == nil && c.Status != sdk.StatusUnable {
		return 0 // it is done when its result is handed over
	}
	return c.Status
}

// Plan implements sdk.TurnTools.
func (t turn) Plan(ctx context.Context, calls []sdk.Invocation) []sdk.ToolResult {
	results := make([]sdk.ToolResult, len(calls))
	var by verbTurn
	var verbs []sdk.EntryCall
	var at []int // where the result of each verb stands
	for i, call := range calls {
		v, err := t.verb(call.Tool)
		var c sdk.EntryCall
		if err == nil {
			if f, is, err := t.File(call.Tool, call.Arguments); is {
				results[i] = v.leave(ctx, f, call.Arguments, err)
				continue
			}
			if c, err = v.call(call.Arguments); err == nil {
				err = t.unfinished(c)
			}
		}
		if err != nil {
			results[i] = sdk.Failed(err)
			continue
		}
		by, verbs, at = v, append(verbs, c), append(at, i)
	}
	if len(verbs) == 0 {
		return results
	}
	for n, p := range by.verbs.Plan(ctx, by.use, verbs) {
		if p.Err != nil {
			results[at[n]] = sdk.Failed(p.Err)
			continue
		}
		results[at[n]] = sdk.ToolResult{Success: true, Output: p.Done.Text, Writes: p.Writes, Metadata: metadataOf(p.Done)}
		if p.Foreign {
			results[at[n]].Metadata[sdk.MetadataForeign] = true
		}
		if p.InSight {
			results[at[n]].Metadata[sdk.MetadataInSight] = true
		}
	}
	return results
}

// unfinished refuses to call the work done where its result has to be handed over.
func (t turn) unfinished(c sdk.EntryCall) error {
	if c.Verb != sdk.VerbUpdate || c.Status != sdk.StatusOK && c.Status != sdk.StatusNoContent {
		return nil
	}
	if _, err := t.find(sdk.ToolFinish); err != nil {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "the work is done when its result is handed over: call %s with it in the place of this update", sdk.ToolFinish)
}

// leave is what a call comes to in entries whose file is written already.
func (v verbTurn) leave(ctx context.Context, f sdk.FileCall, arguments json.RawMessage, err error) sdk.ToolResult {
	r := sdk.ToolResult{Success: true}
	if err == nil && f.Moves != "" {
		var body *string
		if _, body, err = v.filled(arguments); err == nil {
			r.Writes, err = v.verbs.leave(ctx, v.use, f.Moves, *body)
		}
	}
	if err != nil {
		return sdk.Failed(err)
	}
	return r
}

func (t turn) verb(name string) (verbTurn, error) {
	x, err := t.find(name)
	if err != nil {
		return verbTurn{}, err
	}
	v, is := x.(verbTurn)
	if !is {
		return verbTurn{}, sdk.Errorf(sdk.Internal, "%s is no verb", name)
	}
	return v, nil
}

// metadataOf is what an action's entry holds of a verb.
func metadataOf(d sdk.EntryDone) map[string]any {
	m := map[string]any{"entries": len(d.Entries) + d.More}
	if d.Overwrote {
		m["overwrote"] = true
	}
	if d.Left > 0 {
		m["left"] = d.Left
	}
	return m
}
