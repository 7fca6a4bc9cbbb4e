package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// told is what a run's tools told of changes in the project's files.
type told struct {
	steps []project.Step
	// cut is the path of the taking back that did not come to its end; its
	// changes are not among the steps.
	cut    string
	next   int // number of the next taking back
	untold int
}

// told reads what a run itself did; what a fork has from its parent is the
// parent's.
func (d *Daemon) told(ctx context.Context, run int64) (told, error) {
	out := told{next: 1}
	own := fmt.Sprintf("run:%d", run)
	entries, err := d.store.Entries(ctx, run, "{change,log}://**")
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		if e.Scope != own {
			continue
		}
		if e.Scheme() == "log" {
			if d.mayChange(e) {
				out.untold++
			}
			continue
		}
		if strings.HasPrefix(e.Path, "change://undo_") {
			out.next++
		}
		if e.State == sdk.StateStreaming {
			out.cut = e.Path
			continue
		}
		var changes []sdk.FileChange
		if err := json.Unmarshal([]byte(e.Body), &changes); err != nil {
			return out, fmt.Errorf("read %s: %w", e.Path, err)
		}
		for _, c := range changes {
			out.steps = append(out.steps, project.Step{FileChange: c, Turn: e.Turn})
		}
	}
	return out, nil
}

// mayChange reports whether a call may have changed files without telling: one
// that was made in the sandbox, or that was cut off by the end of a daemon.
func (d *Daemon) mayChange(e sdk.Entry) bool {
	var at struct {
		Tool string `json:"tool"`
	}
	if e.Phase != sdk.PhaseEnded || json.Unmarshal(e.Attributes, &at) != nil {
		return false
	}
	for _, t := range d.host.Tools() {
		if t.Name != at.Tool && t.Plugin+"__"+t.Name != at.Tool || t.Annotations.ReadOnly {
			continue
		}
		if e.Outcome == sdk.Interrupted {
			return true
		}
		for _, g := range t.Grants {
			if g == sdk.GrantSandbox {
				return e.State == sdk.StateResolved || strings.HasPrefix(string(e.Outcome), "exit:") || e.Outcome == sdk.Timeout
			}
		}
	}
	return false
}

// look compares what a run did with the project as it is.
func (d *Daemon) look(t told, root string) (*project.Changes, error) {
	return project.LookAtChanges(root, t.steps, project.Look{Resume: t.cut != "", May: func(path string) error {
		arguments, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			return err
		}
		writes := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "undo", Annotations: sdk.Annotations{Destructive: true}}, Plugin: "bothy", Pinned: true, Grants: []string{sdk.GrantProject}}
		decision := policy.Fixed{}.Judge(sdk.Action{Tool: writes, Arguments: arguments, Project: root, Mode: sdk.ModeAct})
		if decision.Verdict != sdk.Allow {
			return sdk.Errorf(sdk.Permission, "%s", decision.Reason)
		}
		return nil
	}})
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

// takeBack records the intent, acts, and records that it is done. An intent
// that was cut short keeps its list: the changes of both tries are in it.
func (d *Daemon) takeBack(ctx context.Context, run sdk.Run, root string, t told, c *project.Changes) error {
	write := sdk.Write{Path: t.cut, State: sdk.StateStreaming, Writer: sdk.WriterSystem, Turn: run.Turns}
	if t.cut == "" {
		if len(c.Reversals()) == 0 {
			return nil
		}
		list, err := json.Marshal(c.Reversals())
		if err != nil {
			return err
		}
		text := string(list)
		write.Path, write.Body, write.Create = fmt.Sprintf("change://undo_%d/files", t.next), &text, true
		if _, err := d.store.Commit(ctx, sdk.Change{Run: run.ID, Writes: []sdk.Write{write}}); err != nil {
			return fmt.Errorf("record what is about to be taken back: %w", err)
		}
	}
	if err := c.Undo(ctx, root); err != nil {
		return fmt.Errorf("%w; call it again to go on", err)
	}
	write.Body, write.Create, write.State = nil, false, sdk.StateResolved
	if _, err := d.store.Commit(context.WithoutCancel(ctx), sdk.Change{Run: run.ID, Writes: []sdk.Write{write}}); err != nil {
		return fmt.Errorf("the changes were taken back, and that could not be recorded: %w", err)
	}
	return nil
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
