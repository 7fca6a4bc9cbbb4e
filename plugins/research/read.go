package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// partLines is how many lines are read at a time; a part ends earlier when its
// bytes are used up.
const partLines = 400

// part is a piece of a file.
type part struct {
	text string
	last int  // its last line
	more bool // the file goes on
	cut  bool // its last line is cut off
}

// read takes notes of a file in at most so many parts. What keeps one file from
// being read, or is too long for the model, is noted and not an error; what
// keeps all of them is.
func (w *work) read(ctx context.Context, path string, parts int) error {
	s, cut := source{Path: path}, false
	for first := 1; parts > 0; parts-- {
		p, why, err := w.part(ctx, path, first)
		if err != nil {
			return err
		}
		if why != nil {
			w.refuse = why
			if first == 1 {
				w.skip(path, why.Error())
			}
			break
		}
		note, err := w.ask(ctx, notePrompt(w.Question, path, first, p))
		if tooLong(err) {
			w.refuse = err
			w.skip(path, fmt.Sprintf("the part from line %d is too long for the model; make part_bytes of the plugin smaller", first))
			break
		}
		if err != nil {
			return err
		}
		w.note(path, first, p.last, note)
		if s.Lines, s.Cut, cut = p.last, p.more || p.cut || cut, cut || p.cut; !p.more {
			break
		}
		first = p.last + 1
	}
	if s.Lines > 0 {
		w.Files = append(w.Files, s)
	}
	return nil
}

// nothing is what the model answers for a part that does not help.
const nothing = "NOTHING"

func (w *work) note(path string, first, last int, note string) {
	note = strings.TrimSpace(note)
	if note == "" || strings.HasPrefix(note, nothing) {
		return
	}
	w.notes = append(w.notes, fmt.Sprintf("%s, lines %d to %d:\n%s\n", path, first, last, note))
}

// part reads from a line on. why is set when this file cannot be read.
func (w *work) part(ctx context.Context, path string, first int) (p part, why, err error) {
	r, err := host.Use(ctx, "read_file", map[string]any{"path": path, "start_line": first, "end_line": first + partLines - 1})
	switch {
	case ofThisOne(err):
		return part{}, err, nil
	case err != nil:
		return part{}, nil, err
	case !r.Success:
		return part{}, &sdk.Error{Outcome: r.Outcome, Message: r.Error}, nil
	}
	var data struct {
		EndLine int  `json:"end_line"`
		More    bool `json:"more"`
		Binary  bool `json:"binary"`
	}
	if err := json.Unmarshal(r.Structured, &data); err != nil {
		return part{}, nil, sdk.Errorf(sdk.Internal, "the tool read_file answered what cannot be read: %w", err)
	}
	switch {
	case data.Binary:
		return part{}, sdk.Errorf(sdk.Validation, "it is binary"), nil
	case strings.TrimSpace(r.Output) == "" && !data.More:
		return part{}, sdk.Errorf(sdk.Validation, "it is empty"), nil
	}
	return w.cut(r.Output, first, max(data.EndLine, first), data.More), nil, nil
}

// ofThisOne reports whether a call of a tool was refused for what it asks for,
// and not because nothing can be had.
func ofThisOne(err error) bool {
	if err == nil {
		return false
	}
	o := sdk.OutcomeOf(err)
	return o == sdk.Permission || o == sdk.NotFound || o == sdk.Validation
}

// cut ends a part at the last line that fits; a line that does not fit alone is
// cut itself, and the rest of it is not read.
func (w *work) cut(text string, first, last int, more bool) part {
	most := w.limits.PartBytes
	if len(text) <= most {
		return part{text: text, last: last, more: more}
	}
	end := strings.LastIndexByte(text[:most], '\n') + 1
	if end == 0 {
		line := strings.IndexByte(text, '\n') + 1
		return part{text: strings.ToValidUTF8(text[:most], ""), last: first, more: more || line > 0 && line < len(text), cut: true}
	}
	return part{text: text[:end], last: first + strings.Count(text[:end], "\n") - 1, more: true}
}

// ask asks the run's model, unless that was done as often as it may be.
func (w *work) ask(ctx context.Context, messages []sdk.Message) (string, error) {
	if w.Calls >= w.limits.MaxCalls {
		return "", sdk.Errorf(sdk.Internal, "the model was asked %d times, and may not be asked again", w.Calls)
	}
	w.Calls++
	answer, err := host.Ask(ctx, sdk.Request{Messages: messages})
	if err != nil {
		return "", fmt.Errorf("the model gave no answer: %w", err)
	}
	return answer, nil
}

func tooLong(err error) bool {
	var failed *sdk.ProviderError
	return errors.As(err, &failed) && failed.Class == sdk.ClassOverflow
}
