package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type trustCmd struct {
	Names   []string          `arg:"" optional:"" name:"skill" complete:"skill" help:"The skills to show; all of the project when absent."`
	Accept  map[string]string `placeholder:"NAME=HASH" help:"Trust this skill without a question, if its folder has the hash that --json showed."`
	Revoke  []string          `placeholder:"NAME" complete:"skill" help:"Trust this skill no more."`
	Agents  bool              `help:"The names are those of agents (Markdown files of the project) and of no skill."`
	Project string            `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`

	AcceptInstructions bool `xor:"instructions" help:"Have agents follow the instructions of this folder and of those below (AGENTS.md, CLAUDE.md), without a question."`
	RevokeInstructions bool `xor:"instructions" help:"Have agents follow the instructions of this folder no more."`
}

// Help adds to the verb's help.
func (trustCmd) Help() string {
	return `A skill that came with a project is inert until you trust it: no agent is told of it, nothing of it runs, and it hides no skill of yours. This shows each of them with its files, what it asks for and what changed since you trusted it last, and asks. The answer holds for the project and for what the skill's folder holds now: whatever changes in it, it has to be trusted again.

The same goes for an agent that came with a project as a Markdown file, such as .claude/agents/reviewer.md: no prompt and no other agent gets it. That yes is for the bytes of the one file.

A folder may have instructions for agents too: AGENTS.md, or CLAUDE.md where there is none. They are not read before you say yes, and neither are those of the folders below. That yes is for the folder, whatever the files come to say; it trusts no skill, and trusting a skill is no yes to them.

Nothing is trusted without a terminal. A script that knows what it wants names the hash:

    bothy trust
    bothy trust deploy --json | jq -r '.skills[].hash'
    bothy trust --accept deploy=6f1e...
    bothy trust --revoke deploy
    bothy trust --agents reviewer
    bothy trust --agents --accept reviewer=9c02...
    bothy trust --accept-instructions
    bothy trust --revoke-instructions
`
}

// Run shows the instructions and the skills of the project and takes the answers.
func (cmd trustCmd) Run(ctx context.Context, c *console) error {
	if len(cmd.Accept) > 0 && len(cmd.Revoke) > 0 || len(cmd.Accept)+len(cmd.Revoke) > 0 && len(cmd.Names) > 0 {
		return usageError{"name the skills in one way only: with --accept, with --revoke, or without a flag"}
	}
	instructions := cmd.AcceptInstructions || cmd.RevokeInstructions
	if instructions && (cmd.Agents || len(cmd.Accept)+len(cmd.Revoke)+len(cmd.Names) > 0) {
		return usageError{"instructions are not named with skills or agents: answer about them by themselves"}
	}
	project, cl, err := c.connectIn(ctx, cmd.Project)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if instructions {
		found, err := answerInstructions(ctx, cl, project, cmd.AcceptInstructions)
		switch {
		case err != nil:
			return err
		case c.json:
			return c.printJSON(found)
		}
		c.saidInstructions(found.Project, cmd.AcceptInstructions)
		return nil
	}
	q := rpc.TrustQuery{Project: project, Names: cmd.Names, Agents: cmd.Agents}
	said, kind := "", kindOf(cmd.Agents)
	switch {
	case len(cmd.Accept) > 0:
		q.Accept, q.Names = cmd.Accept, slices.Sorted(maps.Keys(cmd.Accept))
		said = kind + " %s is trusted as it is"
	case len(cmd.Revoke) > 0:
		q.Revoke, q.Names = true, cmd.Revoke
		said = kind + " %s is not trusted any more"
	}
	found, err := cl.Trust(ctx, q)
	switch {
	case err != nil:
		return err
	case c.json:
		return c.printJSON(found)
	case said != "":
		for _, name := range q.Names {
			c.say(said, show.Line(name))
		}
		return nil
	}
	return c.askTrust(ctx, cl, found, cmd.Agents, len(cmd.Names) > 0)
}

