package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

type chatCmd struct {
	Model string `short:"m" complete:"model" help:"The model to use: an alias, or PROVIDER/NAME."`
	goOnFlags
	Agent    string `short:"a" placeholder:"NAME" complete:"agent" default:"chat" help:"The agent block to use."`
	Project  string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Plain    bool   `help:"Talk line by line: nothing is drawn again, as screen readers need it. BOTHY_PLAIN=1 does the same."`
	Pick     bool   `help:"Begin with the list of the project's runs. 'bothy resume' is the same."`
	NoMemory bool   `help:"Tell the run nothing of what is remembered, and learn nothing from it; nor from those that are begun here after it."`
	modeFlags
}

// Help adds to the verb's help.
func (chatCmd) Help() string {
	return `At a terminal this opens a conversation, as bothy alone does; /help in it lists keys and commands. With --plain, and without a terminal, each line is a prompt, and the agent remembers what was said before: Ctrl-C aborts what it is doing, a second Ctrl-C leaves; Ctrl-D or /quit ends; at a terminal /help lists commands. With --json each prompt becomes one object on a line, as 'bothy run --format json' has it, and nothing is asked.

Examples:

    bothy chat
    bothy chat -c
    bothy chat --plain
    bothy chat -r fix-42 -m ollama/qwen3
`
}

// Run opens a conversation at a terminal, and elsewhere talks line by line until the input
// ends: with --plain it exits with 0, from a script with the code of the last prompt.
func (cmd chatCmd) Run(ctx context.Context, c *console) error {
	if err := cmd.modeFlags.check(false); err != nil {
		return err
	}
	if err := cmd.goOnFlags.check(); err != nil {
		return err
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	if c.plain = cmd.Plain; c.drawn() {
		return c.converse(ctx, cmd, project)
	}
	if cmd.Pick {
		return usageError{"the list of runs is drawn on a terminal: `bothy runs` prints it, and `bothy chat -r NAME` goes on with one"}
	}
	who := cmd.approver(c, !c.json)
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if cmd.Alias, err = cmd.name(ctx, cl, project); err != nil {
		return err
	}
	if !c.json {
		c.tellUntrusted(ctx, cl, project)
	}
	if err := c.openInstructions(ctx, cl, project, who.asks, !c.json); err != nil {
		return err
	}
	t := chatSession{c: c, cl: cl, cmd: cmd, project: project, who: who}
	lines := bufio.NewReader(io.LimitReader(c.in, 1<<40))
	last := exitOK
	for {
		line, ended, err := t.read(lines)
		if err != nil {
			return err
		}
		if line == "/quit" || ended && line == "" {
			break
		}
		if last, err = t.take(ctx, line, last); err != nil {
			return err
		}
		if ended {
			break
		}
	}
	t.leave(ctx)
	if last != exitOK && !c.inTTY {
		return exitError{code: last}
	}
	return nil
}

// chatSession is a chat's state: the run and its model, once there is one.
type chatSession struct {
	c          *console
	cl         *client.Client
	cmd        chatCmd
	project    string
	who        approver
	run, model string
	cut        bool // the last prompt had as many turns as it may take, and may go on
}

// leave tells the daemon that nobody goes on with the run. That it did not hear is nothing to say: the run rests by itself in
// time.
func (t *chatSession) leave(ctx context.Context) {
	if t.run == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_, _ = t.cl.Leave(ctx, rpc.RunRef{Run: t.run, Project: t.project})
}

// leaveTime is how long the end of a chat waits for the daemon.
const leaveTime = time.Second

// read returns the next line, and whether it is the last one.
func (t *chatSession) read(lines *bufio.Reader) (string, bool, error) {
	switch {
	case t.c.inTTY && t.cut:
		fmt.Fprint(t.c.err, "Go on? [Y/n, or what to do instead] ")
	case t.c.inTTY:
		fmt.Fprint(t.c.err, t.c.paint(bold, "> "))
	}
	line, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, fmt.Errorf("standard input: %w", err)
	}
	if len(line) > maxInput {
		return "", false, usageError{fmt.Sprintf("a line is longer than %d bytes", maxInput)}
	}
	return typed(line), err != nil, nil
}

// take does what a line asks for, and returns the exit code that holds from then on: last,
// where it asks for nothing.
func (t *chatSession) take(ctx context.Context, line string, last int) (int, error) {
	if t.command(ctx, line) {
		return last, nil
	}
	cut := t.cut && t.c.inTTY
	t.cut = false
	switch answer := strings.ToLower(line); {
	case cut && (answer == "" || answer == "y" || answer == "yes"):
		return t.goOn(ctx)
	case cut && (answer == "n" || answer == "no"), line == "":
		return last, nil
	}
	return t.prompt(ctx, line)
}

// prompt sends one line and shows what comes of it. A refused prompt ends a
// script, and not a person's chat.
func (t *chatSession) prompt(ctx context.Context, text string) (int, error) {
	p := rpc.Prompt{Project: t.project, Prompt: text, Run: t.run, Agent: t.cmd.Agent, Model: t.cmd.Model}
	if t.run == "" {
		p.Run = t.cmd.Alias
	}
	if t.cmd.NoMemory {
		p.NoMemory = &t.cmd.NoMemory
	}
	p.Attend = t.who.asks
	if t.run == "" || !t.cmd.Yolo { // it is said once, and holds for the run
		t.cmd.widen(t.c, &p)
	}
	pressed := t.c.listen()
	defer pressed.stop()
	accepted, err := t.c.submit(ctx, t.cl, false, p, pressed)
	if err != nil {
		if t.c.inTTY && (t.run != "" || strings.HasPrefix(text, "/")) { // a skill's name mistyped
			t.c.complain(err)
			return errorCode(err), nil
		}
		return exitFailed, err
	}
	return t.show(ctx, accepted, pressed)
}

// goOn goes on with a prompt that was cut. Where that fails it is offered again.
func (t *chatSession) goOn(ctx context.Context) (int, error) {
	pressed := t.c.listen()
	defer pressed.stop()
	accepted, err := start.Again(ctx, t.c.daemon(), t.cl, func() (rpc.Accepted, error) {
		return t.cl.Resume(ctx, rpc.RunRef{Run: t.run, Project: t.project})
	})
	if err != nil {
		t.cut = true
		t.c.complain(err)
		return errorCode(err), nil
	}
	return t.show(ctx, accepted, pressed)
}

// show shows what comes of a prompt that was accepted.
func (t *chatSession) show(ctx context.Context, accepted rpc.Accepted, pressed *presses) (int, error) {
	if !t.c.json && (accepted.Run != t.run || accepted.Model != t.model) {
		t.c.introduce(accepted)
	}
	t.run, t.model = accepted.Run, accepted.Model
	s := newLoopState(accepted.Loop)
	var err error
	if !t.c.json {
		err = t.c.showText(ctx, t.cl, accepted, s, false, t.who, pressed)
	} else if err = t.c.follow(ctx, t.cl, accepted, s, silent{}, t.who, pressed); err == nil {
		err = writeJSON(t.c.out, newResult(accepted, s), "")
	}
	if err != nil {
		return exitFailed, err
	}
	if s.waiting != nil { // the next line would wait behind it
		return exitUnanswered, exitError{code: exitUnanswered}
	}
	t.cut = s.End.Stop == sdk.GuardMaxTurns
	return exitOf(*s.End), nil
}
