package project

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Done is what was done for a prompt, and for those before it in the run that it goes on with: the calls of its run and of
// those to which work was delegated that have their end, in the order in which they ended. Paths that git ignores are
// left out of what they changed, unless what it ignores was changed too.
func (h *History) Done(ctx context.Context, l sdk.Loop, before ...sdk.Loop) ([]sdk.WorkDone, error) {
	row, err := h.Store.Run(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	root, err := h.root(ctx, row)
	if err != nil {
		return nil, err
	}
	w := work{History: h, tools: map[string]sdk.Tool{}, since: l.Created}
	for _, t := range h.Tools() {
		w.tools[toolKey(t.Plugin, cmp.Or(t.Declared, t.Name))] = t
	}
	loops := []int64{l.ID}
	for _, b := range before {
		loops = append(loops, b.ID)
		if b.Created.Before(w.since) {
			w.since = b.Created
		}
	}
	if err := w.take(ctx, row, loops...); err != nil {
		return nil, err
	}
	w.disprove()
	slices.SortStableFunc(w.done, func(a, b sdk.WorkDone) int { return cmp.Compare(a.Ended, b.Ended) })
	if !w.ignores {
		return w.done, w.leaveIgnored(root)
	}
	return w.done, nil
}

// work is what was done while it is looked for.
type work struct {
	*History
	tools   map[string]sdk.Tool // by plugin and declared name
	since   time.Time           // the prompt that began it
	done    []sdk.WorkDone
	ignores bool  // a call changed what git ignores
	between int64 // the position at which something was changed last that is none of it
}

func toolKey(plugin, name string) string { return plugin + "\x00" + name }

// disprove has no run of the tests prove anything that was begun before somebody else changed the project: a person who
// took changes back between two prompts, or called a tool.
func (w *work) disprove() {
	for i := range w.done {
		if d := &w.done[i]; d.Tool == sdk.ToolTests && d.Began < w.between {
			d.Tool = d.Plugin + "__" + d.Tool
		}
	}
}

// take adds the calls of a prompt, or of several that go on with each other, and of those that work was delegated to.
func (w *work) take(ctx context.Context, row sdk.Run, loops ...int64) error {
	calls, err := w.Store.Entries(ctx, sdk.EntryQuery{Run: row.ID, Pattern: "log://**", Bodies: []string{"change"}}) // what they printed is not read
	if err != nil {
		return err
	}
	changes, unknown, err := w.changes(ctx, row.ID, loops)
	if err != nil {
		return err
	}
	calls = slices.DeleteFunc(calls, func(e sdk.Entry) bool { return !counts(e, loops) || e.Phase != sdk.PhaseEnded })
	began, ended, err := w.positions(ctx, row.ID, w.since)
	if err == nil && slices.ContainsFunc(calls, func(e sdk.Entry) bool { return e.Loop != 0 && ended[e.Path] == 0 }) { // the clock was put back
		began, ended, err = w.positions(ctx, row.ID, time.Time{})
	}
	if err != nil {
		return err
	}
	for path, at := range ended {
		if len(loops) > 1 && strings.HasPrefix(path, backPrefix) {
			w.between = max(w.between, at)
		}
	}
	for _, e := range calls {
		at, err := sdk.ActionOf(e)
		if err != nil {
			continue
		}
		name := cmp.Or(at.Declared, at.Tool)
		t, known := w.tools[toolKey(at.Plugin, name)]
		commands := slices.Contains(t.Grants, sdk.GrantSandbox) || !known && mayCommand(at.Plugin)
		d := sdk.WorkDone{
			Run: row.Alias, Path: e.Path, Parent: at.Parent, Tool: name, Plugin: at.Plugin, Arguments: at.ExactArguments(),
			Success: e.State == sdk.StateResolved, Outcome: e.Outcome, Structured: at.Structured,
			ReadOnly:  t.Pinned && t.Annotations.ReadOnly || at.Decision != nil && at.Decision.Rule == sdk.RuleProven,
			OpenWorld: at.OpenWorld || t.Annotations.OpenWorld, Changed: changes[e.Path], Began: began[e.Path], Ended: ended[e.Path],
		}
		if name == sdk.ToolTests && !(t.Pinned && t.FindsCommand()) {
			d.Tool = at.Plugin + "__" + name // of another plugin: whoever calls it may have named what runs
		}
		d.Untold = unknown[e.Path] || mayChange(at, map[string]bool{at.Tool: commands})
		if e.Loop == 0 {
			if len(d.Changed) > 0 || d.Untold && !d.ReadOnly {
				w.between = max(w.between, d.Ended)
			}
			continue
		}
		if at.Child != nil {
			switch child, err := w.Store.Run(ctx, at.Child.Run); {
			case sdk.OutcomeOf(err) == sdk.NotFound: // a person deleted it, and nobody knows any more what it changed
				d.Untold, d.ReadOnly = true, false
			case err != nil:
				return err
			default:
				if err := w.take(ctx, child, at.Child.Loop); err != nil {
					return err
				}
			}
		}
		w.done = append(w.done, d)
	}
	return nil
}

// counts reports whether an entry is of prompts that go on with each other, or of what a person called between them.
func counts(e sdk.Entry, loops []int64) bool {
	return slices.Contains(loops, e.Loop) || e.Loop == 0 && len(loops) > 1
}

// mayCommand reports whether tools of a plugin that is gone may have run commands in the sandbox. Nobody knows it any more.
func mayCommand(plugin string) bool {
	return plugin != "" && plugin != sdk.OwnPlugin && !strings.HasPrefix(plugin, sdk.MCPPrefix)
}

// changes are the paths that the calls of loops changed, by the call, and which calls have a list that is kept no more.
func (w *work) changes(ctx context.Context, run int64, loops []int64) (paths map[string][]string, unknown map[string]bool, err error) {
	entries, err := w.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: "change://**"})
	if err != nil {
		return nil, nil, err
	}
	t := told{}
	for _, e := range entries {
		if !counts(e, loops) {
			continue
		}
		if err := t.take(e, 0, w.Kept); err != nil {
			return nil, nil, err
		}
	}
	paths, unknown = map[string][]string{}, map[string]bool{}
	for _, s := range t.steps {
		for _, at := range []string{s.From, s.Path} {
			if at != "" && !gits(at) {
				paths[s.Action] = append(paths[s.Action], at)
			}
			w.ignores = w.ignores || saysIgnored(at)
		}
		w.ignores = w.ignores || s.From != "" && s.After != nil && s.After.Kind == "directory" // which may have some in it
	}
	for _, e := range t.untold {
		unknown[actionAt(e.Path)] = true
	}
	return paths, unknown, nil
}

