package project

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Store is where it stands what runs did.
type Store interface {
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Project(ctx context.Context, id int64) (sdk.Project, error)
	Entries(ctx context.Context, run int64, glob string) ([]sdk.Entry, error)
	EntriesBrief(ctx context.Context, run int64, glob string) ([]sdk.Entry, error)
}

// Runs is the engine: it keeps a run at rest and records what is done to it.
type Runs interface {
	Still(ctx context.Context, run int64, doing string, do func(sdk.Run, sdk.RunEvent) error) error
	Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error)
}

// History tells what runs changed in the files of their projects, and takes it
// back. All fields are required.
type History struct {
	Store Store
	Runs  Runs
	Tools func() []sdk.Tool             // that there are now
	May   func(root, path string) error // refuses a path that no tool may touch
}

// told is what a run's tools told of changes in the project's files.
type told struct {
	steps []Step
	// cut is the path of the taking back that did not come to its end.
	cut    string
	next   int // number of the next taking back
	untold int
}

// told reads what a run itself did; what a fork has from its parent is the
// parent's.
func (h *History) told(ctx context.Context, run int64) (told, error) {
	out := told{next: 1}
	own := fmt.Sprintf("run:%d", run)
	changes, err := h.Store.Entries(ctx, run, "change://**")
	if err != nil {
		return out, err
	}
	for _, e := range changes {
		n, back := 0, false
		if _, err := fmt.Sscanf(e.Path, "change://undo_%d/", &n); err == nil {
			out.next, back = max(out.next, n+1), true // a fork sees those of its parent
		}
		if e.Scope != own {
			continue
		}
		if mayChange(e, nil) {
			out.untold++
		}
		unsure := e.State == sdk.StateStreaming
		if unsure {
			out.cut = e.Path
		}
		var list []sdk.FileChange
		if err := json.Unmarshal([]byte(e.Body), &list); err != nil {
			return out, fmt.Errorf("read %s: %w", e.Path, err)
		}
		for _, c := range list {
			out.steps = append(out.steps, Step{FileChange: c, Turn: e.Turn, Back: back, Unsure: unsure})
		}
	}
	calls, err := h.Store.EntriesBrief(ctx, run, "log://**")
	if err != nil {
		return out, err
	}
	sandboxed := h.sandboxed()
	for _, e := range calls {
		if e.Scope == own && mayChange(e, sandboxed) {
			out.untold++
		}
	}
	return out, nil
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
// that was made in the sandbox, or whose result does not tell all.
func mayChange(e sdk.Entry, sandboxed map[string]bool) bool {
	at, err := sdk.ActionOf(e)
	if err != nil {
		return false
	}
	return at.Untold || e.Phase == sdk.PhaseEnded && sandboxed[at.Tool] &&
		(e.State == sdk.StateResolved || strings.HasPrefix(string(e.Outcome), "exit:") || e.Outcome == sdk.Timeout)
}

// look compares what a run did with the project as it is.
func (h *History) look(t told, root string) (*Changes, error) {
	return LookAtChanges(root, t.steps, func(path string) error { return h.May(root, path) })
}

// Changes compares what a run did to its project with the files as they are.
func (h *History) Changes(ctx context.Context, run int64) (rpc.Changes, error) {
	row, err := h.Store.Run(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	where, err := h.Store.Project(ctx, row.Project)
	if err != nil {
		return rpc.Changes{}, err
	}
	t, err := h.told(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	c, err := h.look(t, where.Root)
	if err != nil {
		return rpc.Changes{}, err
	}
	return rpc.Changes{
		Run: row.Alias, ID: row.ID, Project: where.Root, Differences: orNone(c.Differences), Untold: t.untold, Unfinished: t.cut != "",
	}, nil
}

// Undo takes back what a run did, or with partial what can be. What it is about
// to do is recorded before it does it, so that after a crash the next Undo goes on.
func (h *History) Undo(ctx context.Context, run int64, partial bool) (rpc.Undone, error) {
	var out rpc.Undone
	err := h.Runs.Still(ctx, run, "taken back", func(row sdk.Run, event sdk.RunEvent) error {
		out = rpc.Undone{Run: row.Alias, ID: row.ID}
		t, err := h.told(ctx, run)
		if err != nil {
			return err
		}
		c, err := h.look(t, event.Project)
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
			return refuseUndo(row, out.Left)
		}
		out.Kept = c.Kept()
		return h.takeBack(ctx, row, event.Project, t, c)
	})
	out.Taken, out.Left, out.Kept = orNone(out.Taken), orNone(out.Left), orNone(out.Kept)
	return out, err
}

// takeBack records each stage before it acts, and that it is done with the next.
// Of one that was cut short, it keeps what was made.
func (h *History) takeBack(ctx context.Context, run sdk.Run, root string, t told, c *Changes) error {
	var done []sdk.Write // the end of the stage before
	if t.cut != "" {
		text, err := changesText(c.Made())
		if err != nil {
			return err
		}
		done = []sdk.Write{{Path: t.cut, Body: text, State: sdk.StateResolved, Writer: sdk.WriterSystem}}
	}
	err := c.Undo(ctx, root, run.Key, func(next []sdk.FileChange) error {
		text, err := changesText(next)
		if err != nil {
			return err
		}
		path := fmt.Sprintf("change://undo_%d/files", t.next)
		t.next++
		write := sdk.Write{Path: path, Body: text, Create: true, State: sdk.StateStreaming, Writer: sdk.WriterSystem, Turn: run.Turns}
		if _, err := h.Runs.Commit(ctx, sdk.Change{Run: run.ID, Writes: append(done, write)}); err != nil {
			return fmt.Errorf("record what is about to be taken back: %w", err)
		}
		done = []sdk.Write{{Path: path, State: sdk.StateResolved, Writer: sdk.WriterSystem}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w; what was taken back by then stays so, `bothy runs diff %s` shows the rest, and `bothy runs undo %s` goes on", err, run.Alias, run.Alias)
	}
	if len(done) == 0 {
		return nil
	}
	if _, err := h.Runs.Commit(context.WithoutCancel(ctx), sdk.Change{Run: run.ID, Writes: done}); err != nil {
		return fmt.Errorf("the changes were taken back, and that could not be recorded: %w; call it again when it can be", err)
	}
	return nil
}

func changesText(list []sdk.FileChange) (*string, error) {
	text, err := json.Marshal(orNone(list))
	if err != nil {
		return nil, err
	}
	return new(string(text)), nil
}

// refuseUndo names some of what is in the way.
func refuseUndo(run sdk.Run, left []sdk.Difference) error {
	var lines []string
	for i, x := range left {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		lines = append(lines, x.Path+": "+x.Conflict)
	}
	return sdk.Errorf(sdk.Conflict, "nothing was taken back, because not all of it can be:\n  %s\n`bothy runs diff %s` shows the rest; `bothy runs undo --partial %s` takes back what can be",
		strings.Join(lines, "\n  "), run.Alias, run.Alias)
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
