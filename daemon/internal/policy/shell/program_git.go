package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// git reads in a repository whose configuration may be hostile. Where the line
// runs, the environment empties the monitor of files and the hooks that it names;
// filters and converters of texts run. They are in the container, which holds them
// as it holds any command: what only reads is proven.
func git(c call) finding {
	if f, bad := gitStarts(c); bad {
		return f
	}
	rest, worst := gitGlobals(c)
	if worst.grade > Proven {
		return c.orSecret(worst, false)
	}
	name := rest.argv[0]
	known, found := gitCommands[name]
	switch {
	case len(rest.argv) == 1 && (name == "--version" || name == "version"):
		return finding{}
	case slices.Contains(gitRemotes, name):
		return c.orSecret(c.unproven("shell.network", "git %s reaches other machines, and the sandbox has no network; work with what is in the workspace", name), false)
	case !found:
		return c.orSecret(c.unproven("shell.program", "git %s is not known to only read; use git status, log, diff or show, or ask for it", name), false)
	}
	rest.argv[0] = "git " + name
	if f := known.judge(rest); f.grade > Proven {
		return f
	}
	if !known.names {
		if f := gitPaths(rest); f.grade > Proven {
			return f
		}
	}
	return finding{}
}

// gitGlobals reads the options before the command. The rest begins with the
// command's name, and runs where -C says.
func gitGlobals(c call) (rest call, worst finding) {
	for i := 1; i < len(c.argv); i++ {
		switch word := c.argv[i]; {
		case c.glob(i):
			return c, c.globbed(word)
		case word == "--no-pager", word == "-P", word == "--no-optional-locks", word == "--literal-pathspecs", word == "--no-replace-objects":
		case word == "-C" && i+1 < len(c.argv) && !c.glob(i+1):
			i++
			abs, _ := c.place.resolveRead(c.argv[i])
			worst = worse(worst, c.reads(c.argv[i], true))
			c.place.Dir = abs
		case strings.HasPrefix(word, "-") && word != "--version":
			return c, c.unproven("shell.option", "the option %q of git is not known to be harmless; write the command right behind git, such as: git log", word)
		default:
			rest = call{argv: slices.Clone(c.argv[i:]), piped: c.piped, place: c.place}
			if len(c.globs) > i {
				rest.globs = c.globs[i:]
			}
			return rest, worst
		}
	}
	return c, c.unproven("shell.option", "git without a command only shows its help; write one, such as: git status")
}

// gitRemotes talk to other machines.
var gitRemotes = []string{"clone", "fetch", "pull", "push", "ls-remote", "fetch-pack", "send-pack", "archive", "submodule"}

// gitPaths looks for credentials in the patterns of paths that git itself expands,
// of a command that shows what is in files. What a pattern leaves out is shown by
// no other.
func gitPaths(c call) finding {
	var worst finding
	for _, word := range c.argv[1:] {
		magic, pattern := gitMagic(word)
		if strings.HasPrefix(word, "-") || strings.ContainsAny(magic, "!^") || strings.Contains(magic, "exclude") {
			continue
		}
		for part := range strings.SplitSeq(pattern, "/") {
			if protect.SecretPattern(part) {
				return c.leaks(word)
			}
		}
		if last := path.Base(pattern); strings.ContainsAny(last, "*?[") && protect.SecretMatch(last, true) {
			worst = c.unproven("shell.secret", "the pattern %q of %s fits names of credentials too; write the names out, or more of them", word, c.argv[0])
		}
	}
	return worst
}

// gitMagic takes a pattern of paths apart: ":(glob)", ":!" and their like, and the
// rest.
func gitMagic(word string) (magic, pattern string) {
	rest, is := strings.CutPrefix(word, ":")
	if !is {
		return "", word
	}
	if long, ok := strings.CutPrefix(rest, "("); ok {
		magic, pattern, _ = strings.Cut(long, ")")
		return magic, pattern
	}
	pattern = strings.TrimLeft(rest, "!^/:")
	return rest[:len(rest)-len(pattern)], pattern
}

// gitStarts looks for what makes git start a program: an address that names
// one, or a signature that is to be checked.
func gitStarts(c call) (f finding, bad bool) {
	remote := slices.ContainsFunc(c.argv, func(word string) bool { return slices.Contains(gitRemotes, word) })
	for _, word := range c.argv[1:] {
		switch {
		case remote && (startsProgram(word) || strings.HasPrefix(word, "-u") && slices.Contains(c.argv, "clone")):
			return finding{Unsafe, "shell.network", says("%q makes git start a program, which nothing allows unasked; use a plain https address", word)}, true
		case strings.Contains(word, "%G"), strings.Contains(word, "%(signature"), strings.Contains(word, "%(*signature"),
			strings.HasPrefix(word, "--sort") && strings.Contains(word, "signature"):
			return c.unproven("shell.option", "the format %q makes git start the program that checks signatures; leave that part out", word), true
		}
	}
	return finding{}, false
}

func startsProgram(word string) bool {
	_, host, _ := strings.Cut(word, "://")
	if strings.Contains(word, "::") || strings.HasPrefix(host, "-") {
		return true
	}
	word = strings.ToLower(strings.TrimPrefix(word, "-c"))
	return strings.Contains(word, "proxycommand") || slices.ContainsFunc(gitStarters, func(name string) bool { return strings.HasPrefix(word, name) })
}

// gitStarters are how options and settings begin that name a program.
var gitStarters = []string{"--upload-p", "--receive-p", "--exec", "protocol.", "core.sshcommand", "core.gitproxy"}

// gitListing refuses operands that would be names for something new, unless an
// option says that they are patterns.
func gitListing(r *reading) finding {
	if len(r.operands) == 0 || r.has("l", "list", "contains", "no-contains", "merged", "no-merged", "points-at") {
		return finding{}
	}
	return r.unproven("shell.option", "%s %q makes or changes something, which is not proven; write --list before it to list", r.argv[0], r.operands[0])
}

// gitFirst allows only some first operands, those that read. One of them has to
// be the first word, unless none is needed: options before it could be those of
// another command.
func gitFirst(only ...string) func(r *reading) finding {
	return func(r *reading) finding {
		switch bare := slices.Contains(only, ""); {
		case bare && len(r.operands) == 0,
			bare && slices.Contains(only, r.operands[0]),
			!bare && len(r.argv) > 1 && slices.Contains(only, r.argv[1]):
			return finding{}
		}
		return r.unproven("shell.option", "%s is only known to read with one of these behind it: %s; write one of these", r.argv[0], strings.TrimSpace(strings.Join(only, " ")))
	}
}

// gitConfigReads allows the forms that print values.
func gitConfigReads(r *reading) finding {
	switch {
	case r.has("get", "get-all", "get-regexp", "list", "l", "get-urlmatch"),
		len(r.operands) == 1 && strings.Contains(r.operands[0], "."),
		len(r.operands) > 0 && (r.operands[0] == "get" || r.operands[0] == "list"):
		return finding{}
	}
	return r.unproven("shell.option", "git config sets a value here, which is not proven; write git config --get NAME to read one")
}

// gitOneOperand refuses a second operand, which would be what to change to.
func gitOneOperand(r *reading) finding {
	if len(r.operands) == 1 {
		return finding{}
	}
	return r.unproven("shell.option", "%s with more than a name changes it, which is not proven; write the name alone", r.argv[0])
}
