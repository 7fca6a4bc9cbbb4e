package policy

import (
	"cmp"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

// The tools of the files plugin of which one may do what the other does.
const (
	filesPlugin = "files"
	editTool    = "edit_file"
	writeTool   = "write_file"
)

// writesWhole reports whether a call is an edit by markers that holds without a text: where no file is it begins one, as
// write_file does (decision 125).
func writesWhole(tool sdk.Tool, arguments map[string]any) bool {
	if tool.Plugin != filesPlugin || cmp.Or(tool.Declared, tool.Name) != editTool || arguments["old_text"] != "" {
		return false
	}
	text, _ := arguments["new_text"].(string)
	e, err := edit.Parse(text)
	if err != nil || !e.Marked() && !e.Foreign() {
		return false
	}
	_, err = e.Apply("")
	return err == nil
}

// named reports whether a rule is about the tool. One that allows has to name each tool whose work the call may do; of one that
// denies or proposes any does, also the verb by which the tool was called.
func (j *judged) named(r *sdk.PolicyRule) bool {
	if len(r.Tools) == 0 {
		return true
	}
	is, writes := slices.ContainsFunc(r.Tools, j.isTool), j.whole && slices.ContainsFunc(r.Tools, j.isWriter)
	if r.Verdict == sdk.Allow {
		return is && (!j.whole || writes || r.Exact != "")
	}
	return is || writes || j.Verb != "" && slices.ContainsFunc(r.Tools, j.isVerb)
}

// isWriter is isTool for write_file.
func (j *judged) isWriter(glob string) bool {
	return fits(glob, writeTool) || fits(glob, filesPlugin+"__"+writeTool)
}

// withholdsWriter reports whether write_file is among the tools that an agent's file holds back.
func withholdsWriter(without []string) bool {
	a := sdk.Agent{Without: without}
	return a.Withholds(writeTool) || a.Withholds(filesPlugin+"__"+writeTool)
}
