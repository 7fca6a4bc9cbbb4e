package main

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk/rpc"
)

// partArg is how a verb takes the part of a run that it is about: what all of it fits.
type partArg struct {
	Prompt int      `placeholder:"N" help:"Only what one prompt caused: 1 is 'act 1' in 'bothy runs show'."`
	Turn   int      `placeholder:"N" help:"Only what one turn did, by its number in 'bothy runs show'."`
	Action string   `placeholder:"PATH" help:"Only what one call did, and what was called for it: its path, or the end of that (turn_2/bash/call), as 'bothy runs show --turn' has it."`
	Path   []string `placeholder:"GLOB" sep:"none" complete:"file" help:"Only what was done at paths that fit, relative to the project: src/**. May be repeated."`
}

// check refuses numbers that nothing has.
func (a partArg) check() error {
	if a.Prompt < 0 || a.Turn < 0 {
		return usageError{"prompts and turns begin with 1"}
	}
	return nil
}

// of is the part as the daemon is asked about it.
func (a partArg) of(ref rpc.RunRef) rpc.ChangesOf {
	return rpc.ChangesOf{Run: ref.Run, Project: ref.Project, Prompt: a.Prompt, Turn: a.Turn, Action: a.Action, Paths: a.Path}
}

// words say what is meant, for people: "turn 3 of run fix-42".
func (a partArg) words(run string) string {
	var parts []string
	if len(a.Path) > 0 {
		parts = append(parts, strings.Join(a.Path, ", "))
	}
	if a.Action != "" {
		parts = append(parts, a.Action)
	}
	if a.Turn > 0 {
		parts = append(parts, fmt.Sprintf("turn %d", a.Turn))
	}
	if a.Prompt > 0 {
		parts = append(parts, fmt.Sprintf("prompt %d", a.Prompt))
	}
	return strings.Join(append(parts, "run "+run), " of ")
}

// flags are the flags that mean the same part, for a verb that people are told to call.
func (a partArg) flags() string {
	text := ""
	if a.Prompt > 0 {
		text += fmt.Sprintf(" --prompt %d", a.Prompt)
	}
	if a.Turn > 0 {
		text += fmt.Sprintf(" --turn %d", a.Turn)
	}
	if a.Action != "" {
		text += " --action " + a.Action
	}
	for _, glob := range a.Path {
		text += fmt.Sprintf(" --path '%s'", glob)
	}
	return text
}
