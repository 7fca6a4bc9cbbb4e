package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
	"github.com/bothyd/bothy/sdk/protect"
	"github.com/bothyd/bothy/sdk/tool"
)

// largestFile is the most that may be configured: what still fits in one
// message between the plugin and the daemon.
const largestFile = 10_000_000

// config is the plugin's block.
type config struct {
	MaxFileBytes int64 `hcl:"max_file_bytes" default:"10000000" doc:"The most bytes of a file that one call reads, writes or edits; at most 10000000. Ranges of lines can be read of any file."`
}

// files is the plugin with its configuration.
type files struct {
	config config
	rules  protect.Rules
}

func (f *files) configure(_ context.Context, s sdk.Settings) error {
	f.rules.Bothy = protect.BothyPaths(s.DataDir, s.Prefix)
	if n := f.config.MaxFileBytes; n < 1 || n > largestFile {
		return sdk.Errorf(sdk.Validation, "max_file_bytes is %d; it can be 1 to %d", n, largestFile)
	}
	return nil
}

// rulesOf are what is protected in the project of a call.
func (f *files) rulesOf(call sdk.Invocation) protect.Rules {
	return protect.Rules{Bothy: f.rules.Bothy, Refuse: call.Protection.Refuse, Ask: call.Protection.Ask, Free: call.Protection.Free}
}

// tools are what the plugin serves, in the order in which a model meets them:
// look, then change.
func (f *files) tools() tool.Set {
	looks := sdk.Annotations{ReadOnly: true, Idempotent: true}
	return tool.Set{
		serve(f, "read_file", "Reads a text file of the project or of a loaded skill (/skills/NAME/...), or a range of its lines. A large file is read in ranges. A binary file is described, not shown.",
			looks, (*project).read),
		serve(f, "list_files", "Lists a folder of the project by name, hidden files included, with sizes; folders end in a slash.",
			looks, (*project).list),
		serve(f, "find_files", "Finds files of the project by a glob over their paths, such as **/*_test.go. Folders called .git are left out.",
			looks, (*project).find),
		serve(f, "grep", "Finds the lines in files of the project that match a regular expression, shown as path:line:text. Binary files, files of credentials and .git are left out.",
			looks, (*project).grep),
		serve(f, "diff_files", "Compares two text files of the project, or one with a text, and shows the unified diff. Nothing is changed.",
			looks, (*project).diff).Body("text"),
		change(f, "write_file", "Makes a file of the project, or replaces it whole; missing folders are made. To change a part of a file use edit_file.",
			sdk.Annotations{Destructive: true, Idempotent: true}, operation[writeArgs]{plan: (*project).planWrite, do: (*project).write}).Body("content"),
		change(f, "edit_file", "Replaces one place in a text file. old_text must fit exactly one place; it is looked for exactly, then by whole lines whatever their indentation. When it fits nowhere or in several places, nothing is written and the answer names the lines.",
			sdk.Annotations{Destructive: true}, operation[editArgs]{plan: (*project).planEdit, do: (*project).edit}).Body("new_text"),
		change(f, "create_directory", "Makes a folder in the project, and those above it.",
			sdk.Annotations{Idempotent: true}, operation[createArgs]{plan: (*project).planCreate, do: (*project).create}),
		change(f, "delete_path", "Deletes a file, a link or a folder of the project for good. A folder that is not empty needs recursive.",
			sdk.Annotations{Destructive: true}, operation[deleteArgs]{plan: (*project).planDelete, do: (*project).delete}),
		change(f, "move_path", "Moves or renames a file or folder of the project. It replaces a file only with overwrite, a folder never.",
			sdk.Annotations{Destructive: true}, operation[moveArgs]{plan: (*project).planMove, do: (*project).move}),
		change(f, "copy_path", "Copies a file or a whole folder of the project. It replaces a file only with overwrite, a folder never.",
			sdk.Annotations{Destructive: true}, operation[moveArgs]{plan: (*project).planCopy, do: (*project).copy}),
	}
}

// serve makes a tool of an operation on the project of the call. A failed
// operation is a result with an outcome; nothing of it is an error of the call.
func serve[In any](f *files, name, description string, a sdk.Annotations, do func(*project, context.Context, In) (answer, error)) tool.Func {
	return tool.New(name, description, a, func(ctx context.Context, in In, call tool.Call) (sdk.ToolResult, error) {
		p, err := openFor(call.Invocation, a, &in)
		if err != nil {
			return sdk.Failed(err), nil
		}
		defer p.close()
		if filepath.IsAbs(call.RunDir) {
			p.kept, p.held, p.attempts = kept.Beside(call.RunDir), heldPaths(call.RunDir), attemptsOf(call.Invocation)
		}
		p.rules, p.most, p.base, p.unsaved, p.unsure = f.rulesOf(call.Invocation), f.config.MaxFileBytes, call.Base, call.Unsaved, call.Unsure
		p.given = givenOf(call.Invocation)
		got, err := do(p, ctx, in)
		if err != nil {
			failed := sdk.Failed(err)
			p.changes.tell(&failed, p.kept)
			return failed, nil
		}
		return p.done(got)
	}).Whole()
}

// done is the result of an operation that did not fail.
func (p *project) done(got answer) (sdk.ToolResult, error) {
	structured, err := json.Marshal(got.data)
	if err != nil {
		return sdk.ToolResult{}, fmt.Errorf("encode the result: %w", err)
	}
	done := sdk.ToolResult{Success: true, Output: withNote(got.text, p.note()+p.unsavedNote()), Truncated: got.truncated, Structured: structured}
	p.changes.tell(&done, p.kept)
	return done, nil
}
