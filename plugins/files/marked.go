package main

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

// An edit by markers is what the verb set makes of a file: edit_file with old_text empty, and the regions in new_text.

// marked reads new_text as such an edit; false is an edit of one place.
func (a editArgs) marked() (e edit.Edit, is bool, err error) {
	if a.OldText != "" {
		return e, false, nil
	}
	if e, err = edit.Parse(a.NewText); err != nil {
		return e, true, at(a.Path, err)
	}
	return e, e.Marked() || e.Foreign(), nil
}

// begun is the file that an edit by markers makes where none is, and what is to be told of it; nil where there is one, or the
// edit is of one place. By the time that it is written nothing else may have come there.
func (p *project) begun(a editArgs) (file *writeArgs, notes string, err error) {
	e, marked, err := a.marked()
	if err != nil || !marked {
		return nil, "", err
	}
	pl, err := p.target(a.Path, lookup{dry: true})
	if err != nil {
		return nil, "", err
	}
	defer pl.close()
	if pl.info != nil {
		return nil, "", nil
	}
	r, err := e.Apply("")
	if err != nil {
		return nil, "", at(a.Path, err)
	}
	return &writeArgs{Path: a.Path, Content: r.Body}, told(r.Warnings), nil
}

// apply makes an edit by markers of what the file has.
func (e *editing) apply(regions edit.Edit) error {
	r, err := regions.Apply(e.before)
	if err != nil {
		return at(e.path, err)
	}
	e.regions, e.Body, e.notes = true, r.Body, told(r.Warnings)
	for _, w := range r.Warnings {
		e.Reindented = e.Reindented || w.Kind == edit.Reindented
	}
	return nil
}

// told is what a model is told of warnings behind an answer.
func told(warnings []edit.Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		b.WriteString("; " + w.Message)
	}
	return b.String()
}

// at says of which file something was refused.
func at(name string, err error) error {
	return sdk.Errorf(sdk.OutcomeOf(err), "%s: %w", shown(name), err)
}
