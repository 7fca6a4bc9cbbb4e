package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// checkUnsaved refuses to change a file that a person is writing in: the editor would have
// one text and the disk another, and whichever is saved last takes the other away.
func (p *project) checkUnsaved() error {
	if len(p.unsaved) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "the person's editor has unsaved changes of %s, and nothing was done so that they are not lost: ask the person to save them, or to undo them, and make the call again then", p.unsavedNames())
}

func (p *project) unsavedNames() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.unsaved)) {
		names = append(names, shown(name))
	}
	return strings.Join(names, " and ")
}

// unsavedNote says which text of a file a result is about, where there are two.
func (p *project) unsavedNote() string {
	switch {
	case len(p.unsaved) == 0:
		return ""
	case p.shows:
		return "[this is the text in the person's editor, with changes that are not saved: the disk has another]\n"
	default:
		return "[the person's editor has unsaved changes of " + p.unsavedNames() + "; this is what the disk has]\n"
	}
}
