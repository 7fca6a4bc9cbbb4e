package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges a simple command: its assignments, its words and what it runs.
func (j *judge) call(c *syntax.CallExpr) {
	j.assigns(c.Assigns)
	if len(c.Args) == 0 {
		return
	}
	i := j.command(j.slice(c.Args[0].Pos().Offset(), c.Args[len(c.Args)-1].End().Offset()))
	j.run(i, j.words(c.Args))
}

// wrapped judges the command that a wrapper runs, whose words are a part of the
// wrapper's.
func (j *judge) wrapped(wrapper string, words []word) {
	if len(words) == 0 {
		return
	}
	inner := j.inside(wrapper)
	if inner.tooDeep() {
		return
	}
	text := j.slice(words[0].from, words[len(words)-1].to)
	if words[0].from == words[len(words)-1].from { // words that the wrapper made of one
		text = strings.Join(texts(words), " ")
	}
	inner.run(inner.command(text), words)
	if wrapper == "command" || wrapper == "builtin" { // cd behind any other one moves only that
		j.dirs, j.succeeded = inner.dirs, inner.succeeded
	}
}

// text judges a text that a command runs as a script. With a shell of its own
// the text cannot change where the line goes on.
func (j *judge) text(wrapper, text string, own bool) {
	inner := j.inside(wrapper)
	if inner.tooDeep() {
		return
	}
	inner.src, inner.succeeded = text, nil
	if f := checkBytes(text); f.grade != Proven {
		j.structure(f)
		return
	}
	inner.script()
	if !own {
		j.dirs = inner.dirs
	}
}

// tooDeep notes wrappers in wrappers, and stops where nobody wrote them for a
// reason.
func (j *judge) tooDeep() bool {
	switch {
	case j.depth > depthCap:
		j.structure(finding{Denied, "shell.size", says("there are commands in commands without end; write the inner one alone")})
		return true
	case j.depth > wrapperCap:
		j.structure(finding{Unsafe, "shell.wrapper", says("more than %d commands are wrapped in each other; write the inner one alone", wrapperCap)})
	}
	return false
}

// run judges a command by its words.
func (j *judge) run(i int, words []word) {
	proven := true
	for _, w := range words {
		j.found(i, w.why)
		proven = proven && w.known && w.why.grade == Proven
	}
	if proven && i >= 0 {
		j.out.commands[i].Argv = texts(words)
	}
	if !words[0].known || words[0].glob {
		j.found(i, finding{Unsafe, "shell.dynamic", says("the name of the command is %s, so nobody can say what runs; write the name", brief(words[0].source))})
		return
	}
	name := base(words[0])
	for _, fn := range j.functions {
		j.out.calls[fn] = append(j.out.calls[fn], words[0].text)
	}
	path := name != words[0].text
	if path {
		j.found(i, finding{Unproven, "shell.path", says("%s is a file and not a name on the PATH; call programs by their bare names", brief(words[0].text))})
	}
	j.found(i, j.deny(name, words))
	j.found(i, j.fed(name, words))
	if w, is := wrappers[name]; is {
		w(j, i, words)
		return
	}
	if b, is := builtins[name]; is && !path {
		b(j, i, words)
		return
	}
	j.found(i, j.table(name, words))
}

// table asks the table of programs, once for every directory in which the
// command may start.
func (j *judge) table(name string, words []word) finding {
	judgeCall, known := programs[name]
	if !known {
		judgeCall = unlisted
	}
	c := call{argv: texts(words), globs: make([]bool, len(words)), piped: j.stdin.kind == inputPipe}
	for n, w := range words {
		c.globs[n] = w.glob
	}
	c.argv[0] = name
	var f finding
	for _, c.place = range j.places() {
		f = worse(f, judgeCall(c))
	}
	if f.grade != Unproven {
		return f
	}
	if c.asksVersion() {
		return finding{Contained, "shell.version", says("%s only says which version it is", quoteName(name))}
	}
	if c.asks() {
		return finding{Contained, "shell.program", says("%s %s only reads", name, words[1].text)}
	}
	return f
}

// versionWords are what some programs are asked for their version with, beside --version.
var versionWords = map[string]string{
	"go": "version", "node": "-v", "npm": "-v", "python": "-V", "python3": "-V", "java": "-version", "javac": "-version",
}

// obedient are programs that obey files of the project before they say anything: they
// load them, or start what those name.
var obedient = strings.Fields("mvn yarn pnpm corepack npx gradle gradlew rails rake bundle bundler tox nox pytest gulp grunt jest vitest mocha eslint prettier " +
	"webpack vite rollup tsc cargo rustc rustup rustfmt rustdoc bazel bazelisk buck sbt lein mix elixir swift pre-commit composer phpunit just task nix " +
	"poetry pipenv pdm hatch mise asdf direnv vagrant packer terraform ansible ansible-playbook")

// asksVersion reports whether a call only asks a program which version it is.
func (c call) asksVersion() bool {
	return len(c.argv) == 2 && !slices.Contains(obedient, c.argv[0]) && (c.argv[1] == "--version" || c.argv[1] == versionWords[c.argv[0]] && c.argv[1] != "")
}

// unlisted judges a program that is not in the table.
func unlisted(c call) finding {
	return c.orSecret(c.unproven("shell.unknown", "%s is not among the programs that are known to be harmless; use one that is, or a tool", quoteName(c.argv[0])), false)
}

func quoteName(name string) string {
	if name == "" {
		return "an empty name"
	}
	return fmt.Sprintf("%q", brief(name))
}

// unknown reports whether one of the words is not known beforehand.
func unknown(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return !w.known })
}
