package project

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Store is where it stands what runs did.
type Store interface {
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Project(ctx context.Context, id int64) (sdk.Project, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
}

// Runs is the engine: it keeps a run and its children at rest and records what is done to it.
type Runs interface {
	StillWithChildren(ctx context.Context, run int64, doing string, do func(sdk.Run, sdk.RunEvent) error) error
	Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error)
}

// History tells what runs changed in the files of their projects, and takes it
// back. All fields are required.
type History struct {
	Store Store
	Runs  Runs
	Data  string                                      // the daemon's folder, in which runs have theirs
	Kept  kept.Store                                  // of replaced contents
	Tools func() []sdk.Tool                           // that there are now
	May   func(root, path string, removes bool) error // refuses a path that no tool may touch
}

// told is what the tools of a run and of its children told of changes in the project's files.
type told struct {
	steps []Step
	// cut is the path of the taking back that did not come to its end.
	cut     string
	next    int               // number of the next taking back
	untold  []sdk.Entry       // the calls that may have changed what nobody tells of
	parents map[string]string // by the path of an action: for which it was made; that of a child has its alias before it
}

// backPrefix begins the paths of entries that tell of changes taken back.
const backPrefix = "change://undo_"

// keptChanges is what the attributes of an entry of changes say.
type keptChanges struct {
	Kept string `json:"kept,omitempty"` // the digest of the list, when it is too long for the body
	Undo int    `json:"undo,omitempty"` // of a taking back: the number of its first stage
	Redo bool   `json:"redo,omitempty"` // it took the last taking back back
}

// own reads what a run itself did, and which children it has.
func (h *History) own(ctx context.Context, run int64, out *told) (children []delegated, err error) {
	out.next, out.parents = 1, map[string]string{}
	own := fmt.Sprintf("run:%d", run)
	changes, err := h.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: "change://**"})
	if err != nil {
		return nil, err
	}
	for _, e := range changes {
		stage := 0
		if _, err := fmt.Sscanf(e.Path, backPrefix+"%d/", &stage); err == nil {
			out.next = max(out.next, stage+1) // a fork sees those of its parent
		}
		if e.Scope != own {
			continue
		}
		if err := out.take(e, stage, h.Kept); err != nil {
			return nil, err
		}
	}
	calls, err := h.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: "log://**", Brief: true})
	if err != nil {
		return nil, err
	}
	sandboxed := h.sandboxed()
	for _, e := range calls {
		at, err := sdk.ActionOf(e)
		if e.Scope != own || e.Phase == sdk.PhaseNone || err != nil {
			continue
		}
		out.parents[e.Path] = at.Parent
		if mayChange(at, sandboxed) {
			out.untold = append(out.untold, e)
		}
		if at.Child != nil {
			children = append(children, delegated{e, *at.Child})
		}
	}
	return children, nil
}

// take reads one entry of changes. A list that is kept no more may have told of anything.
func (t *told) take(e sdk.Entry, stage int, store kept.Store) error {
	var at keptChanges
	if len(e.Attributes) > 0 {
		if err := json.Unmarshal(e.Attributes, &at); err != nil {
			return fmt.Errorf("read %s: %w", e.Path, err)
		}
	}
	list, err := at.list(e.Body, store)
	if sdk.OutcomeOf(err) == sdk.NotFound {
		t.untold = append(t.untold, e)
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", e.Path, err)
	}
	unsure := e.State == sdk.StateStreaming
	if unsure {
		t.cut = e.Path
	}
	for _, c := range list {
		t.steps = append(t.steps, Step{
			FileChange: c, Loop: e.Loop, Turn: e.Turn, Action: actionAt(e.Path), Back: cmp.Or(at.Undo, stage), Redo: at.Redo, Unsure: unsure, told: e.Created,
		})
	}
	return nil
}

// actionAt is the path of the action whose changes an entry tells.
func actionAt(path string) string {
	if rest, ok := strings.CutPrefix(path, "change://"); ok {
		return "log://" + rest
	}
	return path
}