// askTrust shows what there is and asks about each skill and agent that can be trusted.
// Those that are trusted already are shown when they were named.
func (c *console) askTrust(ctx context.Context, cl *client.Client, found rpc.Trust, agents, named bool) error {
	t := truster{c: c, cl: cl, project: found.Project, in: bufio.NewReader(c.in), trusted: map[trustable]bool{}}
	open := 0
	if !agents && !named {
		if unasked, err := t.instructions(ctx, found.Instructions); err != nil {
			return err
		} else if unasked {
			open++
		}
	}
	if len(found.Skills) == 0 && !agents {
		c.say("no skills came with %s", show.Line(found.Project))
	}
	if len(found.Agents) == 0 && agents {
		c.say("no agents came with %s", show.Line(found.Project))
	}
	for _, b := range allAsked(found) {
		if b.isTrusted && !named {
			c.say("%s %s is trusted as it is", kindOf(b.agent), show.Line(b.name))
			continue
		}
		if err := t.print(b.text(c)); err != nil {
			return err
		}
		if b.isTrusted || b.problem != "" || t.trusted[b.trustable] {
			continue
		}
		if open++; !c.inTTY {
			continue
		}
		if err := t.ask(ctx, b); err != nil {
			return err
		}
	}
	if open > 0 && !c.inTTY {
		return exitError{exitUnanswered, fmt.Errorf("nothing was trusted, since there is no terminal to ask on: run `bothy trust` in one, or say --accept NAME=HASH (for an agent with --agents) with the hash of what you looked at, or --accept-instructions")}
	}
	if t.failed != nil {
		return exitError{code: errorCode(t.failed)}
	}
	return nil
}

// truster asks a person about skills and agents, one after the other.
type truster struct {
	c       *console
	cl      *client.Client
	project string
	in      *bufio.Reader
	trusted map[trustable]bool // in this call
	failed  error
}

// ask asks until there is an answer. Without a word, and at the end of the
// input, it is no.
func (t *truster) ask(ctx context.Context, b asked) error {
	name := show.Line(b.name)
	for {
		word, err := t.line(fmt.Sprintf("Trust %s as it is? [y/N, d shows all its text] ", name))
		if err != nil {
			return err
		}
		switch {
		case word == "d":
			if err := t.all(ctx, b); err != nil {
				return err
			}
			continue
		case word != "y" && word != "yes":
			t.c.say("%s stays inert", name)
			return nil
		}
		_, err = t.cl.Trust(ctx, rpc.TrustQuery{Project: t.project, Agents: b.agent, Names: []string{b.name}, Accept: map[string]string{b.name: b.hash}})
		if err != nil {
			t.failed = err
			t.c.complain(err)
			return ctx.Err()
		}
		t.trusted[b.trustable] = true
		t.c.say("%s %s is trusted as it is", kindOf(b.agent), name)
		return nil
	}
}

// line asks for a word. Where the input ends it is none.
func (t *truster) line(question string) (string, error) {
	fmt.Fprint(t.c.err, question)
	line, err := t.in.ReadString('\n')
	switch {
	case errors.Is(err, io.EOF):
		line = strings.TrimSpace(line)
		if line == "d" { // nobody is there to read it
			line = ""
		}
	case err != nil:
		return "", fmt.Errorf("standard input: %w", err)
	}
	return strings.ToLower(strings.TrimSpace(line)), nil
}

// all prints the text of a skill or an agent, or what changed in it, whole.
func (t *truster) all(ctx context.Context, b asked) error {
	alone, err := t.cl.Trust(ctx, rpc.TrustQuery{Project: t.project, Agents: b.agent, Names: []string{b.name}})
	if err != nil {
		return err
	}
	for _, x := range allAsked(alone) {
		if x.trustable == b.trustable && x.place == b.place && x.hash == b.hash {
			return t.print(indented(show.Text(x.diff), "  "))
		}
	}
	t.c.say("it changed while you looked at it: run `bothy trust` again")
	return nil
}

func (t *truster) print(text string) error {
	_, err := io.WriteString(t.c.out, text)
	return err
}

func trustFileLine(f rpc.TrustFile) string {
	line := fmt.Sprintf("%8d  %s", f.Size, show.Line(f.Path))
	if f.Script {
		line += "  (script)"
	}
	if f.Change != "" {
		line += "  [" + show.Line(f.Change) + "]"
	}
	return line
}

// indented puts something before each line.
func indented(text, before string) string {
	if text == "" {
		return ""
	}
	return before + show.Indent(text, before) + "\n"
}
