// Package delegate says what an agent may ask another one for, what the run that does it may, and what its end
// means for the call that asked. A call or a loop goes in, a noun comes out; the engine makes the runs.
package delegate

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// Depth is how many delegations a prompt may be below one that somebody gave.
const Depth = 2

// Together is how many delegations of one answer are at work at the same time.
const Together = 4

// LongestText are the bytes that a task and its context may have together.
const LongestText = 256 << 10

// mostWrites are the globs that a task may have.
const mostWrites = 64

// Task is what a call of sdk.ToolDelegate asks for.
type Task struct {
	Agent   string `json:"agent"`
	Task    string `json:"task"`
	Context string `json:"context"`
	// Writes are globs of the only paths of the project that may be changed; nil is all, and an empty list none.
	Writes []string `json:"writes"`
}

// Read reads the arguments of a call. What cannot be meant is an error with outcome validation.
func Read(arguments json.RawMessage) (Task, error) {
	var t Task
	if err := sdk.ReadJSON(arguments, &t); err != nil {
		return t, sdk.Errorf(sdk.Validation, "the arguments of %s cannot be read: it takes agent, task and context, which are texts, and writes, a list of globs: %w", sdk.ToolDelegate, err)
	}
	return t, t.Check()
}

// Check refuses what cannot be meant, with outcome validation.
func (t Task) Check() error {
	switch {
	case strings.TrimSpace(t.Task) == "":
		return sdk.Errorf(sdk.Validation, "the task is empty; say in full what %s is to do, for it knows nothing of this conversation", t.Agent)
	case !utf8.ValidString(t.Task) || !utf8.ValidString(t.Context):
		return sdk.Errorf(sdk.Validation, "task and context must be valid UTF-8")
	case len(t.Task)+len(t.Context) > LongestText:
		return sdk.Errorf(sdk.Validation, "task and context have %d bytes and may have %d together; name files instead of copying them", len(t.Task)+len(t.Context), LongestText)
	case len(t.Writes) > mostWrites:
		return sdk.Errorf(sdk.Validation, "writes has %d globs and may have %d; name folders (src/**)", len(t.Writes), mostWrites)
	}
	for i, glob := range t.Writes {
		if _, err := match.ParseGlob(glob); err != nil {
			return err
		}
		at := clean(glob)
		if path.IsAbs(at) || at == ".." || strings.HasPrefix(at, "../") {
			return sdk.Errorf(sdk.Validation, "writes: %.80q leaves the project; globs are relative to it", glob)
		}
		if _, err := match.ParseGlob(at); err != nil { // ".." took away a part of its braces
			return sdk.Errorf(sdk.Validation, "writes: %.80q goes up from within braces or brackets; name each path as it is", glob)
		}
		t.Writes[i] = at
	}
	return nil
}

// clean is a glob as paths are matched: "./src/" means what is in src.
func clean(glob string) string {
	at := path.Clean(glob)
	switch {
	case at == ".":
		return "**"
	case strings.HasSuffix(glob, "/"):
		return at + "/**"
	}
	return at
}

// Prompt is what the other agent is told.
func (t Task) Prompt() string {
	if context := strings.TrimSpace(t.Context); context != "" {
		return t.Task + "\n\nContext:\n" + context
	}
	return t.Task
}

// OnlyReads reports whether nothing may be changed for the task.
func (t Task) OnlyReads() bool { return t.Writes != nil && len(t.Writes) == 0 }

// Folders has a glob that is the name of a folder mean all that is in it, too.
func (t Task) Folders(is func(path string) bool) Task {
	t.Writes = slices.Clone(t.Writes)
	for i, glob := range t.Writes {
		if !strings.ContainsAny(glob, `*?[{\`) && is(glob) {
			t.Writes[i] = glob + "/**"
		}
	}
	return t
}

// Within has the task write no more than the run may that asks for it, whose globs are given: without globs of its own
// it may write as much. Globs that leave those are an error.
func (t Task) Within(may []string) (Task, error) {
	switch {
	case may == nil || t.OnlyReads():
		return t, nil
	case t.Writes == nil:
		t.Writes = may
		return t, nil
	}
	inner, err := match.ParsePaths(t.Writes)
	if err != nil {
		return t, err
	}
	outer, err := match.ParsePaths(may)
	if err != nil {
		return t, err
	}
	if out := inner.Outside(outer); out != "" {
		return t, sdk.Errorf(sdk.Permission, "writes: %.80q is not within what you may change yourself, which is %s; name these, or folders in them", out, strings.Join(may, ", "))
	}
	return t, nil
}

// Run is the run that does a task for a call of another run: in the same project or, of a channel's, in as private a
// place, and without what that one, or its agent, was given without. What it may write its globs say; see Within.
func (t Task) Run(parent sdk.Run, call string) sdk.Run {
	return sdk.Run{
		Project: parent.Project, Private: parent.Private, Origin: parent.Origin, Delegator: parent.ID, DelegatedBy: call, Agent: t.Agent, Writes: t.Writes, Offline: parent.Offline,
		RunConfig: sdk.RunConfig{NoRepo: parent.NoRepo, NoInteraction: parent.NoInteraction, NoWeb: parent.NoWeb, NoProposals: parent.NoProposals, NoMemory: parent.NoMemory},
	}
}

// Beside reports whether two tasks may be worked on at the same time. Copies says that commands of both work on copies
// of the project; where they do not, only one of them may write. What was named for both to write must not overlap.
func (t Task) Beside(other Task, copies bool) bool {
	switch {
	case t.OnlyReads() || other.OnlyReads():
		return true
	case !copies:
		return false
	case t.Writes == nil || other.Writes == nil:
		return true
	}
	mine, err := match.ParsePaths(t.Writes)
	theirs, badly := match.ParsePaths(other.Writes)
	return err == nil && badly == nil && !mine.Overlap(theirs)
}