// list is the list of changes of an entry.
func (at keptChanges) list(body string, store kept.Store) (list []sdk.FileChange, err error) {
	if at.Kept == "" {
		return list, json.Unmarshal([]byte(body), &list)
	}
	r, err := store.Open(at.Kept)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return list, json.Unmarshal(text, &list)
}

// sandboxed are the tools that run commands in the sandbox, by both their names.
func (h *History) sandboxed() map[string]bool {
	names := map[string]bool{}
	for _, t := range h.Tools() {
		if !t.Annotations.ReadOnly && slices.Contains(t.Grants, sdk.GrantSandbox) {
			names[t.Name], names[t.Plugin+"__"+t.Name] = true, true
		}
	}
	return names
}

// mayChange reports whether a call may have changed files without telling: one
// whose result does not tell all, or that was made in the sandbox and does not say that it does.
func mayChange(at sdk.Action, sandboxed map[string]bool) bool {
	return at.Untold || at.Phase == sdk.PhaseEnded && sandboxed[at.Tool] && !at.Told &&
		(at.State == sdk.StateResolved || strings.HasPrefix(string(at.Outcome), "exit:") || at.Outcome == sdk.Timeout)
}

// root is the folder that a run changes: that of its project or, of a private run, its own, which may not be there yet.
func (h *History) root(ctx context.Context, row sdk.Run) (string, error) {
	if folder := row.Folder(filepath.Join(h.Data, "runs", row.Key)); folder != "" {
		return folder, os.MkdirAll(folder, 0o700)
	}
	where, err := h.Store.Project(ctx, row.Project)
	return where.Root, err
}

// ground is the project that a run's steps are looked at on.
func (h *History) ground(root string) Ground {
	return Ground{Root: root, Kept: h.Kept, May: func(path string, removes bool) error { return h.May(root, path, removes) }}
}

