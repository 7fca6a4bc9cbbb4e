package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// shownDiff is how many bytes of a diff the model is shown.
const shownDiff = 16 << 10

// editArgs are the arguments of edit_file.
type editArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the project"`
	OldText string `json:"old_text" jsonschema:"the text to replace, with enough of its surroundings to be found exactly once"`
	NewText string `json:"new_text" jsonschema:"what takes its place; empty to delete"`
}

// editData is what edit_file did.
type editData struct {
	Path       string `json:"path"`
	Line       int    `json:"line"`
	Bytes      int    `json:"bytes"`
	Reindented bool   `json:"reindented"`
	Diff       string `json:"diff"`
}

// edit replaces one place in a file. A text that is nowhere or in several
// places is outcome conflict, and nothing is written.
func (p *project) edit(ctx context.Context, a editArgs) (answer, error) {
	if file, notes, err := p.begun(a); err != nil {
		return answer{}, err
	} else if file != nil {
		got, err := p.writeAs(ctx, *file, lookup{fresh: true})
		got.text += notes
		return got, err
	}
	e, err := p.editing(a)
	if err != nil {
		return answer{}, err
	}
	defer e.close()
	if err := p.makes(e.path, hashOf(e.Body)); err != nil {
		return answer{}, err
	}
	if err := ctx.Err(); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	got := e.answer()
	before := &pathState{kind: "file", mode: e.was.Mode().Perm(), sum: hashOf(e.before), body: []byte(e.before)}
	if err := p.put(e.place, e.was, before, e.Body, got); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	return got, nil
}

// planEdit is what edit would do.
func (p *project) planEdit(ctx context.Context, a editArgs) (*plan, error) {
	if file, _, err := p.begun(a); err != nil {
		return nil, err
	} else if file != nil {
		return p.planWriteAs(ctx, *file, lookup{fresh: true})
	}
	e, err := p.editing(a)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if err := e.writable(); err != nil {
		return nil, fault("write", a.Path, err)
	}
	now, err := planText(ctx, e.place, e.Body)
	if err == nil && now.states[0].sum != hashOf(e.before) {
		return nil, changedMeanwhile(e.path)
	}
	return now, err
}

// editing is an edit that is worked out: the file, how it is, and what it would
// become.
type editing struct {
	*place
	before string
	was    fs.FileInfo
	match.Replacement
	regions bool // it was made by markers, and has many places or none
	notes   string
}

// editing works out an edit of a file that is there and may be changed; no
// folder is made. The caller closes it.
func (p *project) editing(a editArgs) (_ *editing, err error) {
	regions, marked, err := a.marked()
	if err != nil {
		return nil, err
	}
	if a.OldText == a.NewText {
		return nil, sdk.Errorf(sdk.Validation, "old_text and new_text are the same; there is nothing to change")
	}
	pl, err := p.present(a.Path, lookup{}, "make it with write_file, or list_files shows what there is")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			pl.close()
		}
	}()
	e := &editing{place: pl}
	if e.before, e.was, err = readText(pl, a.Path, p.most); err != nil {
		return nil, err
	}
	if marked {
		err = e.apply(regions)
	} else if e.Replacement, err = match.Replace(e.before, a.OldText, a.NewText); err != nil {
		err = editFault(a.Path, err)
	}
	if err != nil {
		return nil, err
	}
	if n := int64(len(e.Body)); n > p.most {
		return nil, sdk.Errorf(sdk.Overflow, "%s would become %s, and at most %s can be edited", shown(a.Path), sized(n), sized(p.most))
	}
	return e, nil
}

// readText reads a whole file that is to be edited, and how it was then.
func readText(pl *place, name string, most int64) (string, fs.FileInfo, error) {
	f, info, err := openRegular(pl.dir, pl.base, name)
	if err != nil {
		return "", nil, err
	}
	defer closeRead(f)
	body, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", nil, fault("read", name, err)
	}
	if int64(len(body)) > most {
		return "", nil, sdk.Errorf(sdk.Overflow, "%s is %s, and at most %s can be edited; change it with a command instead", shown(name), sized(info.Size()), sized(most))
	}
	if bytes.IndexByte(body[:min(len(body), sniffed)], 0) >= 0 {
		return "", nil, sdk.Errorf(sdk.Validation, "%s is a binary file; only text can be edited", shown(name))
	}
	return string(body), info, nil
}

// editFault gives a refused match its outcome: a text that is not there is a
// conflict with the file as it is, just as one that is there twice.
func editFault(name string, err error) error {
	if errors.Is(err, match.ErrEmptySearch) {
		return sdk.Errorf(sdk.Validation, "old_text is empty: %w", err)
	}
	if sdk.OutcomeOf(err) == sdk.Overflow {
		return sdk.Errorf(sdk.Overflow, "%s: %w", shown(name), err)
	}
	return sdk.Errorf(sdk.Conflict, "%s: %w", shown(name), err)
}

func (e *editing) answer() answer {
	diff := match.Diff(e.path, e.before, e.Body)
	text := fmt.Sprintf("Edited %s at line %d", shown(e.path), e.Line)
	if e.regions {
		text = "Edited " + shown(e.path) + e.notes
	}
	if e.Reindented && !e.regions {
		text += "; old_text was found by its lines, not exactly, and new_text was given the indentation of the place: check the result"
	}
	if diff == "" && !e.regions {
		text += "; the file is the same as before"
	}
	data := editData{Path: e.path, Line: e.Line, Bytes: len(e.Body), Reindented: e.Reindented}
	cut := len(diff) > shownDiff
	if cut {
		diff = diff[:shownDiff] + "\n[the diff goes on]\n"
	}
	data.Diff = strings.ToValidUTF8(diff, "\uFFFD")
	return answer{text: text + "\n" + data.Diff, data: data, truncated: cut}
}
