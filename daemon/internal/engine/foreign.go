package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

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

// mark has one of the ended actions mark its run by the commit of its end, where one of them brought what came from
// outside and the run is not marked. The calls of a project that no model reads mark nothing.
func (e *Engine) mark(a *activeLoop, over []*action) {
	if a.run.Hidden || slices.ContainsFunc(over, func(x *action) bool { return x.marks != nil }) {
		return
	}
	for _, x := range over {
		source, run := e.source(x)
		if source == "" {
			continue
		}
		if e.foreign(a.run.ID) != "" {
			return
		}
		w := foreignWrite(source, run)
		w.Loop, w.Turn = x.Loop, x.Turn
		x.marks = &w
		return
	}
}

// source names what an ended action brought that came from outside, and the run that read it where that is a child;
// empty is nothing. What nothing vouches for counts as that.
func (e *Engine) source(x *action) (source, run string) {
	switch {
	case !x.ended() || !x.ran() || x.cause == withdrawn:
	case x.Child != nil:
		return e.foreign(x.Child.Run), x.Child.Alias
	case x.own != nil || x.Plugin == sdk.OwnPlugin:
	case x.OpenWorld || x.tool.Annotations.OpenWorld || x.tool.Name != "" && !x.tool.Pinned:
		return e.brought(x), ""
	}
	return "", ""
}

// brought names what a call brought: its tool, and the address that it asked.
func (e *Engine) brought(x *action) string {
	source := "what " + cmp.Or(x.tool.Name, x.Tool) + " brought"
	if address := x.address(); address != "" {
		source += " from " + sdk.Head(e.cfg.Redact(address), longestSource)
	}
	return source
}

// foreignWrite marks a run; of names the run that it has it from, and is empty where it read that itself.
func foreignWrite(source, of string) sdk.Write {
	const to = " to the run "
	if of != "" && !strings.Contains(source, to) {
		source += to + of
	}
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
		begun[i].Loop.Change = withWrites(begun[i].Loop.Change, []sdk.Write{foreignWrite(source, a.run.Alias)})
	}
	return begun
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
		name := sdk.SchemeOf(at)
		scheme, known := e.cfg.Store.Scheme(name)
		return known && scheme.Scope != "run" || strings.ContainsFunc(name, func(c rune) bool { return strings.ContainsRune("*?[]{}()|.+\\^$", c) })
	})
}

// warily adds to what is protected what tells agents what to do, for a command of a run that has read what came from
// outside: on a copy of the project such a change waits for a person.
func (e *Engine) warily(run sdk.Run, x *action, p sdk.Protection) sdk.Protection {
	if x.tool.Command != "" && e.foreign(run.ID) != "" {
		p.Ask = slices.Concat(p.Ask, protect.Instructing())
	}
	return p
}
