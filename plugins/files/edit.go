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
func (p *project) edit(ctx context.Context, a editArgs, most int64) (answer, error) {
	pl, err := p.editable(a)
	if err != nil {
		return answer{}, err
	}
	defer pl.close()
	before, was, got, err := pl.edit(a, most)
	if err != nil {
		return answer{}, err
	}
	if err := p.makes(pl.path, hashOf(got.Body)); err != nil {
		return answer{}, err
	}
	if err := ctx.Err(); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	if err := pl.replace(was, filling(got.Body)); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	p.changes.wrote(pl.path, &kept{state: sdk.FileState{Kind: "file", Mode: uint32(was.Mode().Perm()), Hash: hashOf(before)}, text: before}, got.Body)
	return edited(pl.path, before, got), nil
}

// planEdit is what edit would do.
func (p *project) planEdit(ctx context.Context, a editArgs, most int64) (*plan, error) {
	pl, err := p.editable(a)
	if err != nil {
		return nil, err
	}
	defer pl.close()
	before, _, got, err := pl.edit(a, most)
	if err != nil {
		return nil, err
	}
	if err := pl.writable(); err != nil {
		return nil, fault("write", a.Path, err)
	}
	now, err := planText(ctx, pl, got.Body)
	if err == nil && now.states[0].sum != hashOf(before) {
		return nil, changedMeanwhile(pl.path)
	}
	return now, err
}

// edit works out the new contents of the file at the place.
func (pl *place) edit(a editArgs, most int64) (before string, was fs.FileInfo, got match.Replacement, err error) {
	before, was, err = readText(pl, a.Path, most)
	if err != nil {
		return "", nil, got, err
	}
	got, err = match.Replace(before, a.OldText, a.NewText)
	if err != nil {
		return "", nil, got, editFault(a.Path, err)
	}
	if int64(len(got.Body)) > most {
		return "", nil, got, sdk.Errorf(sdk.Overflow, "%s would become %s, and at most %s can be edited", shown(a.Path), sized(int64(len(got.Body))), sized(most))
	}
	return before, was, got, nil
}

// editable resolves a file that is there and may be changed; no folder is made.
func (p *project) editable(a editArgs) (*place, error) {
	if a.OldText == a.NewText {
		return nil, sdk.Errorf(sdk.Validation, "old_text and new_text are the same; there is nothing to change")
	}
	return p.present(a.Path, lookup{}, "make it with write_file, or list_files shows what there is")
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
	return sdk.Errorf(sdk.Conflict, "%s: %w", shown(name), err)
}

func edited(path, before string, got match.Replacement) answer {
	diff := match.Diff(path, before, got.Body)
	text := fmt.Sprintf("Edited %s at line %d", shown(path), got.Line)
	if got.Reindented {
		text += "; old_text was found by its lines, not exactly, and new_text was given the indentation of the place: check the result"
	}
	if diff == "" {
		text += "; the file is the same as before"
	}
	data := editData{Path: path, Line: got.Line, Bytes: len(got.Body), Reindented: got.Reindented}
	cut := len(diff) > shownDiff
	if cut {
		diff = diff[:shownDiff] + "\n[the diff goes on]\n"
	}
	data.Diff = strings.ToValidUTF8(diff, "\uFFFD")
	return answer{text: text + "\n" + data.Diff, data: data, truncated: cut}
}
