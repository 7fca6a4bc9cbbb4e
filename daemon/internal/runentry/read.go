package runentry

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Store is what runs are read from.
type Store interface {
	RunByAlias(ctx context.Context, project int64, alias string) (sdk.Run, error)
	Runs(ctx context.Context, f sdk.RunFilter) ([]sdk.Run, error)
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
}

// The bounds of what a pattern finds.
const (
	mostRuns   = 100    // that get answers with
	mostLooked = 10_000 // whose aliases are compared
	together   = 200    // that are read at a time, each with a persona
)

// Reader reads the runs of one project as entries.
type Reader struct {
	Store   Store
	Project sdk.Project // of ID 0 it has no runs
	Sees    func(sdk.Run) bool
}

// At is what there is at the path of a use. A run that is not seen is an error, as one that keeps the
// calls of tools.
func (r Reader) At(ctx context.Context, path string) (At, error) {
	at := At{Project: r.Project.Root}
	if !Is(path) { // of a use whose destination is a run, which Of refuses
		return at, nil
	}
	run, err := r.find(ctx, Alias(path))
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	loops, err := r.Store.Loops(ctx, run.ID)
	if err != nil {
		return at, err
	}
	at.Known, at.ReadOnly = true, true
	if last := lastOf(loops); last != nil {
		at.ReadOnly = last.ReadOnly
	}
	return at, nil
}

// find is the run of an alias.
func (r Reader) find(ctx context.Context, alias string) (sdk.Run, error) {
	none := sdk.Errorf(sdk.NotFound, "there is no run %s%.80s in this project", scheme, alias)
	if alias == "" || r.Project.ID == 0 {
		return sdk.Run{}, none
	}
	run, err := r.Store.RunByAlias(ctx, r.Project.ID, alias)
	if err != nil {
		return run, err
	}
	if run.Hidden || !r.Sees(run) {
		return run, sdk.Errorf(sdk.Permission, "the run %s is not open to whoever asks", alias)
	}
	return run, nil
}

// Get is get of runs: of one, with its last prompt as the body, or of those whose path a pattern fits, newest
// first and without bodies. Nothing changes by it.
func (r Reader) Get(ctx context.Context, c sdk.EntryCall) (sdk.EntryDone, error) {
	if err := Only(c, "path", "preview"); err != nil {
		return sdk.EntryDone{}, err
	}
	e, err := r.Entry(ctx, Alias(c.Path))
	if err == nil {
		text := headline(e)
		if !c.Preview && e.Body != "" {
			text += "\n" + e.Body
		}
		if c.Preview {
			e.Body = ""
		}
		return sdk.EntryDone{Text: text, Entries: []sdk.Entry{e}}, nil
	}
	pattern, invalid := match.Parse(c.Path)
	switch {
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return sdk.EntryDone{}, err
	case invalid != nil:
		return sdk.EntryDone{}, invalid
	case pattern.Kind() == match.KindLiteral:
		return sdk.EntryDone{}, err
	}
	return r.list(ctx, c.Path, pattern)
}

// list are the runs that a pattern fits.
func (r Reader) list(ctx context.Context, text string, pattern match.Pattern) (sdk.EntryDone, error) {
	var done sdk.EntryDone
	var lines []string
	for offset := 0; r.Project.ID != 0 && offset < mostLooked && len(lines) <= mostRuns; offset += together {
		runs, err := r.Store.Runs(ctx, sdk.RunFilter{Project: r.Project.ID, Children: true, Limit: together, Offset: offset})
		if err != nil {
			return done, err
		}
		for _, run := range runs {
			fits, err := pattern.Match(Path(run.Alias))
			if err != nil {
				return done, err
			}
			if !fits || run.Hidden || !r.Sees(run) {
				continue
			}
			if len(done.Entries) == mostRuns {
				lines = append(lines, fmt.Sprintf("... and older ones: %d are told at once", mostRuns))
				break
			}
			run.Persona = "" // which may be long
			e, err := entry(run, nil)
			if err != nil {
				return done, err
			}
			done.Entries, lines = append(done.Entries, e), append(lines, headline(e))
		}
		if len(runs) < together {
			break
		}
	}
	if len(done.Entries) == 0 {
		return done, sdk.Errorf(sdk.NotFound, "no run of this project fits %s", text)
	}
	done.Text = strings.Join(lines, "\n")
	return done, nil
}

