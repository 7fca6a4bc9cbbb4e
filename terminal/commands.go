package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// slash is a command of a conversation.
type slash struct {
	name, takes, help string
	do                func(c *conversation, rest string) tea.Cmd
}

// commands are all of them, sorted by their names.
var commands []slash

func init() {
	commands = []slash{
		{"agent", "[NAME]", "the agent of the next prompts", (*conversation).setAgent},
		{"answer", "", "ask again what waits for an answer", (*conversation).askAgain},
		{"diff", "", "what this run changed in files", (*conversation).diff},
		{"help", "", "commands and keys", (*conversation).help},
		{"mode", "[MODE]", "how much runs unasked: interactive, restricted or workspace", (*conversation).setMode},
		{"model", "[NAME]", "the model of the next prompts", (*conversation).setModel},
		{"new", "", "begin another run", (*conversation).newRun},
		{"quit", "", "leave; what works goes on", func(c *conversation, _ string) tea.Cmd { return c.quit() }},
		{"redo", "", "make again what /undo took back", (*conversation).redo},
		{"reset", "", "a fresh sandbox for this run; files of the project stay", (*conversation).reset},
		{"show", "", "the whole run, from its first prompt", (*conversation).show},
		{"status", "", "run, model, agent, mode, tokens", (*conversation).status},
		{"undo", "", "take back what this run changed in files", (*conversation).undo},
	}
}

// command does what begins with a slash and names a command. A skill is the daemon's to
// find, and a text with a blank before the slash is a prompt.
func (c *conversation) command(text string) (tea.Cmd, bool) {
	name, is := strings.CutPrefix(text, "/")
	if !is {
		return nil, false
	}
	name, rest, _ := strings.Cut(name, " ")
	if i := slices.IndexFunc(commands, func(s slash) bool { return s.name == name }); i >= 0 {
		return commands[i].do(c, strings.TrimSpace(rest)), true
	}
	return nil, false
}

// completeCommand completes the name of a command.
func (c *conversation) completeCommand() tea.Cmd {
	typed, is := strings.CutPrefix(c.in.area.Value(), "/")
	if !is || strings.ContainsAny(typed, " \n") {
		return nil
	}
	var fits []string
	for _, s := range commands {
		if strings.HasPrefix(s.name, typed) {
			fits = append(fits, s.name)
		}
	}
	switch len(fits) {
	case 0:
	case 1:
		c.in.set("/" + fits[0] + " ")
	default:
		c.tail = c.p.dim.Render("/" + strings.Join(fits, "  /"))
	}
	return nil
}

func (c *conversation) help(string) tea.Cmd {
	var b strings.Builder
	for _, s := range commands {
		fmt.Fprintf(&b, "  %s  %s\n", c.p.tool.Render(fmt.Sprintf("%-16s", "/"+s.name+" "+s.takes)), s.help)
	}
	fmt.Fprintf(&b, "  %s  a skill, by its name\n", c.p.tool.Render(fmt.Sprintf("%-16s", "/NAME")))
	b.WriteString(c.p.dim.Render("  enter sends; alt-enter, ctrl-j or a \\ at the end begin a line; up and down lead through what was typed before\n" +
		"  @ and tab attach a file; alt-up takes the last prompt that waits back\n" +
		"  esc ends what works and keeps what was said; ctrl-c empties the line, twice leaves; ctrl-d leaves"))
	return c.say(b.String())
}

func (c *conversation) setModel(name string) tea.Cmd {
	if name == "" {
		return c.say("  model " + show.Line(c.model))
	}
	c.o.model = name
	return c.say(c.p.dim.Render("  the next prompt goes to " + show.Line(name)))
}

func (c *conversation) setAgent(name string) tea.Cmd {
	if name == "" {
		return c.say("  agent " + show.Line(c.o.agent))
	}
	c.o.agent = name
	return c.say(c.p.dim.Render("  the next prompt is for agent " + show.Line(name)))
}

func (c *conversation) setMode(name string) tea.Cmd {
	m := sdk.Mode(name)
	switch {
	case name == "":
		return c.say("  mode " + show.Line(string(c.mode)))
	case !m.Valid() || m == sdk.ModeFull:
		return c.fail(fmt.Errorf("a mode is interactive, restricted or workspace; full needs `bothy chat --yolo`"))
	}
	c.mode = m
	return c.say(c.p.dim.Render("  the next prompt has mode " + show.Line(name)))
}

func (c *conversation) newRun(string) tea.Cmd {
	if c.working() {
		return c.fail(fmt.Errorf("%s still works: esc ends it, or leave it to work and call bothy again", c.run))
	}
	return c.fail(fmt.Errorf("leave with ctrl-d and call bothy: each call without -r begins another run"))
}

// show prints what was said from the beginning, as far as it has ended.
func (c *conversation) show(string) tea.Cmd {
	var all []string
	for _, l := range c.line.Loops {
		if l.End != nil {
			blocks, _ := c.past(l)
			all = append(all, blocks...)
		}
	}
	return c.say(strings.Join(all, "\n"))
}

func (c *conversation) askAgain(string) tea.Cmd {
	if l := c.live.loop; l != nil && l.Waits() != nil {
		return c.look(l)
	}
	return c.say(c.p.dim.Render("  nothing waits for an answer here"))
}

// ofRun makes a call about the run, once there is one.
func (c *conversation) ofRun(call func(ctx context.Context, ref rpc.RunRef) (string, error)) tea.Cmd {
	if c.run == "" {
		return c.say(c.p.dim.Render("  there is no run yet: the first prompt makes one"))
	}
	ref := rpc.RunRef{Run: c.run, Project: c.o.project}
	return c.ask(func(ctx context.Context) tea.Msg {
		text, err := call(ctx, ref)
		if err != nil {
			return failure{err}
		}
		return said{text}
	})
}

func (c *conversation) undo(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		done, err := c.cl.Undo(ctx, rpc.Undo{Run: ref.Run, Project: ref.Project})
		return c.undone(done), err
	})
}

func (c *conversation) redo(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		done, err := c.cl.Redo(ctx, rpc.Redo{Run: ref.Run, Project: ref.Project})
		return c.undone(done), err
	})
}

func (c *conversation) reset(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		_, err := c.cl.Reset(ctx, ref)
		return c.p.dim.Render("  the next command has a fresh sandbox"), err
	})
}

func (c *conversation) status(string) tea.Cmd {
	usage := sdk.Usage{}
	for _, l := range c.line.Loops {
		u := l.Usage()
		usage.Add(&u)
	}
	row := func(name, text string) string {
		return "  " + c.p.dim.Render(fmt.Sprintf("%-8s", name)) + show.Line(text)
	}
	return c.say(strings.Join([]string{
		row("run", c.run), row("project", home(c.o.project)), row("model", c.model), row("agent", c.o.agent), row("mode", string(c.mode)),
		row("tokens", fmt.Sprintf("%s read, %s written", thousands(usage.Prompt), thousands(usage.Completion))),
	}, "\n"))
}
