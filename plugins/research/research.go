package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/skill"
)

// limits are the plugin's block: what one execution may cost at most.
type limits struct {
	MaxFiles  int `hcl:"max_files" default:"12" doc:"How many files are read for one question."`
	MaxCalls  int `hcl:"max_calls" default:"24" doc:"How often the model is asked for one question: once for each part of a file, and once for the answer."`
	PartBytes int `hcl:"part_bytes" default:"16000" doc:"How much of a file the model is shown at a time. It has to fit into its context."`
}

// research is the plugin.
type research struct{ limits limits }

func (r *research) configure(context.Context, sdk.Settings) error {
	l := r.limits
	switch {
	case l.MaxFiles < 1 || l.MaxFiles > 1000:
		return sdk.Errorf(sdk.Validation, "max_files is %d; it can be 1 to 1000", l.MaxFiles)
	case l.MaxCalls < 2 || l.MaxCalls > 10_000:
		return sdk.Errorf(sdk.Validation, "max_calls is %d; it can be 2 to 10000: one for a part of a file, one for the answer", l.MaxCalls)
	case l.PartBytes < 1000 || l.PartBytes > 1_000_000:
		return sdk.Errorf(sdk.Validation, "part_bytes is %d; it can be 1000 to 1000000", l.PartBytes)
	}
	return nil
}

// found is what one execution came to, for programs.
type found struct {
	Question string    `json:"question"`
	Files    []source  `json:"files"`             // that the answer is based on
	Skipped  []skipped `json:"skipped,omitempty"` // that it is not, and why
	Calls    int       `json:"calls"`             // of the model
}

// source is a file that was read, as far as it was.
type source struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"` // the last line that was read
	Cut   bool   `json:"cut,omitempty"`
}

type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// work is one execution under way.
type work struct {
	found
	limits limits
	call   skill.Call
	notes  []string
	refuse error // the last reason for which a file could not be read
}

// execute finds files, takes notes of each and puts the notes together.
func (r *research) execute(ctx context.Context, call skill.Call) (sdk.ToolResult, error) {
	question, places := parse(call.Input)
	if question == "" {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "there is no question; write one, and if you know where the answer is, a last line such as: in: README.md docs/**/*.md")
	}
	w := &work{limits: r.limits, call: call, found: found{Question: question, Files: []source{}}}
	if err := call.Progress("looking for files", 0); err != nil {
		return sdk.ToolResult{}, err
	}
	paths, err := w.find(ctx, places)
	if err != nil {
		return w.failed("no files could be looked for", err)
	}
	if len(paths) == 0 && w.refuse != nil {
		return w.failed("no files could be looked for", w.refuse)
	}
	if len(paths) == 0 {
		return w.failed("", sdk.Errorf(sdk.NotFound, "no file of the project has to do with the question; name some in a last line such as: in: README.md docs/**/*.md"))
	}
	for n, path := range paths {
		said := fmt.Sprintf("reading %d of %d: %s", n+1, len(paths), path)
		if err := call.Progress(said, float64(n)/float64(len(paths)+1)); err != nil {
			return sdk.ToolResult{}, err
		}
		if err := w.read(ctx, path, w.share(len(paths)-n)); err != nil {
			return w.failed(fmt.Sprintf("the work ended at file %d of %d, %s", n+1, len(paths), path), err)
		}
	}
	if len(w.Files) == 0 {
		return w.failed("none of the files that were found could be read", w.refuse)
	}
	if err := call.Progress(fmt.Sprintf("answering from %d files", len(w.Files)), float64(len(paths))/float64(len(paths)+1)); err != nil {
		return sdk.ToolResult{}, err
	}
	answer, err := w.ask(ctx, answerPrompt(question, w.notes, 2*w.limits.PartBytes))
	if err != nil {
		return w.failed("the answer could not be put together", err)
	}
	return w.result(strings.TrimSpace(answer))
}

// share is how many calls of the model a file may have when so many files are
// left. One call is kept for the answer.
func (w *work) share(files int) int { return (w.limits.MaxCalls - 1 - w.Calls + files - 1) / files }

// result is the answer with the files that it is based on.
func (w *work) result(answer string) (sdk.ToolResult, error) {
	var text strings.Builder
	text.WriteString(answer + "\n\nBased on:\n")
	for _, s := range w.Files {
		text.WriteString("- " + s.Path)
		if s.Cut {
			fmt.Fprintf(&text, " (lines 1 to %d)", s.Lines)
		}
		text.WriteString("\n")
	}
	w.tellSkipped(&text)
	data, err := json.Marshal(w.found)
	return sdk.ToolResult{Success: true, Output: text.String(), Structured: data}, err
}

// failed ends the work. The notes that were taken are not lost: whoever reads
// the result may go on from there.
func (w *work) failed(what string, why error) (sdk.ToolResult, error) {
	if why == nil {
		why = errors.New("nothing says why")
	}
	r := sdk.ToolResult{Outcome: outcomeOf(why), Error: why.Error()}
	if what != "" {
		r.Error = what + ": " + r.Error
	}
	text := strings.Builder{}
	text.WriteString(r.Error + "\n")
	if len(w.notes) > 0 {
		text.WriteString("\nNotes until then:\n" + strings.Join(w.notes, "\n"))
	}
	w.tellSkipped(&text)
	r.Output = text.String()
	data, err := json.Marshal(w.found)
	r.Structured = data
	return r, err
}

func (w *work) tellSkipped(text *strings.Builder) {
	if len(w.Skipped) == 0 {
		return
	}
	text.WriteString("\nNot read:\n")
	for _, s := range w.Skipped {
		fmt.Fprintf(text, "- %s: %s\n", s.Path, s.Reason)
	}
}

// outcomeOf is sdk.OutcomeOf, which also knows a model's failure.
func outcomeOf(err error) sdk.Outcome {
	var failed *sdk.ProviderError
	if errors.As(err, &failed) {
		return sdk.Unavailable
	}
	return sdk.OutcomeOf(err)
}
