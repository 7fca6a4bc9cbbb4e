package main

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runCmd struct {
	Prompt  []string `arg:"" optional:"" help:"What to do. Without it, or with -, it is read from standard input."`
	Model   string   `short:"m" complete:"model" help:"The model to use: an alias, or PROVIDER/NAME ('bothy models' lists them)."`
	Alias   string   `name:"run" short:"r" placeholder:"ALIAS" complete:"run" help:"The name of the run to continue, or to make; a new one when absent."`
	Agent   string   `short:"a" placeholder:"NAME" complete:"agent" help:"The agent block to use."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Ask     bool     `help:"Only read: change nothing."`
	Format  string   `enum:"text,json,stream-json" default:"text" help:"text: steps on standard error, the answer on standard output. json: one object at the end. stream-json: one object a line, as it happens."`
	Quiet   bool     `short:"q" help:"Print the answer alone."`
	modeFlags
}

// Help adds to the verb's help.
func (runCmd) Help() string {
	return `The agent works in the project until it has an answer or something stops it. Ctrl-C aborts it; a second Ctrl-C leaves it to end by itself.

Examples:

    bothy run "add a test for the empty case of parseRange"
    git diff | bothy run - "review this"
    bothy run -r fix-42 "now run the tests again"
    bothy run -q --ask "which Go version does this need?"

` + exitCodes
}

// Run sends the prompt and follows it to its end, whose exit code it returns.
func (cmd runCmd) Run(ctx context.Context, c *console) error {
	if c.json && cmd.Format == "text" {
		cmd.Format = "json"
	}
	if err := cmd.check(cmd.Ask); err != nil {
		return err
	}
	prompt, err := c.prompt(cmd.Prompt)
	if err != nil {
		return err
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	who := cmd.approver(c, cmd.Format == "text")
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if err := c.openInstructions(ctx, cl, project, who.asks, cmd.Format == "text" && !cmd.Quiet); err != nil {
		return err
	}
	p := rpc.Prompt{Project: project, Prompt: prompt, Run: cmd.Alias, Agent: cmd.Agent, Model: cmd.Model, Attend: who.asks}
	cmd.widen(c, &p)
	accepted, err := c.submit(ctx, cl, cmd.Ask, p)
	if err != nil {
		return err
	}
	if cmd.Format == "text" && !cmd.Quiet {
		c.tellUntrusted(ctx, cl, project)
	}
	return cmd.show(ctx, c, cl, accepted, who)
}

// show follows the loop in the format that was asked for.
func (cmd runCmd) show(ctx context.Context, c *console, cl *client.Client, accepted rpc.Accepted, who approver) error {
	s := newLoopState(accepted.Loop)
	var err error
	switch cmd.Format {
	case "json":
		if err = c.follow(ctx, cl, accepted, s, silent{}, who); err == nil {
			err = c.printJSON(newResult(accepted, s))
		}
	case "stream-json":
		v := &stream{out: c.out, loop: s}
		v.print(event{Type: "accepted", Accepted: &accepted})
		if err = c.follow(ctx, cl, accepted, s, v, who); err == nil {
			v.print(event{Type: "result", Result: newResult(accepted, s)})
			err = v.failed
		}
	default:
		if !cmd.Quiet {
			c.introduce(accepted)
		}
		err = c.showText(ctx, cl, accepted, s, cmd.Quiet, who)
	}
	if err == nil && exitOf(*s.End) != exitOK {
		err = exitError{code: exitOf(*s.End)}
	}
	return err
}

// showText is how people see a loop; chat uses it too.
func (c *console) showText(ctx context.Context, cl *client.Client, accepted rpc.Accepted, s *loopState, quiet bool, who approver) error {
	p := newProgress(c, s)
	var v viewer = p
	if quiet {
		v = silent{}
	}
	if err := c.follow(ctx, cl, accepted, s, v, who); err != nil {
		return err
	}
	return p.finish(accepted, quiet)
}

// introduce says which run it is, and which model was taken and why.
func (c *console) introduce(accepted rpc.Accepted) {
	more := ""
	if accepted.Why != "" {
		more = " (" + escapeLine(accepted.Why) + ")"
	}
	if accepted.Mode != "" {
		more += ", mode " + escapeLine(string(accepted.Mode))
	}
	c.say("run %s, model %s%s", escapeLine(accepted.Run), escapeLine(accepted.Model), more)
	if accepted.Ahead > 0 {
		c.say("queued behind %s of this run; it is worked on when they have ended", plural(accepted.Ahead, "prompt"))
	}
}

// prompt joins the words and, where they are missing or one is "-", what
// stands on standard input.
func (c *console) prompt(words []string) (string, error) {
	var parts []string
	if rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-" }); len(rest) > 0 {
		parts = append(parts, strings.Join(rest, " "))
	}
	if len(words) == 0 || slices.Contains(words, "-") {
		if c.inTTY && len(words) == 0 {
			return "", usageError{`say what to do: bothy run "..."; or pipe it in`}
		}
		text, err := c.readInput()
		if err != nil {
			return "", err
		}
		if text = typed(text); text != "" {
			parts = append(parts, text)
		}
	}
	prompt := strings.Join(parts, "\n\n")
	if strings.TrimSpace(prompt) == "" {
		return "", usageError{"the prompt is empty: say what to do"}
	}
	return prompt, nil
}

// typed is text without the space around it, but for one before a slash: it says
// that what follows is text and no skill.
func typed(text string) string {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "/") && !strings.HasPrefix(text, "/") {
		return " " + trimmed
	}
	return trimmed
}
