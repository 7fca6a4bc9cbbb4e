package builtin

import (
	"cmp"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// follow has the calls behind see what a write will have done. Its entry was found before.
func (p *plan) follow(w sdk.Write) {
	x := p.now[w.Path]
	switch {
	case w.Check:
		return
	case w.Look:
		if x.Version == 0 { // a view is made
			x.Version, x.Loop, x.Turn = 1, w.Loop, w.Turn
		}
		scheme, _ := p.stored.Scheme(sdk.SchemeOf(w.Path))
		if w.Visibility == sdk.Visible && x.Visibility != sdk.Visible && scheme.Promotes() {
			x.Turn = cmp.Or(w.Turn, x.Turn)
		}
		x.Visibility = w.Visibility
		return
	case w.Remove && shared(x.Entry):
		x.State, x.Outcome, x.Visibility, x.Version, x.Loop, x.Turn = sdk.StateResolved, "", sdk.Archived, 0, 0, 0
		return
	case w.Remove:
		*x = sight{Entry: sdk.Entry{Path: w.Path}, planned: true}
		return
	case w.Chunk != nil:
		x.append(w.Chunk.Text)
		x.planned = true
		return
	}
	if !x.there || x.Version == 0 {
		x.State, x.Outcome, x.Visibility = sdk.StateResolved, "", sdk.Visible
	}
	if !x.there {
		x.bodied = true // all of it is known, whatever is stored
		if scheme, _ := p.stored.Scheme(sdk.SchemeOf(w.Path)); scheme.Scope != "run" {
			x.Scope = scheme.Scope // what is shared outlasts the run's look at it
		}
	}
	x.planned, x.there = true, true
	if w.State != "" {
		x.State, x.Outcome = w.State, w.Outcome
	}
	x.Visibility, x.Writer = cmp.Or(w.Visibility, x.Visibility), w.Writer
	x.Loop, x.Turn = cmp.Or(w.Loop, x.Loop), cmp.Or(w.Turn, x.Turn)
	x.Version++
	if w.Attributes != nil {
		x.Attributes = patched(x.Attributes, w.Attributes)
	}
	switch {
	case w.Body == nil:
	case w.Append:
		x.append(*w.Body)
	default:
		x.Body, x.bodied, x.added = *w.Body, true, ""
	}
}

// append puts a text behind a body, read or not.
func (x *sight) append(text string) {
	if x.bodied {
		x.Body += text
	} else {
		x.added += text
	}
}

// patched is attributes with a patch that was checked.
func patched(old, patch json.RawMessage) json.RawMessage {
	have, err := object(old)
	if err != nil {
		return patch
	}
	more, err := object(patch)
	if err != nil {
		return old
	}
	merged, ok := sdk.MergePatch(have, more).(map[string]any)
	if !ok || len(merged) == 0 {
		return nil
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return old
	}
	return text
}
