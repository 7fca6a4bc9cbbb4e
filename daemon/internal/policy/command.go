package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// Where commands run, as package sandbox has it.
const (
	workspace = "/workspace"
	home      = "/home/bothy"
)

// line is a command line, as it was read.
type line struct {
	shell.Report
	strict bool // it is words for one program, and no shell reads it
	at     shell.Place
}

func (p *Policy) read(text string, at shell.Place) *line {
	if p.strict() {
		return &line{shell.Strict(text, at), true, at}
	}
	return &line{p.analyse(text, at), false, at}
}

func (p *Policy) strict() bool { return p.set.Shell == "argv" }

// place is where a command line would start, and what it may change there.
func (p *Policy) place(j *judged) shell.Place {
	at := p.placeIn(j.arguments, j.Project)
	at.Rules, at.Links, at.Open = &p.rules, j.Links, p.set.Workspace == sdk.WorkspacePrivate
	return at
}

// placeIn is where a command line would start in a project, whose own path leads to the
// workspace too.
func (p *Policy) placeIn(arguments map[string]any, project string) shell.Place {
	at := place(arguments)
	if p.set.Workspace != sdk.WorkspacePrivate && ownPath(project) {
		at.Own = path.Clean(project)
		at.Dir = at.In(at.Dir)
	}
	return at
}

// ownPath reports whether a project lies at its own path in the container: it does not
// where the container has something of its own there, or below. Package sandbox says the
// same.
func ownPath(project string) bool {
	within := func(at, dir string) bool { return at == dir || dir == "/" || strings.HasPrefix(at, dir+"/") }
	reserved := []string{"/proc", "/sys", "/dev", "/run", "/opt/bothy", workspace, skills, home}
	return path.IsAbs(project) &&
		!slices.ContainsFunc(reserved, func(dir string) bool { return within(project, dir) }) &&
		!slices.ContainsFunc(append(reserved, "/usr", "/etc", "/tmp"), func(dir string) bool { return within(dir, path.Clean(project)) })
}

// place is where a command line would start.
func place(arguments map[string]any) shell.Place {
	at := shell.Place{Workspace: workspace, Dir: workspace, Home: home, ReadOnly: []string{skills}}
	if dir, ok := arguments["dir"].(string); ok && dir != "" {
		if !strings.HasPrefix(dir, "/") {
			dir = workspace + "/" + dir
		}
		at.Dir = path.Clean(dir)
	}
	return at
}

// show adds to a decision what was seen in the line, whatever decided.
func (l *line) show(d *sdk.Decision, j *judged) {
	if l == nil {
		return
	}
	d.Argv = l.Argv
	d.Commands = make([]sdk.SeenCommand, len(l.Commands))
	for i, c := range l.Commands {
		d.Commands[i] = sdk.SeenCommand{Text: c.Text, Argv: c.Argv, Via: c.Via, Rule: c.Rule, Reason: c.Reason,
			Verdict: j.ask(sdk.Decision{Verdict: j.verdictOf(c.Grade)}).Verdict}
		if d.Commands[i].Verdict != sdk.Allow && c.Argv != nil && c.Dir != "" && !c.Loose && c.Grade <= shell.Unproven {
			d.Commands[i].Whole = &sdk.WholeCommand{Argv: c.Argv, Dir: c.Dir, Plain: shell.Plain(c.Argv)}
		}
	}
}

// explained reports whether a line is no worse than its commands, with nothing
// around them that a rule could not mean: what could not be read has a grade that
// no command stands for.
func (l *line) explained() bool {
	grade := l.Structure
	for _, c := range l.Commands {
		grade = max(grade, c.Grade)
	}
	return l.Grade <= shell.Unproven && l.Structure <= shell.Contained && grade >= l.Grade
}

// commandRule is a rule about commands, taken apart into words.
type commandRule [][]string

func commandsOf(patterns []string) commandRule {
	out := make(commandRule, 0, len(patterns))
	for _, p := range patterns {
		if words := strings.Fields(p); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// allowsOne reports whether the first words of a command are those of a rule.
// A program by its path is another program, and a command whose words depend on
// what happens at run time is none that a rule could mean.
func (r commandRule) allowsOne(c shell.Command) bool {
	return slices.ContainsFunc(r, func(patterns []string) bool {
		return len(c.Argv) >= len(patterns) && slices.EqualFunc(patterns, c.Argv[:len(patterns)], fits)
	})
}

// wholly reports whether a command is one of those that a rule is about as they stand: the
// same words, started in the same folder, with nothing given to it beside them. Plain
// options may come and go, as far as the rule names them.
func wholly(rules []sdk.WholeCommand, c shell.Command) bool {
	if c.Loose || c.Argv == nil {
		return false
	}
	words, options := shell.Bare(c.Argv)
	return slices.ContainsFunc(rules, func(w sdk.WholeCommand) bool {
		own, _ := shell.Bare(w.Argv)
		return len(own) > 0 && w.Dir == c.Dir && slices.Equal(own, words) &&
			!slices.ContainsFunc(options, func(o string) bool { return !slices.Contains(w.Plain, o) }) || w.Dir == c.Dir && slices.Equal(w.Argv, c.Argv)
	})
}

// catches reports whether a command may be one that a rule denies, or wants to
// be asked about. Here a program is known by any path, options between the words
// count for nothing, and what cannot be known is caught.
func (r commandRule) catches(c shell.Command) bool {
	words := c.Argv
	if words == nil {
		words = strings.Fields(c.Text)
	}
	return slices.ContainsFunc(r, func(patterns []string) bool { return catchWords(patterns, words, c.Argv == nil) })
}

func catchWords(patterns, words []string, dynamic bool) bool {
	at, option := 0, false
	for i, p := range patterns {
		for ; ; at++ {
			if at >= len(words) {
				return false
			}
			word := words[at]
			if dynamic && strings.ContainsAny(word, "$`\"'\\*?[{~(<>;&|") {
				return true
			}
			if i == 0 {
				word = path.Base(word)
			}
			if fits(p, word) {
				break
			}
			is := strings.HasPrefix(word, "-")
			if i == 0 || !is && !option {
				return false
			}
			option = is // the word behind an option may be its value
		}
		at, option = at+1, false
	}
	return true
}
