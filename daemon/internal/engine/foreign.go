package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// A run that has read what came from outside is marked from then on, by an entry that the commit with the end of the
// call writes (decision 110). Forks have it as they have all entries; a child begins with it, and its parent has it with the
// child's result. Nothing takes it away.

// foreignPath is the mark of a run. Its body names what was read first.
const foreignPath = "foreign://run"

// unknownForeign is what a run has read where that cannot be looked up.
const unknownForeign = "what cannot be looked up now"

// longestSource is how much of an address names where something came from, in bytes.
const longestSource = 300

// foreign names what a run has read that came from outside; empty is nothing.
func (e *Engine) foreign(run int64) string {
	mark, err := e.cfg.Store.Entry(e.base, run, foreignPath)
	switch {
	case err == nil:
		return cmp.Or(mark.Body, unknownForeign)
	case sdk.OutcomeOf(err) == sdk.NotFound:
		return ""
	}
	e.log.Warn("whether a run has read what came from outside is not known, so that it counts as one that has", "run", run, "error", err)
	return unknownForeign
}

// mark has the results of ended actions that brought what came from outside say so, by which the view puts them into a
// fence, and one of them mark its run by the commit of its end, where that is not marked. The calls of a project that no
// model reads mark nothing.
func (e *Engine) mark(a *activeLoop, over []*action) {
	marked := a.run.Hidden || slices.ContainsFunc(over, func(x *action) bool { return x.marks != nil })
	for _, x := range over {
		source, run := e.source(x)
		if source == "" {
			continue
		}
		if at := x.recorded(); !at.IsForeign() {
			x.result.Metadata = maps.Clone(x.result.Metadata)
			if x.result.Metadata == nil {
				x.result.Metadata = map[string]any{}
			}
			x.result.Metadata[sdk.MetadataForeign] = true
		}
		if marked || e.foreign(a.run.ID) != "" {
			marked = true
			continue
		}
		w := foreignWrite(hadFrom(source, run))
		w.Loop, w.Turn = x.Loop, x.Turn
		x.marks, marked = &w, true
	}
}

// source names what an ended action brought that came from outside, and the run that read it where that is a child;
// empty is nothing.
func (e *Engine) source(x *action) (source, run string) {
	switch {
	case !x.ended() || !x.ran() || x.cause == withdrawn:
		return "", ""
	case x.Child != nil:
		return e.foreign(x.Child.Run), x.Child.Alias
	case x.reachesOut(), x.result.Metadata[sdk.MetadataForeign] == true:
		return e.brought(x), ""
	}
	return x.outside.first(), ""
}

// reachesOut reports whether what the call brings comes from outside. What nothing vouches for counts as that.
func (x *action) reachesOut() bool {
	return x.own == nil && x.Plugin != sdk.OwnPlugin && (x.OpenWorld || x.tool.Annotations.OpenWorld || x.tool.Name != "" && !x.tool.Pinned)
}

// outside is what a plugin read on its way that came from outside.
type outside struct{ at atomic.Pointer[string] }

// first names what was read first; empty is nothing.
func (o *outside) first() string {
	if first := o.at.Load(); first != nil {
		return *first
	}
	return ""
}

// reads has what a plugin was given for its call, and that came from outside, be of the call's result too, and marks its
// run at once: what the plugin does next is judged by that.
func (e *Engine) reads(ctx context.Context, now *serving, source string) error {
	if source == "" {
		return nil
	}
	now.x.outside.at.CompareAndSwap(nil, &source)
	if now.a.run.Hidden || e.foreign(now.a.run.ID) != "" {
		return nil
	}
	w := foreignWrite(source)
	w.Loop, w.Turn = now.x.Loop, now.x.Turn
	_, err := e.Commit(ctx, sdk.Change{Run: now.a.run.ID, Writes: []sdk.Write{w}})
	return err
}

// readFor names what a run has read that came from outside, and the call that a plugin serves in it; empty is nothing.
func (e *Engine) readFor(now *serving) string {
	switch {
	case now.a.run.Hidden:
		return ""
	case now.x.reachesOut():
		return e.brought(now.x)
	}
	return e.foreign(now.a.run.ID)
}

