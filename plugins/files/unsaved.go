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
	if len(p.unsure) > 0 {
		return sdk.Errorf(sdk.Conflict, "the person's editor did not say within a second whether it has unsaved changes of %s, as it cannot of a text above 3 MB, and nothing was done so that none are lost: make the call again, and if that fails alike ask the person to save and close the file, or to make the change", names(p.unsure))
	}
	if len(p.unsaved) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "the person's editor has unsaved changes of %s, and nothing was done so that they are not lost: ask the person to save them, or to undo them, and make the call again then", names(slices.Sorted(maps.Keys(p.unsaved))))
}

// names are the files of a sentence.
func names(files []string) string {
	var all []string
	for _, name := range files {
		all = append(all, shown(name))
	}
	return strings.Join(all, " and ")
}

// unsavedNote says which text of a file a result is about, where there are two.
func (p *project) unsavedNote() string {
	note := ""
	switch {
	case p.shows:
		note = "[this is the text in the person's editor, with changes that are not saved: the disk has another]\n"
	case len(p.unsaved) > 0:
		note = "[the person's editor has unsaved changes of " + names(slices.Sorted(maps.Keys(p.unsaved))) + "; this is what the disk has]\n"
	}
	if len(p.unsure) > 0 {
		note += "[the person's editor did not say whether it has unsaved changes of " + names(p.unsure) + "; this is what the disk has]\n"
	}
	return note
}
