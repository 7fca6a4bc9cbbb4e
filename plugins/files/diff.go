package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The lines that diff_files shows around a change.
const (
	usualAround = 3
	mostAround  = 1000
)

// comparedDiff is how many bytes of a diff diff_files shows.
const comparedDiff = 64 << 10

// diffArgs are the arguments of diff_files.
type diffArgs struct {
	Path         string  `json:"path" jsonschema:"the file, relative to the project"`
	Other        string  `json:"other,omitempty" jsonschema:"the file that it is compared with, relative to the project; give this or text"`
	Text         *string `json:"text,omitempty" jsonschema:"the text that it is compared with; give this or other"`
	ContextLines *int    `json:"context_lines,omitempty" jsonschema:"how many lines to show around each change, 3 unless given, from 1 to 1000"`
}

// diffData is what diff_files found. Binary and huge files are compared whole.
type diffData struct {
	Path  string `json:"path"`
	Other string `json:"other,omitempty"`
	Same  bool   `json:"same"`
	Lines int    `json:"lines"` // of the diff
	Diff  string `json:"diff"`
}

// diff compares a file with another or with a text: what is only in it is told
// of as gone.
func (p *project) diff(ctx context.Context, a diffArgs) (answer, error) {
	if (a.Other == "") == (a.Text == nil) {
		return answer{}, sdk.Errorf(sdk.Validation, "give either other, the file to compare with, or text")
	}
	if isSkill(a.Path) || isSkill(a.Other) {
		return answer{}, sdk.Errorf(sdk.Permission, "files of a skill cannot be compared, only files of the project; read them with read_file")
	}
	around := usualAround
	if a.ContextLines != nil {
		around = min(max(*a.ContextLines, 1), mostAround)
	}
	from, err := p.compared(ctx, a.Path)
	if err != nil {
		return answer{}, err
	}
	to := pathState{path: from.path, kind: "file"}
	if a.Text != nil {
		to.body, to.size, to.sum = []byte(*a.Text), int64(len(*a.Text)), hashOf(*a.Text)
	} else if to, err = p.compared(ctx, a.Other); err != nil {
		return answer{}, err
	}
	data := diffData{Path: from.path, Same: from.sum == to.sum && from.unread+to.unread == ""}
	if a.Text == nil {
		data.Other = to.path
	}
	var text string
	switch {
	case data.Same:
		return answer{text: "There is no difference", data: data}, nil
	case from.shows() && to.shows():
		text = texts(from.path, to.path, string(from.body), string(to.body), around)
	default:
		verb := "differ"
		if from.unread+to.unread != "" && from.size == to.size {
			verb = "may differ"
		}
		text = fmt.Sprintf("Files %s (%s) and %s (%s) %s; their lines are not compared\n", shown(from.path), from.described(), shown(to.path), to.described(), verb)
	}
	return bounded(text, data), nil
}

// bounded cuts a long diff between lines and says what is missing.
func bounded(text string, data diffData) answer {
	data.Lines = strings.Count(text, "\n")
	cut := len(text) > comparedDiff
	if cut {
		text = text[:strings.LastIndexByte(text[:comparedDiff], '\n')+1]
		text += fmt.Sprintf("[%s more are not shown; read the files in ranges of lines]\n", plural(data.Lines-strings.Count(text, "\n"), "line"))
	}
	data.Diff = text
	return answer{text: text, data: data, truncated: cut}
}

// compared looks at a file that is to be compared.
func (p *project) compared(ctx context.Context, name string) (pathState, error) {
	pl, err := p.existing(name, lookup{})
	if err != nil {
		return pathState{}, err
	}
	if err := pl.readable(name); err != nil {
		return pathState{}, err
	}
	defer pl.close()
	if err := wantRegular(pl.info, pl.path); err != nil {
		return pathState{}, err
	}
	s := &snapshot{ctx: ctx, strict: true, keep: p.most, left: mostHashed}
	if err := s.place(pl); err != nil {
		return pathState{}, err
	}
	return s.states[0], nil
}