// foreignIn names the first of some entries that came from outside; empty is that none did.
func (e *Engine) foreignIn(entries ...sdk.Entry) string {
	if i := slices.IndexFunc(entries, sdk.Entry.IsForeign); i >= 0 {
		return "what is kept at " + sdk.Head(e.cfg.Redact(entries[i].Path), longestSource)
	}
	return ""
}

// brought names what a call brought: its tool, and the address that it asked, or the path of get.
func (e *Engine) brought(x *action) string {
	source := "what " + cmp.Or(x.tool.Name, x.Tool) + " brought"
	address := x.address()
	if x.touchesEntries() {
		var of sdk.EntryCall
		_ = json.Unmarshal(x.meant(), &of) // what was planned can be read
		address = of.Path
	}
	if address != "" {
		source += " from " + sdk.Head(e.cfg.Redact(address), longestSource)
	}
	return source
}

// hadFrom adds to the name of what was read the run that had it first; an empty alias is the run itself.
func hadFrom(source, alias string) string {
	const to = " to the run "
	if source == "" || alias == "" || strings.Contains(source, to) {
		return source
	}
	return source + to + alias
}

// foreignWrite marks a run by what was read.
func foreignWrite(source string) sdk.Write {
	return sdk.Write{Path: foreignPath, Body: &source, Writer: sdk.WriterSystem, State: sdk.StateResolved, Visibility: sdk.Archived}
}

// marked are the children that begin, each with the mark of the run that asks for it. Over are the actions whose ends
// the same commit records.
func (e *Engine) marked(a *activeLoop, begun []sdk.Child, over []*action) []sdk.Child {
	if len(begun) == 0 {
		return begun
	}
	source := e.foreign(a.run.ID)
	if i := slices.IndexFunc(over, func(x *action) bool { return x.marks != nil }); source == "" && i >= 0 {
		source = *over[i].marks.Body
	}
	if source == "" {
		return begun
	}
	for i := range begun {
		begun[i].Loop.Change = withWrites(begun[i].Loop.Change, []sdk.Write{foreignWrite(hadFrom(source, a.run.Alias))})
	}
	return begun
}

// passMark marks a run where another one is marked.
func (e *Engine) passMark(ctx context.Context, from sdk.Run, to int64) error {
	source := e.foreign(from.ID)
	if source == "" || e.foreign(to) != "" {
		return nil
	}
	_, err := e.Commit(ctx, sdk.Change{Run: to, Writes: []sdk.Write{foreignWrite(hadFrom(source, from.Alias))}})
	return err
}

// outlives reports whether a verb changes entries that other runs see.
func (e *Engine) outlives(x *action) bool {
	if !x.touchesEntries() || x.readOnly() {
		return false
	}
	var targets struct {
		Path string `json:"path"`
		To   string `json:"to"`
	}
	if json.Unmarshal(x.meant(), &targets) != nil {
		return true
	}
	if x.tool.Name == string(sdk.VerbCopy) { // which leaves what it copies as it is
		targets.Path = ""
	}
	return slices.ContainsFunc([]string{targets.Path, targets.To}, func(at string) bool {
		if at == "" {
			return false
		}
		return e.lasts(at) || strings.ContainsFunc(sdk.SchemeOf(at), func(c rune) bool { return strings.ContainsRune("*?[]{}()|.+\\^$", c) })
	})
}

// lasts reports whether other runs see the entry of a path.
func (e *Engine) lasts(path string) bool {
	scheme, known := e.cfg.Store.Scheme(sdk.SchemeOf(path))
	return known && scheme.Scope != "run"
}

// warily adds to what is protected what tells agents what to do, for a command of a run that has read what came from
// outside: on a copy of the project such a change waits for a person.
func (e *Engine) warily(run sdk.Run, x *action, p sdk.Protection) sdk.Protection {
	if x.tool.Command != "" && e.foreign(run.ID) != "" {
		p.Ask = slices.Concat(p.Ask, protect.Instructing())
	}
	return p
}
