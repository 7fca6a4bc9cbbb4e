package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// harmless are the variables that change how something is shown, and run
// nothing.
var harmless = []string{
	"LANG", "LANGUAGE", "TZ", "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS", "LINES",
	"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "DEBIAN_FRONTEND",
	"CGO_ENABLED", "GOOS", "GOARCH", "GOMAXPROCS", "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
	"PYTHONHASHSEED", "RUST_BACKTRACE", "RUST_LOG", "SOURCE_DATE_EPOCH",
}

// risky are the variables by which a shell, a loader or a program finds what it
// runs: whole names, beginnings and parts of names.
var (
	riskyNames = []string{
		"IFS", "ENV", "CC", "CXX", "CPP", "LD", "AR", "AS", "HOME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "MAIL",
		"MAILCHECK", "POSIXLY_CORRECT", "GLOBIGNORE", "FIGNORE", "TIMEFORMAT", "OPTIND", "_", "UID", "EUID", "PPID",
	}
	riskyStarts = []string{
		"LD_", "DYLD_", "BASH", "GIT", "PYTHON", "PERL", "RUBY", "GEM", "BUNDLE", "NODE_", "NPM_", "npm_", "JAVA", "JDK_", "_JAVA",
		"GO", "CARGO", "RUST", "SSH", "SUDO", "XDG_", "PS", "PROMPT", "HIST", "MAKE", "CMAKE_", "DOCKER_", "DBUS_", "GLIBC_",
		"MALLOC_", "GCONV", "LOC", "TERM", "ZDOT", "LESS", "MAN", "LUA", "PHP", "R_", "TCL", "VIM", "EMACS", "SYSTEMD_", "TAR_",
	}
	riskyParts = []string{
		"PATH", "PRELOAD", "LIB", "OPT", "FLAGS", "COMMAND", "CMD", "PAGER", "EDITOR", "VISUAL", "BROWSER", "SHELL", "RSH",
		"ASKPASS", "PROXY", "proxy", "CONF", "INIT", "STARTUP", "EXEC", "WRAPPER", "HOOK", "PROGRAM", "LOADER", "PLUGIN",
		"MODULE", "SCRIPT", "OPEN", "FILTER", "DRIVER", "ENGINE", "HELPER",
	}
)

func isRisky(name string) bool {
	return slices.Contains(riskyNames, name) ||
		slices.ContainsFunc(riskyStarts, func(s string) bool { return strings.HasPrefix(name, s) }) ||
		slices.ContainsFunc(riskyParts, func(s string) bool { return strings.Contains(name, s) })
}

// assigns judges what stands before a command, or in its place.
func (j *judge) assigns(list []*syntax.Assign) {
	for _, a := range list {
		j.assign(a)
	}
}

func (j *judge) assign(a *syntax.Assign) {
	if a.Name == nil {
		j.look(a.Value)
		return
	}
	if a.Index != nil {
		j.subscript(a.Index)
	}
	if a.Array != nil {
		for _, elem := range a.Array.Elems {
			if elem.Index != nil {
				j.subscript(elem.Index)
			}
			j.look(elem.Value)
		}
	}
	value := word{known: true}
	if a.Value != nil {
		value = j.word(a.Value)
	}
	f := assigned(a.Name.Value, value)
	if f.grade == Proven && (a.Append || a.Index != nil || a.Array != nil) {
		f = finding{Unproven, "shell.assignment", says("%s is changed in a way that depends on what it was; give it the whole value", a.Name.Value)}
	}
	j.structure(f)
}

// assigned is the finding about a variable and its value.
func assigned(name string, value word) finding {
	listed := slices.Contains(harmless, name)
	switch {
	case !listed && isRisky(name):
		return finding{Unsafe, "shell.assignment", says("%s decides what other programs run or where they look; leave it as it is", brief(name))}
	case value.why.grade > Proven:
		return value.why
	case strings.ContainsAny(value.text, "`") || strings.Contains(value.text, "$("):
		return finding{Unsafe, "shell.assignment", says("the value of %s holds a command, which runs where the value is evaluated; leave it out", brief(name))}
	case !listed:
		return finding{Unproven, "shell.assignment", says("nobody can say what %s does to a command; use only names like LC_ALL, TZ or CI", brief(name))}
	case strings.ContainsAny(value.text, "~:\\") || strings.HasPrefix(value.text, "/") || strings.Contains(value.text, ".."):
		return finding{Unproven, "shell.assignment", says("the value of %s is a path; give it a plain name", name)}
	}
	return finding{}
}

// declare judges export, readonly, local and declare. The last one gives
// variables attributes by which later values are evaluated.
func (j *judge) declare(c *syntax.DeclClause) {
	i := j.command(j.slice(c.Pos().Offset(), c.End().Offset()))
	name := c.Variant.Value
	if name == "declare" || name == "typeset" || name == "nameref" {
		j.found(i, evaluates(name))
	}
	for _, a := range c.Args {
		if a.Naked && a.Value != nil {
			if w := j.word(a.Value); w.known && !strings.ContainsAny(w.text, "-+[") {
				j.found(i, worse(w.why, finding{Unproven, "shell.builtin", says("%s changes variables for the rest of the line; do without it", name)}))
				continue
			}
			j.found(i, evaluates(name))
			continue
		}
		if a.Value == nil && a.Array == nil && a.Index == nil && a.Name != nil && !isRisky(a.Name.Value) {
			j.found(i, finding{Unproven, "shell.builtin", says("%s changes variables for the rest of the line; do without it", name)})
			continue
		}
		j.assign(a)
	}
}

func (j *judge) let(c *syntax.LetClause) {
	j.found(j.command(j.slice(c.Pos().Offset(), c.End().Offset())), evaluates("let"))
	for _, x := range c.Exprs {
		j.arithmetic(x)
	}
}

// evaluates is what is wrong with a builtin that reads names as expressions.
func evaluates(name string) finding {
	return finding{Unsafe, "shell.builtin", says("%s evaluates the index of a name, commands in it included; write the value where it is needed", name)}
}
