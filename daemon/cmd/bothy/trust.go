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
	Project string            `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`

	AcceptInstructions bool `xor:"instructions" help:"Have agents follow the instructions of this folder and of those below (AGENTS.md, CLAUDE.md), without a question."`
	RevokeInstructions bool `xor:"instructions" help:"Have agents follow the instructions of this folder no more."`
}

// Help adds to the verb's help.
func (trustCmd) Help() string {
	return `A skill that came with a project is inert until you trust it: no agent is told of it, nothing of it runs, and it hides no skill of yours. This shows each of them with its files, what it asks for and what changed since you trusted it last, and asks. The answer holds for the project and for what the skill's folder holds now: whatever changes in it, it has to be trusted again.

A folder may have instructions for agents too: AGENTS.md, or CLAUDE.md where there is none. They are not read before you say yes, and neither are those of the folders below. That yes is for the folder, whatever the files come to say; it trusts no skill, and trusting a skill is no yes to them.

Nothing is trusted without a terminal. A script that knows what it wants names the hash:

    bothy trust
    bothy trust deploy --json | jq -r '.skills[].hash'
    bothy trust --accept deploy=6f1e...
    bothy trust --revoke deploy
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
	if instructions && len(cmd.Accept)+len(cmd.Revoke)+len(cmd.Names) > 0 {
		return usageError{"instructions are not named with skills: answer about them by themselves"}
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	cl, err := c.connect(ctx)
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
	q := rpc.TrustQuery{Project: project, Names: cmd.Names}
	said := ""
	switch {
	case len(cmd.Accept) > 0:
		q.Accept, q.Names = cmd.Accept, slices.Sorted(maps.Keys(cmd.Accept))
		said = "skill %s is trusted as it is"
	case len(cmd.Revoke) > 0:
		q.Revoke, q.Names = true, cmd.Revoke
		said = "skill %s is not trusted any more"
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
	return c.askTrust(ctx, cl, found, len(cmd.Names) > 0)
}

// askTrust shows what there is and asks about each skill that can be trusted.
// Those that are trusted already are shown when they were named.
func (c *console) askTrust(ctx context.Context, cl *client.Client, found rpc.Trust, named bool) error {
	t := truster{c: c, cl: cl, project: found.Project, in: bufio.NewReader(c.in), trusted: map[string]bool{}}
	open := 0
	if !named {
		if unasked, err := t.instructions(ctx, found.Instructions); err != nil {
			return err
		} else if unasked {
			open++
		}
	}
	if len(found.Skills) == 0 {
		c.say("no skills came with %s", show.Line(found.Project))
	}
	for _, s := range found.Skills {
		if s.Trusted && !named {
			c.say("skill %s is trusted as it is", show.Line(s.Skill.Name))
			continue
		}
		if err := t.show(s); err != nil {
			return err
		}
		if s.Trusted || s.Problem != "" || t.trusted[s.Skill.Name] {
			continue
		}
		if open++; !c.inTTY {
			continue
		}
		if err := t.ask(ctx, s); err != nil {
			return err
		}
	}
	if open > 0 && !c.inTTY {
		return exitError{exitUnanswered, fmt.Errorf("nothing was trusted, since there is no terminal to ask on: run `bothy trust` in one, or say --accept NAME=HASH with the hash of a skill that you looked at, or --accept-instructions")}
	}
	if t.failed != nil {
		return exitError{code: errorCode(t.failed)}
	}
	return nil
}

// truster asks a person about skills, one after the other.
type truster struct {
	c       *console
	cl      *client.Client
	project string
	in      *bufio.Reader
	trusted map[string]bool // in this call
	failed  error
}

// ask asks until there is an answer. Without a word, and at the end of the
// input, it is no.
func (t *truster) ask(ctx context.Context, s rpc.TrustSkill) error {
	name := show.Line(s.Skill.Name)
	for {
		word, err := t.line(fmt.Sprintf("Trust %s as it is? [y/N, d shows all its text] ", name))
		if err != nil {
			return err
		}
		switch {
		case word == "d":
			if err := t.all(ctx, s); err != nil {
				return err
			}
			continue
		case word != "y" && word != "yes":
			t.c.say("%s stays inert", name)
			return nil
		}
		_, err = t.cl.Trust(ctx, rpc.TrustQuery{Project: t.project, Names: []string{s.Skill.Name}, Accept: map[string]string{s.Skill.Name: s.Hash}})
		if err != nil {
			t.failed = err
			t.c.complain(err)
			return ctx.Err()
		}
		t.trusted[s.Skill.Name] = true
		t.c.say("skill %s is trusted as it is", name)
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

// all prints the text of a skill, or what changed in it, whole.
func (t *truster) all(ctx context.Context, s rpc.TrustSkill) error {
	alone, err := t.cl.Trust(ctx, rpc.TrustQuery{Project: t.project, Names: []string{s.Skill.Name}})
	if err != nil {
		return err
	}
	for _, x := range alone.Skills {
		if x.Skill.Folder == s.Skill.Folder && x.Hash == s.Hash {
			return t.print(indented(show.Text(x.Diff), "  "))
		}
	}
	t.c.say("it changed while you looked at it: run `bothy trust` again")
	return nil
}

func (t *truster) print(text string) error {
	_, err := io.WriteString(t.c.out, text)
	return err
}

// show prints a skill as it would be trusted. All of it is escaped: it is what
// a stranger wrote.
func (t *truster) show(s rpc.TrustSkill) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s\n  %s\n", t.c.paint(bold, show.Line(s.Skill.Name)), show.Line(s.Skill.Folder), show.Line(show.OneLine(s.Skill.Description)))
	for _, l := range [][2]string{
		{"asks for these tools without a question", strings.Join(s.Skill.AllowedTools, ", ")},
		{"needs these tools", strings.Join(s.Skill.ToolsRequired, ", ")},
		{"is executed by the plugin", s.Skill.Plugin},
		{"hides the skill of this name in the tier", strings.Join(s.Hides, ", ")},
		{"hash", s.Hash},
	} {
		if l[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", l[0], show.Line(l[1]))
		}
	}
	for _, f := range s.Files {
		fmt.Fprintf(&b, "  %s\n", trustFileLine(f))
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "  %s %s\n", t.c.paint(red, "look out:"), show.Line(w))
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "  %s %s\n", t.c.paint(red, "it cannot be trusted:"), show.Line(s.Problem))
	}
	if s.Before != "" && s.Diff != "" {
		fmt.Fprintf(&b, "  since it was trusted:\n%s", indented(show.Text(s.Diff), "    "))
	}
	return t.print(b.String())
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
