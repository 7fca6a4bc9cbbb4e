package engine

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Instructions reads what files tell agents. An error is an entry of the run, and shown
// to the model as their absence.
type Instructions interface {
	// User reads the user's own.
	User() (sdk.Instructions, error)
	// Project reads those at the root of a project.
	Project(root string) (sdk.Instructions, error)
	// Nested reads those of the folders below the root of a project on the way to paths,
	// the outermost first, as far as they are fresh, and not many.
	Nested(root string, paths []string, fresh func(sdk.Instructions) bool) ([]sdk.Instructions, error)
}

// instructions reads those that the system text has.
func (e *Engine) instructions(a *activeLoop) (user, project sdk.Instructions) {
	if e.cfg.Instructions == nil {
		return user, project
	}
	var err error
	a.instructed = nil
	if a.run.Private { // who writes the prompts may be anybody
		return user, project
	}
	if user, err = e.cfg.Instructions.User(); err != nil {
		e.warn(a, "the model works without your own instructions: "+err.Error())
	}
	if project, err = e.cfg.Instructions.Project(a.project.Root); err != nil {
		e.warn(a, "the model works without the project's instructions: "+err.Error())
	}
	e.warnUntrusted(a, project)
	for i, in := range []sdk.Instructions{user, project} {
		if in.File != "" {
			a.instructed = append(a.instructed, sdk.SystemInstructions{File: in.File, User: i == 0, Untrusted: in.Untrusted})
		}
	}
	return user, project
}

// warnUntrusted tells whoever follows the run of a file that was not read. A question
// shows the one at the root alone.
func (e *Engine) warnUntrusted(a *activeLoop, in sdk.Instructions) {
	how := "`bothy trust` shows them and asks, `bothy trust --accept-instructions` says yes"
	if strings.Contains(in.File, "/") {
		how = "`bothy trust --accept-instructions` says yes to all of the project's"
	}
	if in.Untrusted {
		e.warn(a, in.File+" was not read, since nobody has agreed that agents follow the instructions in this folder: "+how)
	}
}

// warn tells something about instructions to whoever follows the run: once in a run.
func (e *Engine) warn(a *activeLoop, message string) {
	message = e.cfg.Redact(message)
	if a.warned[message] {
		return
	}
	if a.warned == nil {
		a.warned = map[string]bool{}
	}
	a.warned[message] = true
	for i := range a.mirror.Entries() {
		at := &a.mirror.Entries()[i]
		if path, ok := sdk.ParseActionPath(at.Path); ok && path.IsError() && at.Body == message {
			return
		}
	}
	slug := "instructions" // the next of a turn takes another: none is written over
	if n := len(a.warned); n > 1 {
		slug = fmt.Sprintf("instructions_%d", n)
	}
	e.log.Warn("instructions were not read", "run", a.run.Alias, "reason", message)
	a.turn.writes = append(a.turn.writes, a.errorWrite(slug, sdk.Unavailable, message))
}

// tellInstructions adds to the ends of calls the instructions of the folders that they
// worked below, those that the run has not been told of as they are: the system text
// stays as it is then, for servers that keep it. What a plugin called for another call
// is not read by the model, and tells nothing.
func (e *Engine) tellInstructions(ctx context.Context, a *activeLoop, over []*action) {
	if e.cfg.Instructions == nil || e.cfg.Access == nil {
		return
	}
	for _, x := range over {
		if x.folder != "" || x.Parent != "" || x.cause < concluded || x.Instructions != nil {
			continue
		}
		worked := e.cfg.Access.Worked(x.request())
		fresh := func(in sdk.Instructions) bool {
			return e.alreadyTold(ctx, a)[in.File] != e.clean(in)
		}
		found, err := e.cfg.Instructions.Nested(x.project, worked, fresh)
		if err != nil {
			e.warn(a, "the model works without instructions of a folder: "+err.Error())
		}
		for _, in := range found {
			in = e.clean(in)
			a.told[in.File] = in
			x.Instructions = append(x.Instructions, in)
			e.warnUntrusted(a, in)
		}
	}
}

// clean is what is kept of instructions, to compare with what was.
func (e *Engine) clean(in sdk.Instructions) sdk.Instructions {
	in.Text = e.cfg.Redact(in.Text)
	return in
}

// alreadyTold are the instructions that the run was told of with results, by file, each
// as it was told last: what its entries say, so that a fork and a run that was taken
// back know what they have. With a result that was archived they went.
func (e *Engine) alreadyTold(ctx context.Context, a *activeLoop) map[string]sdk.Instructions {
	if a.told != nil {
		return a.told
	}
	a.told = map[string]sdk.Instructions{}
	entries, err := a.mirror.Refresh(ctx)
	if err != nil {
		e.log.Warn("what a run was told of instructions cannot be read; it may be told again", "run", a.run.Alias, "error", err)
	}
	for i := range entries {
		if !strings.HasPrefix(entries[i].Path, "log://") || entries[i].Visibility == sdk.Archived || !bytes.Contains(entries[i].Attributes, []byte(`"instructions"`)) {
			continue
		}
		at, _ := sdk.ActionOf(entries[i]) // what can be read of it is enough
		for _, in := range at.Instructions {
			a.told[in.File] = in
		}
	}
	return a.told
}
