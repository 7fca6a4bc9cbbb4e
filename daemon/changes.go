package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// told is what a run's tools told of changes in the project's files.
type told struct {
	steps []project.Step
	// cut is the path of the taking back that did not come to its end.
	cut    string
	next   int // number of the next taking back
	untold int
}

// told reads what a run itself did; what a fork has from its parent is the
// parent's.
func (d *Daemon) told(ctx context.Context, run int64) (told, error) {
	out := told{next: 1}
	own := fmt.Sprintf("run:%d", run)
	changes, err := d.store.Entries(ctx, run, "change://**")
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
			out.steps = append(out.steps, project.Step{FileChange: c, Turn: e.Turn, Back: back, Unsure: unsure})
		}
	}
	calls, err := d.store.EntriesBrief(ctx, run, "log://**")
	if err != nil {
		return out, err
	}
	sandboxed := d.sandboxed()
	for _, e := range calls {
		if e.Scope == own && mayChange(e, sandboxed) {
			out.untold++
		}
	}
	return out, nil
}

// sandboxed are the tools that run commands in the sandbox, by both their names.
func (d *Daemon) sandboxed() map[string]bool {
	names := map[string]bool{}
	for _, t := range d.host.Tools() {
		if !t.Annotations.ReadOnly && slices.Contains(t.Grants, sdk.GrantSandbox) {
			names[t.Name], names[t.Plugin+"__"+t.Name] = true, true
		}
	}
	return names
}

// keepChanges records what a call changed that no action stands for: one that a
// plugin made. The engine does so for its actions.
func (d *Daemon) keepChanges(ctx context.Context, run, call int64, tool string, r sdk.ToolResult) error {
	if len(r.Changes) == 0 && !r.Untold {
		return nil
	}
	row, err := d.store.Run(ctx, run)
	if err != nil {
		return err
	}
	text, err := changesText(r.Changes)
	if err != nil {
		return err
	}
	attributes, err := json.Marshal(map[string]any{"tool": tool, "untold": r.Untold})
	if err != nil {
		return err
	}
	_, err = d.store.Commit(ctx, sdk.Change{Run: run, Writes: []sdk.Write{{
		Path: fmt.Sprintf("change://call_%d/files", call), Body: text, Attributes: attributes, Create: true,
		State: sdk.StateResolved, Writer: sdk.WriterSystem, Turn: row.Turns,
	}}})
	return err
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
func (d *Daemon) look(t told, root string) (*project.Changes, error) {
	return project.LookAtChanges(root, t.steps, func(path string) error {
		arguments, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			return err
		}
		writes := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "undo", Annotations: sdk.Annotations{Destructive: true}}, Plugin: "bothy", Pinned: true, Grants: []string{sdk.GrantProject}}
		// A person asked for this: no rule about an agent counts, only what no tool may do.
		decision := policy.New(policy.Settings{}).Decide(sdk.PolicyRequest{Tool: writes, Arguments: arguments, Project: root})
		if decision.Verdict != sdk.Allow {
			return sdk.Errorf(sdk.Permission, "%s", decision.Reason)
		}
		return nil
	})
}

// Changes implements server.Engine.
func (r relay) Changes(ctx context.Context, run int64) (rpc.Changes, error) {
	d := r.d
	row, err := d.store.Run(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	where, err := d.store.Project(ctx, row.Project)
	if err != nil {
		return rpc.Changes{}, err
	}
	t, err := d.told(ctx, run)
	if err != nil {
		return rpc.Changes{}, err
	}
	c, err := d.look(t, where.Root)
	if err != nil {
		return rpc.Changes{}, err
	}
	return rpc.Changes{
		Run: row.Alias, ID: row.ID, Project: where.Root, Differences: orNone(c.Differences), Untold: t.untold, Unfinished: t.cut != "",
	}, nil
}

// Undo implements server.Engine. What it is about to do is recorded before it
// does it, so that after a crash the next Undo goes on.
func (r relay) Undo(ctx context.Context, run int64, partial bool) (rpc.Undone, error) {
	d := r.d
	var out rpc.Undone
	err := d.engine.Still(ctx, run, "taken back", func(row sdk.Run, event sdk.RunEvent) error {
		out = rpc.Undone{Run: row.Alias, ID: row.ID}
		t, err := d.told(ctx, run)
		if err != nil {
			return err
		}
		c, err := d.look(t, event.Project)
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
		return d.takeBack(ctx, row, event.Project, t, c)
	})
	out.Taken, out.Left, out.Kept = orNone(out.Taken), orNone(out.Left), orNone(out.Kept)
	return out, err
}

// takeBack records each stage before it acts, and that it is done with the next.
// Of one that was cut short, it keeps what was made.
func (d *Daemon) takeBack(ctx context.Context, run sdk.Run, root string, t told, c *project.Changes) error {
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
		if _, err := d.store.Commit(ctx, sdk.Change{Run: run.ID, Writes: append(done, write)}); err != nil {
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
	if _, err := d.store.Commit(context.WithoutCancel(ctx), sdk.Change{Run: run.ID, Writes: done}); err != nil {
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
