package main

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runCmd struct {
	Prompt []string `arg:"" optional:"" help:"What to do. Without it, or with -, it is read from standard input; else what is piped in goes with it."`
	Model  string   `short:"m" complete:"model" help:"The model to use: an alias, or PROVIDER/NAME ('bothy models' lists them)."`
	goOnFlags
	Image   []string `placeholder:"FILE" complete:"file" help:"A picture that goes with the prompt: PNG, JPEG, GIF or WebP. It is made smaller where it is too large. May be given more than once."`
	Agent   string   `short:"a" placeholder:"NAME" complete:"agent" help:"The agent block to use."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Schema  string   `placeholder:"FILE" complete:"file" help:"A JSON Schema of what the agent hands over at the end: the answer is JSON that satisfies it."`
	Ask     bool     `help:"Only read: change nothing."`
	Format  string   `enum:"text,json,stream-json" default:"text" help:"text: steps on standard error, the answer on standard output. json: one object at the end. stream-json: one object a line, as it happens."`
	Quiet   bool     `short:"q" help:"Print the answer alone."`
	planFlags
	modeFlags
	optionFlags
	cassetteFlags
}

// Help adds to the verb's help.
func (runCmd) Help() string {
	return `The agent works in the project until it has an answer or something stops it. Ctrl-C aborts it; a second Ctrl-C leaves it to end by itself.

What a pipe or a file has on standard input until its end, at most 3 MiB of text, goes behind the prompt as a block that is marked as such; - as a word of the prompt makes it a part of the prompt itself. A terminal, /dev/null and a file that something else has begun to read add nothing, nor does a pipe in which nothing comes for 3 seconds, of which a line tells; with - it is waited for. In a loop that reads a pipe ('... | while read'), say </dev/null, or the first prompt takes the rest of it.

Examples:

    bothy run "add a test for the empty case of parseRange"
    git diff | bothy run "review this"
    bothy run --plan release.yaml --from 3
    bothy run --image shot.png "why is this button grey?"
    bothy run -c "now run the tests again"
    bothy run -r fix-42 "now run the tests again"
    bothy run -q --ask "which Go version does this need?"
    bothy run --temperature 0 --no-web --no-proposals "which Go version does this need?"
    bothy run -q --schema version.json "which Go version does this need?"
    bothy run --record fix.json "fix the test"
    bothy run --replay fix.json "fix the test"

` + exitCodes
}

// Run sends the prompt and follows it to its end, whose exit code it returns.
func (cmd runCmd) Run(ctx context.Context, c *console) error {
	if c.json && cmd.Format == "text" {
		cmd.Format = "json"
	}
	if err := cmd.modeFlags.check(cmd.Ask); err != nil {
		return err
	}
	if err := cmd.cassetteFlags.check(c, cmd.Model); err != nil {
		return err
	}
	prompt, along, plan, err := cmd.given(c, cmd.Prompt)
	if err != nil {
		return err
	}
	images, err := c.images(cmd.Image, len(prompt))
	if err != nil {
		return err
	}
	schema, err := c.schema(cmd.Schema)
	if err != nil {
		return err
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	if err := cmd.goOnFlags.check(); err != nil {
		return err
	}
	who := cmd.approver(c, cmd.Format == "text")
	if len(cmd.Prompt) > 0 && strings.HasPrefix(cmd.Prompt[0], "/"+sdk.MCPPrefix) {
		c.role = rpc.RoleApprove // the person calls a server, as with `bothy mcp prompt`
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	run, err := cmd.name(ctx, cl, project)
	if err != nil {
		return err
	}
	if err := c.openInstructions(ctx, cl, project, who.asks, cmd.Format == "text" && !cmd.Quiet); err != nil {
		return err
	}
	p := rpc.Prompt{Project: project, Prompt: prompt, Quoted: along, Plan: plan, Media: images, Schema: schema, Run: run, Agent: cmd.Agent, Model: cmd.Model, Attend: who.asks, Record: cmd.Record != "", Replay: cmd.Replay, Strict: cmd.Strict, RunOptions: cmd.options()}
	cmd.widen(c, &p)
	pressed := c.listen()
	defer pressed.stop()
	accepted, err := c.submit(ctx, cl, cmd.Ask, p, pressed)
	if err != nil {
		return err
	}
	if cmd.Format == "text" && !cmd.Quiet {
		c.tellUntrusted(ctx, cl, project)
	}
	return cmd.show(ctx, c, cl, accepted, who, pressed)
}

// show follows the loop in the format that was asked for.
func (cmd runCmd) show(ctx context.Context, c *console, cl *client.Client, accepted rpc.Accepted, who approver, pressed *presses) error {
	s := newLoopState(accepted.Loop)
	var err error
	switch cmd.Format {
	case "json":
		if err = c.follow(ctx, cl, accepted, s, silent{}, who, pressed); err == nil {
			err = c.printJSON(newResult(accepted, s))
		}
	case "stream-json":
		v := &stream{out: c.out, loop: s}
		v.print(event{Type: "accepted", Accepted: &accepted})
		if err = c.follow(ctx, cl, accepted, s, v, who, pressed); err == nil {
			v.print(event{Type: "result", Result: newResult(accepted, s)})
			err = v.failed
		}
	default:
		if !cmd.Quiet {
			c.introduce(accepted)
		}
		err = c.showText(ctx, cl, accepted, s, cmd.Quiet, who, pressed)
	}
	if err != nil {
		return err
	}
	saved := cmd.save(ctx, c, cl, accepted, s, cmd.Format == "text" && !cmd.Quiet)
	if exit := exitOf(*s.End); exit != exitOK {
		if saved != nil {
			c.complain(saved)
		}
		return exitError{code: exit}
	}
	return saved
}

// showText is how people see a loop; chat uses it too.
func (c *console) showText(ctx context.Context, cl *client.Client, accepted rpc.Accepted, s *loopState, quiet bool, who approver, pressed *presses) error {
	p := newProgress(c, s)
	if quiet {
		if err := c.follow(ctx, cl, accepted, s, silent{}, who, pressed); err != nil {
			return err
		}
		return p.finish(accepted, quiet)
	}
	wait, done := c.tellWaits()
	p.wait = wait
	err := c.follow(ctx, cl, accepted, s, p, who, pressed)
	done()
	if err != nil {
		return err
	}
	return p.finish(accepted, quiet)
}

// introduce says which run it is, and which model was taken and why.
func (c *console) introduce(accepted rpc.Accepted) {
	more := ""
	if accepted.Why != "" {
		more = " (" + show.Line(accepted.Why) + ")"
	}
	if accepted.Mode != "" {
		more += ", mode " + show.Line(string(accepted.Mode))
	}
	c.say("run %s, model %s%s", show.Line(accepted.Run), show.Line(accepted.Model), more)
	if accepted.Ahead > 0 {
		c.say("queued behind %s of this run; it is worked on when they have ended", show.Plural(accepted.Ahead, "prompt"))
	}
}
