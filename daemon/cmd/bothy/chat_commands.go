package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// chatCommand is a command of a conversation that is held line by line at a terminal.
type chatCommand struct {
	name, takes, help string
	// verb is the command line of bothy that does it: RUN stands for the conversation's
	// run, PROJECT for its project, and what is written behind the command follows.
	verb string
	set  func(ctx context.Context, t *chatSession, value string) error // in the place of a verb
}

// chatCommands are all of them, as the terminal front end has them where a verb does the
// same. /quit is the loop's own.
var chatCommands = []chatCommand{
	{name: "agent", takes: "NAME", help: "the agent of the next prompts", set: func(_ context.Context, t *chatSession, value string) error { t.cmd.Agent = value; return nil }},
	{name: "compact", help: "have the model summarize what was said, to make room", verb: "runs compact RUN --project PROJECT"},
	{name: "config", help: "what is wrong with the configuration", verb: "config check"},
	{name: "diff", takes: "[--path GLOB]", help: "what this run changed in files", verb: "runs diff RUN --project PROJECT"},
	{name: "fork", takes: "[--as NAME]", help: "another run that knows all that was said", verb: "runs fork RUN --project PROJECT"},
	{name: "mode", takes: "MODE", help: "how much runs unasked: interactive, restricted or workspace", set: setChatMode},
	{name: "model", takes: "NAME", help: "the model of the next prompts", set: func(_ context.Context, t *chatSession, value string) error { t.cmd.Model = value; return nil }},
	{name: "models", help: "the models that there are", verb: "models"},
	{name: "new", help: "begin another run", set: func(ctx context.Context, t *chatSession, _ string) error {
		t.leave(ctx)
		t.run, t.model, t.cmd.Alias, t.cmd.Yolo, t.cut = "", "", "", false, false
		return nil
	}},
	{name: "proposals", help: "what waits for an answer", verb: "proposals"},
	{name: "redo", help: "make again what /undo took back", verb: "runs redo RUN --project PROJECT"},
	{name: "rename", takes: "NAME", help: "another name for this run", verb: "runs rename RUN --project PROJECT"},
	{name: "reset", help: "a fresh sandbox for this run; files of the project stay", verb: "runs reset RUN --project PROJECT"},
	{name: "resume", takes: "NAME", help: "go on with another run", set: resumeChat},
	{name: "runs", help: "the project's runs", verb: "runs list --project PROJECT"},
	{name: "show", help: "the whole run, from its first prompt", verb: "runs show RUN --project PROJECT"},
	{name: "skills", help: "the skills that there are", verb: "skills list --project PROJECT"},
	{name: "status", help: "how the daemon is", verb: "status"},
	{name: "tools", help: "the tools that there are", verb: "tools"},
	{name: "trust", help: "what came with the project and nobody agreed to", verb: "trust --project PROJECT"},
	{name: "undo", takes: "[--path GLOB]", help: "take back what this run changed in files", verb: "runs undo RUN --project PROJECT"},
}

func setChatMode(_ context.Context, t *chatSession, value string) error {
	m := sdk.Mode(value)
	if t.cmd.Yolo {
		return usageError{"this run was begun with --yolo and stays in full mode: /new begins one that asks"}
	}
	if !m.Valid() || m == sdk.ModeFull {
		return usageError{"a mode is interactive, restricted or workspace; full needs `bothy chat --yolo`"}
	}
	t.cmd.Mode = value
	return nil
}

// resumeChat goes on with another run, which there has to be.
func resumeChat(ctx context.Context, t *chatSession, value string) error {
	run, err := t.cl.Run(ctx, rpc.RunRef{Run: value, Project: t.project})
	if err != nil {
		return err
	}
	t.run, t.model, t.cut = run.Run, "", false
	return nil
}

// command does what begins with a slash and names a command, where a person talks. Every
// other text is a prompt: the daemon knows the names of skills.
func (t *chatSession) command(ctx context.Context, line string) bool {
	name, is := strings.CutPrefix(line, "/")
	if !is || !t.c.inTTY || t.c.json {
		return false
	}
	name, rest, _ := strings.Cut(name, " ")
	rest = strings.TrimSpace(rest)
	if name == "help" || name == "" {
		t.help()
		return true
	}
	i := slices.IndexFunc(chatCommands, func(x chatCommand) bool { return x.name == name })
	if i < 0 {
		return false
	}
	if err := t.do(ctx, chatCommands[i], rest); err != nil {
		t.c.complain(err)
	}
	return true
}

func (t *chatSession) do(ctx context.Context, x chatCommand, rest string) error {
	switch {
	case x.takes != "" && x.takes[0] != '[' && rest == "":
		return usageError{fmt.Sprintf("/%s takes %s: /help lists the commands", x.name, x.takes)}
	case x.set != nil:
		return x.set(ctx, t, rest)
	}
	run := t.run
	if run == "" {
		run = t.cmd.Alias
	}
	words := strings.Fields(x.verb)
	if i := slices.Index(words, "RUN"); i >= 0 {
		if run == "" {
			return usageError{"there is no run yet: the first prompt makes one"}
		}
		words[i] = run
	}
	if i := slices.Index(words, "PROJECT"); i >= 0 {
		words[i] = t.project
	}
	if rest != "" {
		words = append(words, strings.Fields(rest)...)
	}
	args := append([]string{"-C", t.project}, words...)
	if !t.c.color {
		args = append([]string{"--no-color"}, args...)
	}
	c := *t.c
	if c.run(ctx, args) == exitOK && x.name == "rename" {
		t.run = rest
	}
	return nil
}

// help lists the commands.
func (t *chatSession) help() {
	for _, x := range chatCommands {
		t.c.say("  /%-20s %s", x.name+" "+x.takes, x.help)
	}
	t.c.say("  /%-20s %s", "quit", "leave; so does Ctrl-D")
	t.c.say("  /%-20s %s", "NAME", "a skill, by its name; a blank before the slash sends the text as it is")
	if t.run != "" {
		t.c.say("  this is run %s, model %s", show.Line(t.run), show.Line(t.model))
	}
}
