package main

import (
	"context"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

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
		{"compact", "", "have the model summarize what was said, to make room", (*conversation).compact},
		{"config", "", "where the configuration is, and what is wrong with it", (*conversation).config},
		{"copy", "[N]", "copy the last answer, or its Nth code block", (*conversation).copyText},
		{"diff", "[PART]", "what this run changed in files; PART is the number of a prompt, turn N, file or a path", (*conversation).diff},
		{"export", "[FILE]", "write the conversation into a Markdown file", (*conversation).export},
		{"fork", "[TURN]", "go on in a new run that knows what this one knew after a turn", (*conversation).fork},
		{"help", "", "commands and keys", (*conversation).help},
		{"keys", "[emacs|vi]", "the keys with which one edits", (*conversation).setKeys},
		{"mode", "[MODE]", "how much runs unasked", (*conversation).setMode},
		{"model", "[NAME]", "the model of the next prompts", (*conversation).setModel},
		{"new", "", "begin another run; this one goes on working", (*conversation).newRun},
		{"quit", "", "leave; what works goes on", func(c *conversation, _ string) tea.Cmd { return c.quit() }},
		{"redo", "", "make again what /undo took back", (*conversation).redo},
		{"rename", "NAME", "give this run another name", (*conversation).rename},
		{"reset", "", "a fresh sandbox for this run; files of the project stay", (*conversation).reset},
		{"resume", "[NAME]", "go to another run", (*conversation).resume},
		{"runs", "", "the runs of the project, those first that ask or work", (*conversation).listRuns},
		{"show", "", "the whole run, from its first prompt", (*conversation).show},
		{"skill", "NAME [TEXT]", "use a skill, also one with a command's name", (*conversation).useSkill},
		{"skills", "[NAME]", "choose a skill to use", (*conversation).skills},
		{"status", "", "run, model, agent, mode, tokens", (*conversation).status},
		{"tools", "", "what the agent can call", (*conversation).tools},
		{"trust", "", "what came with the project and waits for your trust", (*conversation).trust},
		{"undo", "[PART]", "take back what this run changed in files, or a part of it", (*conversation).undo},
		{"usage", "", "what the run cost, and how full the model's context is", (*conversation).usage},
	}
}

// command does what begins with a slash and names a command. A skill is the daemon's to
// find, and a text with a blank before the slash is a prompt.
func (c *conversation) command(text string) (tea.Cmd, bool) {
	name, is := strings.CutPrefix(text, "/")
	if !is {
		return nil, false
	}
	name = strings.TrimRightFunc(name, unicode.IsSpace)
	rest := ""
	if at := strings.IndexFunc(name, unicode.IsSpace); at >= 0 {
		name, rest = name[:at], name[at:]
	}
	if i := slices.IndexFunc(commands, func(s slash) bool { return s.name == name }); i >= 0 {
		return commands[i].do(c, strings.TrimSpace(rest)), true
	}
	return nil, false
}

func (c *conversation) help(string) tea.Cmd { return c.sayOrPage("help", c.helpText()) }

// helpText are all commands and keys.
func (c *conversation) helpText() string {
	lines := []string{c.p.bold.Render("commands")}
	for _, s := range commands {
		lines = append(lines, c.keyLine(strings.TrimSpace("/"+s.name+" "+s.takes), s.help))
	}
	return strings.Join(append(lines, c.keyLine("/NAME [TEXT]", "a skill, by its name"), c.keyHelp()), "\n")
}

// show shows what was said from the beginning, as far as it has ended.
func (c *conversation) show(string) tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
	}
	var all []string
	for _, l := range c.line.Loops {
		if l.End != nil {
			blocks, _ := c.pastLoop(l)
			all = append(all, blocks...)
		}
	}
	text := strings.Join(all, "\n")
	return c.page("run "+c.run, func(int) string { return text })
}

func (c *conversation) askAgain(string) tea.Cmd {
	c.leftOpen = nil
	if l := c.live.loop; l != nil && c.tree.Waits(l) != nil {
		return c.look(l)
	}
	return c.say(c.p.dim.Render("  nothing waits for an answer here"))
}

// ofRun makes a call about the run, once there is one.
func (c *conversation) ofRun(call func(ctx context.Context, ref rpc.RunRef) (string, error)) tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
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

// noRun says that a command is about a run, and there is none.
func (c *conversation) noRun() tea.Cmd {
	return c.say(c.p.dim.Render("  there is no run yet: the first prompt makes one"))
}

func (c *conversation) reset(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		_, err := c.cl.Reset(ctx, ref)
		return c.p.dim.Render("  the next command has a fresh sandbox"), err
	})
}

func (c *conversation) compact(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		a, err := c.cl.Compact(ctx, ref)
		text := "  the model summarizes what was said; what that stands for is archived then"
		if a.Ahead > 0 {
			text += ", behind " + show.Plural(a.Ahead, "prompt")
		}
		return c.p.dim.Render(text), err
	})
}

// useSkill sends what uses a skill: its name is the first word.
func (c *conversation) useSkill(rest string) tea.Cmd {
	if rest == "" {
		return c.say(c.p.dim.Render("  /skill NAME uses a skill; tab behind it shows them"))
	}
	return c.promptAs("/"+rest, "/skill "+rest)
}
