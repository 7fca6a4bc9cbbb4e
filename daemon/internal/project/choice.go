package project

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

// choice is the part of a run whose changes are meant: what fits all of its members
// that are set.
type choice struct {
	loop    int64
	turn    int
	actions map[string]bool // nil: any
	globs   []match.Glob
}

// choose reads which part of a run is meant. A part that the run does not have is not found.
func (h *History) choose(ctx context.Context, run sdk.Run, of rpc.ChangesOf, t told) (choice, error) {
	c := choice{turn: of.Turn}
	if of.Prompt < 0 || of.Turn < 0 {
		return c, sdk.Errorf(sdk.Validation, "prompts and turns begin with 1")
	}
	if of.Turn > run.Turns {
		return c, sdk.Errorf(sdk.NotFound, "the run %s has no turn %d: it has had %d; `bothy runs show %s` tells them", run.Alias, of.Turn, run.Turns, run.Alias)
	}
	if of.Prompt > 0 {
		loops, err := h.Store.Loops(ctx, run.ID)
		if err != nil {
			return c, err
		}
		i := slices.IndexFunc(loops, func(l sdk.Loop) bool { return l.Sequence == of.Prompt })
		if i < 0 {
			return c, sdk.Errorf(sdk.NotFound, "the run %s has no prompt %d of its own: it has %d; `bothy runs show %s` tells them", run.Alias, of.Prompt, len(loops), run.Alias)
		}
		c.loop = loops[i].ID
	}
	if of.Action != "" {
		action, err := t.action(run, of.Action)
		if err != nil {
			return c, err
		}
		c.actions = t.madeFor(action)
	}
	for _, pattern := range of.Paths {
		glob, err := match.ParseGlob(pattern)
		if err != nil {
			return c, &sdk.Error{Outcome: sdk.Validation, Message: err.Error(), Cause: err}
		}
		c.globs = append(c.globs, glob)
	}
	return c, nil
}

// action is the path of a call that is named by that, or by the end of it.
func (t told) action(run sdk.Run, named string) (string, error) {
	var found []string
	for path := range t.parents {
		if _, own := sdk.ParseActionPath(path); !own {
			continue // a child's: the child is asked about that
		}
		if path == named {
			return path, nil
		}
		if strings.HasSuffix(path, "/"+named) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", sdk.Errorf(sdk.NotFound, "the run %s has no action %q of its own; `bothy runs diff %s` tells which changed something", run.Alias, named, run.Alias)
	default:
		return "", sdk.Errorf(sdk.Validation, "%q is the end of several actions of the run %s: %s", named, run.Alias, strings.Join(found, ", "))
	}
}

// madeFor are the paths of an action and of all that were made for it: by its plugin, or
// because its result asked for them.
func (t told) madeFor(action string) map[string]bool {
	all := map[string]bool{}
	for path := range t.parents {
		for at := path; at != ""; at = t.parents[at] {
			if at == action {
				all[path] = true
				break
			}
		}
	}
	return all
}

// all reports whether the whole run is meant.
func (c choice) all() bool {
	return c.loop == 0 && c.turn == 0 && c.actions == nil && len(c.globs) == 0
}

// call reports whether a call is meant, wherever it changed something.
func (c choice) call(loop int64, turn int, action string) bool {
	return (c.loop == 0 || c.loop == loop) && (c.turn == 0 || c.turn == turn) && (c.actions == nil || c.actions[action])
}

// holds reports whether a step is meant. Of what took others back no part is.
func (c choice) holds(s Step) bool {
	if c.all() {
		return !s.other
	}
	if s.other || s.Back != 0 || !c.call(s.Loop, s.Turn, s.Action) {
		return false
	}
	return len(c.globs) == 0 || slices.ContainsFunc(s.paths(), func(at string) bool {
		return slices.ContainsFunc(c.globs, func(g match.Glob) bool { return g.Match(at) })
	})
}