// Changes compares what a run, or a part of it, did to its project with the files as they are.
func (h *History) Changes(ctx context.Context, run int64, of rpc.ChangesOf) (rpc.Changes, error) {
	row, err := h.Store.Run(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	root, err := h.root(ctx, row)
	if err != nil {
		return rpc.Changes{}, err
	}
	t, err := h.told(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	part, err := h.choose(ctx, row, of, t)
	if err != nil {
		return rpc.Changes{}, err
	}
	out := rpc.Changes{Run: row.Alias, ID: row.ID, Project: root, Unfinished: t.cut != ""}
	var c *Changes
	if of.Redo {
		if !part.all() {
			return rpc.Changes{}, sdk.Errorf(sdk.Validation, "what was taken back is made again as a whole: leave prompt, turn, action and paths out")
		}
		c, err = h.ground(root).LookBack(t.steps)
	} else {
		c, err = h.ground(root).Look(t.steps, part.holds)
		for _, e := range t.untold {
			if part.call(e.Loop, e.Turn, actionAt(e.Path)) {
				out.Untold++
			}
		}
	}
	if err != nil {
		return rpc.Changes{}, err
	}
	out.Differences = orNone(c.Differences)
	return out, nil
}

// Undo takes back what a run, or a part of it, did, or with Partial what can be. What it is about
// to do is recorded before it does it, so that after a crash the next Undo goes on.
func (h *History) Undo(ctx context.Context, run int64, p rpc.Undo) (rpc.Undone, error) {
	return h.back(ctx, run, p.Partial, undoing, func(row sdk.Run, g Ground, t told) (*Changes, error) {
		part, err := h.choose(ctx, row, p.Of(), t)
		if err != nil {
			return nil, err
		}
		return g.Look(t.steps, part.holds)
	})
}

// Redo takes the last taking back back that was not yet, or with partial what can be.
func (h *History) Redo(ctx context.Context, run int64, partial bool) (rpc.Undone, error) {
	return h.back(ctx, run, partial, redoing, func(_ sdk.Run, g Ground, t told) (*Changes, error) { return g.LookBack(t.steps) })
}

// doing is what people read of a taking back.
type doing struct {
	redo bool
	verb string // of bothy runs
	done string // of what it did
}

var (
	undoing = doing{verb: "undo", done: "taken back"}
	redoing = doing{verb: "redo", done: "made again", redo: true}
)

func (h *History) back(ctx context.Context, run int64, partial bool, d doing, look func(sdk.Run, Ground, told) (*Changes, error)) (rpc.Undone, error) {
	var out rpc.Undone
	err := h.Runs.StillWithChildren(ctx, run, d.done, func(row sdk.Run, _ sdk.RunEvent) error {
		out = rpc.Undone{Run: row.Alias, ID: row.ID}
		t, err := h.told(ctx, run)
		if err != nil {
			return err
		}
		root, err := h.root(ctx, row)
		if err != nil {
			return err
		}
		c, err := look(row, h.ground(root), t)
		if err != nil {
			return err
		}
		for _, x := range c.Differences {
			if x.Conflict != "" {
				out.Left = append(out.Left, x)
			} else {
				out.Taken = append(out.Taken, x)
			}
		}
		if len(out.Left) > 0 && !partial {
			return d.refuse(row, out.Left)
		}
		out.Kept = c.Kept()
		return h.takeBack(ctx, row, root, t, c, d)
	})
	out.Taken, out.Left, out.Kept = orNone(out.Taken), orNone(out.Left), orNone(out.Kept)
	return out, err
}

// takeBack records each stage before it acts, and that it is done with the next.
// Of one that was cut short, it keeps what was made.
func (h *History) takeBack(ctx context.Context, run sdk.Run, root string, t told, c *Changes, d doing) error {
	var done []sdk.Write // the end of the stage before
	if t.cut != "" {
		write := sdk.Write{Path: t.cut, State: sdk.StateResolved, Writer: sdk.WriterSystem}
		if err := h.record(&write, map[string]any{}, c.Made()); err != nil {
			return err
		}
		done = []sdk.Write{write}
	}
	first := t.next
	err := c.Undo(ctx, root, run.Key, func(next []sdk.FileChange) error {
		path := fmt.Sprintf(backPrefix+"%d/files", t.next)
		t.next++
		write := sdk.Write{Path: path, Create: true, State: sdk.StateStreaming, Writer: sdk.WriterSystem, Turn: run.Turns}
		if err := h.record(&write, map[string]any{"undo": first, "redo": d.redo}, next); err != nil {
			return err
		}
		if _, err := h.Runs.Commit(ctx, sdk.Change{Run: run.ID, Writes: append(done, write)}); err != nil {
			return fmt.Errorf("record what is about to be taken back: %w", err)
		}
		done = []sdk.Write{{Path: path, State: sdk.StateResolved, Writer: sdk.WriterSystem}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w; what was %s by then stays so, and `bothy runs %s %s` goes on with the rest", err, d.done, d.verb, run.Alias)
	}
	if len(done) == 0 {
		return nil
	}
	if _, err := h.Runs.Commit(context.WithoutCancel(ctx), sdk.Change{Run: run.ID, Writes: done}); err != nil {
		return fmt.Errorf("the changes were %s, and that could not be recorded: %w; call it again when it can be", d.done, err)
	}
	return nil
}

// record has a write tell of changes, in its body or where the body names them.
func (h *History) record(w *sdk.Write, at map[string]any, list []sdk.FileChange) error {
	text, err := json.Marshal(orNone(list))
	if err != nil {
		return err
	}
	at["kept"] = nil
	if len(list) > sdk.MostChanges {
		digest, _, err := h.Kept.Put(bytes.NewReader(text))
		if err != nil {
			return err
		}
		at["kept"], text = digest, []byte("[]")
	}
	w.Body = new(string(text))
	w.Attributes, err = json.Marshal(at)
	return err
}

// refuse names some of what is in the way.
func (d doing) refuse(run sdk.Run, left []sdk.Difference) error {
	var lines []string
	for i, x := range left {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		lines = append(lines, x.Path+": "+x.Conflict)
	}
	return sdk.Errorf(sdk.Conflict, "nothing was %s, because not all of it can be:\n  %s\n`bothy runs %[3]s -n` shows the rest of run %[4]s; with --partial what can be is %[1]s",
		d.done, strings.Join(lines, "\n  "), d.verb, run.Alias)
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