// gits reports whether a path is one that git keeps for itself, and never a file of the project.
func gits(at string) bool { return slices.Contains(strings.Split(at, "/"), gitFolder) }

// saysIgnored reports whether a path is that of a file which says what git ignores, however its file system folds names.
func saysIgnored(at string) bool {
	at = strings.ToLower(at)
	return path.Base(at) == ignoreFile || at == excludeFile || strings.HasSuffix(at, "/"+excludeFile)
}

// positions are where in the journal the calls of a run were started and ended, by rows of that time or later, and changes
// of it taken back.
func (w *work) positions(ctx context.Context, run int64, since time.Time) (began, ended map[string]int64, err error) {
	rows, err := w.Store.Journal(ctx, sdk.JournalQuery{Run: run, Since: since, Kinds: []string{sdk.KindEntrySet}, Heads: true})
	if err != nil {
		return nil, nil, err
	}
	began, ended = map[string]int64{}, map[string]int64{}
	for _, row := range rows {
		var c sdk.EntryChange
		if strings.HasPrefix(row.Path, backPrefix) {
			ended[row.Path] = row.Seq
		}
		if !strings.HasPrefix(row.Path, sdk.TurnPrefix) || json.Unmarshal(row.Data, &c) != nil {
			continue
		}
		switch c.Phase {
		case sdk.PhaseStarted:
			if began[row.Path] == 0 {
				began[row.Path] = row.Seq
			}
		case sdk.PhaseEnded:
			ended[row.Path] = row.Seq
		}
	}
	return began, ended, nil
}

// leaveIgnored takes out of what was changed the paths that git ignores.
func (w *work) leaveIgnored(where string) error {
	root, err := os.OpenRoot(where)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	ignores := ignoring(root, where)
	for i := range w.done {
		d := &w.done[i]
		d.Changed = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(d.Changed))), ignores)
	}
	return nil
}

// ignoring says of paths of a project whether git leaves them out, by the files that are there now.
func ignoring(root *os.Root, where string) func(at string) bool {
	above, in := ignoredAbove(where), map[string]ignored{}
	return func(at string) bool {
		rules, parts := above, strings.Split(at, "/")
		for i, part := range parts {
			here := strings.Join(parts[:i], "/")
			if _, known := in[here]; !known {
				in[here] = ignoreRules(readIgnore(plain(root, path.Join(here, ignoreFile))), here, "")
			}
			rules = slices.Concat(rules, in[here])
			name, folder := path.Join(here, part), i < len(parts)-1
			if !folder {
				info, err := root.Lstat(name)
				folder = err == nil && info.IsDir()
			}
			if rules.ignores(name, folder) {
				return true
			}
		}
		return false
	}
}