// Entry is a run as an entry.
func (r Reader) Entry(ctx context.Context, alias string) (sdk.Entry, error) {
	run, err := r.find(ctx, alias)
	if err != nil {
		return sdk.Entry{}, err
	}
	loops, err := r.Store.Loops(ctx, run.ID)
	if err != nil {
		return sdk.Entry{}, err
	}
	return entry(run, lastOf(loops))
}

// Done is what a call came to: the run as it is now. result is what its method answers.
func (r Reader) Done(ctx context.Context, result any) sdk.EntryDone {
	name, did, seq := "", "", int64(0)
	switch x := result.(type) {
	case rpc.Accepted:
		name, did, seq = x.Run, fmt.Sprintf("has its prompt %d", x.Sequence), x.Seq
		if x.Ahead > 0 {
			did += fmt.Sprintf(", behind %d others", x.Ahead)
		}
	case rpc.Started:
		name, did = x.Run, "is made"
	case rpc.Aborted:
		name, did = x.Run, "is aborted"
	case rpc.Configured:
		name, did = x.Run, "is configured"
	case rpc.Changed:
		name, did = x.Run, "has its new name"
	}
	done := sdk.EntryDone{Text: Path(name) + " " + did}
	if e, err := r.Entry(ctx, name); err == nil { // what was done is done, also where it cannot be read
		if seq > 0 {
			e.Attributes = with(e.Attributes, "seq", seq)
		}
		done.Entries = []sdk.Entry{e}
	}
	return done
}

// with is an object with one member more.
func with(object json.RawMessage, name string, value any) json.RawMessage {
	var members map[string]any
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	members[name] = value
	text, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return text
}

// lastOf is the newest prompt that was not taken back; nil when there is none.
func lastOf(loops []sdk.Loop) *sdk.Loop {
	for i := len(loops) - 1; i >= 0; i-- {
		if loops[i].Stop != sdk.StopTaken {
			return &loops[i]
		}
	}
	return nil
}

// Attributes are those of a run. Who sets a run names those of the method that it comes to.
type Attributes struct {
	ID       int64         `json:"id"`
	Status   int           `json:"status"` // of the run
	Turn     int           `json:"turn"`   // the last one opened
	Agent    string        `json:"agent"`
	Model    string        `json:"model"`
	Mode     *sdk.AskOrAct `json:"mode,omitempty"`   // of the last prompt
	Prompt   int           `json:"prompt,omitempty"` // the number of the last prompt
	Reason   string        `json:"reason,omitempty"` // why the work on it ended
	ParentID int64         `json:"parent,omitempty"`
	rpc.RunOptions
}

// entry makes an entry of a run and its last prompt.
func entry(run sdk.Run, last *sdk.Loop) (sdk.Entry, error) {
	at := Attributes{ID: run.ID, Status: run.Status, Turn: run.Turns, Agent: run.Agent, Model: run.Model, ParentID: run.Parent, RunOptions: rpc.OptionsOf(run.RunConfig)}
	e := sdk.Entry{
		Path: Path(run.Alias), Visibility: sdk.Visible, Writer: sdk.WriterClient, Scope: fmt.Sprintf("project:%d", run.Project),
		Turn: run.Turns, Version: 1, Created: run.Created, Updated: run.Updated,
	}
	e.State, e.Outcome = stateOf(run.Status)
	if last != nil {
		mode := sdk.AskOrAct(last.ReadOnly)
		at.Mode, at.Prompt, at.Reason, e.Body, e.Loop = &mode, last.Sequence, last.Reason, last.Prompt, last.ID
	}
	var err error
	e.Attributes, err = json.Marshal(at)
	return e, err
}

// stateOf is the state of a run as an entry, from which its number is derived. A run that waits for its first
// prompt to be begun has not ended either.
func stateOf(status int) (sdk.State, sdk.Outcome) {
	switch status {
	case sdk.StatusProposed:
		return sdk.StateProposed, ""
	case sdk.StatusOK:
		return sdk.StateResolved, ""
	case sdk.StatusAborted:
		return sdk.StateCancelled, sdk.Aborted
	case sdk.StatusFailed:
		return sdk.StateFailed, "failed"
	}
	return sdk.StateStreaming, ""
}

// headline is a run in a line.
func headline(e sdk.Entry) string { return fmt.Sprintf("%s %d", e.Path, e.Status()) }
