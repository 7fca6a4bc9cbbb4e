package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type explainCmd struct {
	Words []string `arg:"" name:"run-and-action" help:"The action: its path, the end of that (turn_2/bash/list), or a proposal's id. Before it, if need be, the run; the project's newest when absent."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (explainCmd) Help() string {
	return `Says what was decided about an action, by which rule, where that rule stands, which commands were seen in a command line, who answered, and what the rules in force now would say.

Examples:

    bothy explain turn_2/bash/go_test
    bothy explain fix-42 log://turn_2/bash/go_test
    bothy explain 1a2b3c4d --json | jq .decision
`
}

// Run prints the decision.
func (cmd explainCmd) Run(ctx context.Context, c *console) error {
	var p rpc.ExplainParams
	switch len(cmd.Words) {
	case 1:
		p.Action = cmd.Words[0]
	case 2:
		p.Run, p.Action = cmd.Words[0], cmd.Words[1]
	default:
		return usageError{"name one action, and before it the run if need be: bothy explain [RUN] ACTION"}
	}
	var err error
	if p.Run, err = cmd.name(ctx, c, p.Run, cmd.Project); err != nil {
		return err
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	p.Project = project
	return query(ctx, c, func(cl *client.Client) (rpc.Explained, error) { return cl.Explain(ctx, p) }, func(x rpc.Explained) error {
		_, err = c.out.Write([]byte(c.explained(x)))
		return err
	})
}

func (c *console) explained(x rpc.Explained) string {
	plain := *c
	plain.color = c.color && c.outTTY
	q := question{c: &plain, width: columns(c.out, c.outTTY)}
	fmt.Fprintf(&q.b, "%s of run %s\n", plain.visibleLine(x.Path), plain.visibleLine(x.Run))
	q.fact("tool", x.Tool)
	q.decision("decided", x.Decision)
	if x.Answer != "" {
		by := string(x.Answer)
		if x.AnsweredBy != "" {
			by += ", by " + x.AnsweredBy
		}
		q.fact("answered", by)
	}
	status := fmt.Sprintf("%d, %s", x.Status, statusWord(x.Status))
	if x.Outcome != "" {
		status += " (" + string(x.Outcome) + ")"
	}
	q.fact("it is", status)
	q.commands(x.Decision.Commands)
	if x.Now != nil {
		q.decision("now", *x.Now)
		q.commands(x.Now.Commands)
	}
	if x.Command != "" {
		q.command(sdk.Proposal{Command: x.Command}, "the command")
	} else if len(x.Arguments) > 0 {
		q.block("arguments", string(x.Arguments))
	}
	return q.b.String()
}

// decision is a verdict with the rule that gave it.
func (q *question) decision(name string, d sdk.Decision) {
	rule := strings.TrimSuffix(d.Rule+", "+d.Source, ", ")
	text := fmt.Sprintf("%s by rule %s: %s", d.Verdict, rule, d.Reason)
	if d.Violation != "" {
		text += " (a security event: " + d.Violation + ")"
	}
	q.fact(name, text)
}
