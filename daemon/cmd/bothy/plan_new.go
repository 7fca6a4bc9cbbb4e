package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type planNewCmd struct {
	Goal    []string `arg:"" help:"What the plan is for."`
	File    string   `short:"f" default:"plan.yaml" placeholder:"FILE" complete:"file" help:"The file to write, which ends in .yaml."`
	Force   bool     `help:"Overwrite a file that is there."`
	Model   string   `short:"m" complete:"model" help:"The model to use: an alias, or PROVIDER/NAME ('bothy models' lists them)."`
	Agent   string   `short:"a" placeholder:"NAME" complete:"agent" help:"The agent block to use."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (planNewCmd) Help() string {
	return `An agent looks at the project, changes nothing, and hands the steps of a plan over, which are written into a file. Read and edit it, then give it to 'bothy run --plan'.

Examples:

    bothy plan new "release version 1.2"
    bothy plan new -f docs.yaml "document the HTTP API"
`
}

// planSchema is what the agent hands over. Its bounds are those of a plan, so that what is written can be followed.
const planSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","pattern":"^[^\\n]*\\S[^\\n]*$","maxLength":200,"description":"what the plan is for, in one line"},` +
	`"description":{"type":"string","description":"what somebody needs to know who follows it"},` +
	`"steps":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{` +
	`"name":{"type":"string","pattern":"^[^\\n]*\\S[^\\n]*$","maxLength":200,"description":"the step in a few words"},` +
	`"action":{"type":"string","pattern":"\\S","description":"what is to be done, so that it can be told when it is"},` +
	`"context":{"type":"string","description":"files, commands or code that the step needs"}},` +
	`"required":["name","action"],"additionalProperties":false}}},"required":["name","steps"],"additionalProperties":false}`

// writtenPlan is a plan as an agent hands it over.
type writtenPlan struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Steps       []struct {
		Name    string `json:"name"`
		Action  string `json:"action"`
		Context string `json:"context"`
	} `json:"steps"`
}

// Run asks for the plan and writes it down. Nothing is written where there is none.
func (cmd planNewCmd) Run(ctx context.Context, c *console) error {
	if !strings.HasSuffix(cmd.File, ".yaml") && !strings.HasSuffix(cmd.File, ".yml") {
		return usageError{fmt.Sprintf("the plan is written as YAML: call the file %s.yaml", cmd.File)}
	}
	file, err := c.newFile(cmd.File, cmd.Force)
	if err != nil {
		return err
	}
	project, cl, err := c.connectIn(ctx, cmd.Project)
	if err != nil {
		return err
	}
	defer c.close(cl)
	pressed := c.listen()
	defer pressed.stop()
	accepted, err := c.submit(ctx, cl, true, rpc.Prompt{
		Project: project, Agent: cmd.Agent, Model: cmd.Model, Schema: json.RawMessage(planSchema),
		Prompt: "Write a plan by which somebody else reaches this goal: " + strings.Join(cmd.Goal, " ") + "\n\n" +
			"Look at the project first, so that each step names the files and commands that it is about. Do none of it yourself: the plan is what you hand over.",
	}, pressed)
	if err != nil {
		return err
	}
	c.introduce(accepted)
	s := newLoopState(accepted.Loop)
	p := newProgress(c, s)
	wait, done := c.tellWaits()
	p.wait = wait
	err = c.follow(ctx, cl, accepted, s, p, approver{}, pressed)
	done()
	if err != nil {
		return err
	}
	p.lost()
	c.say("%s", p.summary(accepted, *s.End))
	if exit := exitOf(*s.End); exit != exitOK {
		return exitError{code: exit}
	}
	return cmd.write(c, file, s.Result())
}

// write makes the file, which is not written over unless a person said so.
func (cmd planNewCmd) write(c *console, file string, result json.RawMessage) error {
	var p writtenPlan
	if err := sdk.ReadJSON(result, &p); err != nil {
		return fmt.Errorf("what was handed over is no plan: %w", err)
	}
	how := os.O_EXCL
	if cmd.Force {
		how = os.O_TRUNC
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if err != nil {
		return fmt.Errorf("the plan is not written: %w", err)
	}
	_, err = f.WriteString(p.yaml())
	if err = errors.Join(err, f.Close()); err == nil {
		c.say("wrote %s: read it, edit it, and say bothy run --plan %s", show.Line(cmd.File), show.Line(cmd.File))
	}
	return err
}

// yaml is the plan as a person reads and edits it.
func (p writtenPlan) yaml() string {
	var b strings.Builder
	b.WriteString("name: " + scalar(p.Name, "") + "\n")
	if p.Description != "" {
		b.WriteString("description: " + scalar(p.Description, "  ") + "\n")
	}
	b.WriteString("steps:\n")
	for _, s := range p.Steps {
		b.WriteString("  - name: " + scalar(s.Name, "") + "\n    action: " + scalar(s.Action, "      ") + "\n")
		if s.Context != "" {
			b.WriteString("    context: " + scalar(s.Context, "      ") + "\n")
		}
	}
	return b.String()
}

// scalar writes a text: one of several lines as it stands, below an indent, where YAML reads it as the same, and else in
// quotes, whose escapes are those of Go.
func scalar(text, indent string) string {
	text = strings.TrimRight(text, "\n")
	odd := func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }
	if indent != "" && strings.Contains(text, "\n") && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\n") && !strings.ContainsFunc(text, odd) {
		return "|-\n" + indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	return strconv.Quote(text)
}
