package shell

import (
	"slices"
	"strings"
)

// builtin judges a call of one of bash's own commands.
type builtin func(j *judge, i int, words []word)

// builtins are the commands that bash runs itself and that do more, or other
// things, than a program could. Those that only show something are in the table
// of programs too.
var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{
		":": harmlessly, "true": harmlessly, "false": harmlessly, "exit": harmlessly, "return": harmlessly,
		"break": harmlessly, "continue": harmlessly, "times": harmlessly, "pwd": harmlessly,
		"echo": tabled, "printf": printing, "test": probing, "[": probing, "set": setting,
		"wait": unless(harmlessly, flag(""), evaluates("wait -p")),
		"cd":   changeDir, "pushd": loseDir, "popd": loseDir,
		"eval": evaluate, "source": source, ".": source, "trap": trapping,
		"read": evaluating, "declare": evaluating, "typeset": evaluating, "let": evaluating, "local": exporting,
		"export": exporting, "readonly": exporting,
		"unset":   unless(changing, func(w word) bool { return !w.known || strings.Contains(w.text, "[") || isRisky(w.text) }, evaluates("unset")),
		"mapfile": callback, "readarray": callback, "compgen": callback, "complete": callback,
		"alias": unless(changing, func(w word) bool { return !w.known || strings.Contains(w.text, "=") },
			finding{Unsafe, "shell.function", says("alias gives a name another meaning, so that names no longer say what runs; write the command out")}),
		"hash": unless(changing, flag("p"),
			finding{Unsafe, "shell.function", says("hash -p gives a name another program, so that names no longer say what runs; call the program")}),
		"enable":  unless(changing, flag("f"), finding{Unsafe, "shell.builtin", says("enable -f loads code into the shell; do without it")}),
		"type":    unless(harmlessly, func(w word) bool { return w.glob }, finding{Unproven, "shell.builtin", says("type changes the shell itself; do without it")}),
		"unalias": changing,
		"bg":      changing, "bind": changing, "caller": changing, "dirs": changing, "disown": changing,
		"fc": changing, "fg": changing, "getopts": changing, "help": harmlessly, "history": changing, "jobs": changing,
		"logout": changing, "shift": changing, "shopt": changing, "suspend": changing, "ulimit": changing, "umask": changing,
	}
}

// isBuiltin reports whether bash takes a name for itself.
func isBuiltin(name string) bool {
	return builtins[name] != nil || slices.Contains([]string{"builtin", "command", "exec", "kill"}, name)
}

func harmlessly(*judge, int, []word) {}

// tabled leaves the judgement to the table of programs, if it has one.
func tabled(j *judge, i int, words []word) {
	if _, known := programs[words[0].text]; known {
		j.found(i, j.table(words[0].text, words))
	}
}

func changing(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.builtin", says("%s changes the shell itself; do without it", words[0].text)})
}

// unless judges a builtin by what it usually does, and by a finding of its own
// when one of its words is of another kind.
func unless(usual builtin, other func(w word) bool, f finding) builtin {
	return func(j *judge, i int, words []word) {
		usual(j, i, words)
		if slices.ContainsFunc(words[1:], other) {
			j.found(i, f)
		}
	}
}

// flag reports of a word whether it is options with a letter among them.
func flag(letter string) func(w word) bool {
	return func(w word) bool { return strings.HasPrefix(w.text, "-") && strings.Contains(w.text, letter) }
}

func evaluating(j *judge, i int, words []word) {
	j.found(i, evaluates(words[0].text))
}

// printing looks for -v, which stores the output in a variable.
func printing(j *judge, i int, words []word) {
	if len(words) > 1 && (strings.HasPrefix(words[1].text, "-v") || !words[1].known && !strings.HasPrefix(words[1].source, "\"")) {
		j.found(i, evaluates("printf -v"))
	}
	tabled(j, i, words)
}

// probing looks for the tests of a variable by its name.
func probing(j *judge, i int, words []word) {
	for _, w := range words[1:] {
		if w.text == "-v" || w.text == "-R" {
			j.found(i, evaluates(words[0].text+" "+w.text))
		}
	}
	tabled(j, i, words)
}

// setting lets the options by that make a line stop at its first failure.
func setting(j *judge, i int, words []word) {
	for n, w := range words[1:] {
		option := strings.Trim(w.text, "-euxo") == "" && strings.HasPrefix(w.text, "-") && w.text != "--"
		if !option && !(n > 0 && slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace"}, w.text)) {
			changing(j, i, words)
			return
		}
	}
}

// changeDir follows cd, so that relative paths are judged where they lead.
func changeDir(j *judge, i int, words []word) {
	operands, to := words[1:], Place.logical
	for len(operands) > 0 && slices.Contains([]string{"-P", "-L", "-e", "-@", "--"}, operands[0].text) {
		if operands[0].text == "-P" {
			to = Place.resolveRead
		}
		operands = operands[1:]
	}
	switch {
	case len(operands) > 1, len(operands) == 1 && (!operands[0].known || operands[0].glob || operands[0].text == "-"):
		loseDir(j, i, words)
		return
	case len(operands) == 0:
		operands = []word{{text: j.at.Home, known: true}}
	}
	if operands[0].text == "" { // stays where it is
		return
	}
	var next []string
	for _, place := range j.places() {
		abs, inside := to(place, operands[0].text)
		if !inside {
			j.found(i, finding{Unproven, "shell.path", says("cd leads to %s, which is outside the workspace; stay below %s", abs, place.Workspace)})
		}
		next = append(next, abs)
	}
	if len(j.dirs) == 0 && !strings.HasPrefix(operands[0].text, "/") {
		return
	}
	before := j.dirs
	j.dirs, j.succeeded = union(before, next), next
}

func loseDir(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.path", says("nobody can say where %s leads; use cd with a path below the workspace", words[0].text)})
	j.dirs, j.succeeded = nil, nil
}

// evaluate judges eval: a text that is known as if it stood in the line.
func evaluate(j *judge, i int, words []word) {
	if unknown(words[1:]) {
		j.found(i, finding{Denied, "shell.builtin", says("eval runs a text that nobody can see beforehand; write the command itself")})
		return
	}
	j.found(i, finding{Unproven, "shell.builtin", says("eval runs a text as a command; write the command itself")})
	if len(words) > 1 {
		j.text("eval", strings.Join(texts(words[1:]), " "), false)
	}
}

// source judges a script that is run in the line's own shell.
func source(j *judge, i int, words []word) {
	if unknown(words[1:]) {
		j.found(i, finding{Denied, "shell.builtin", says("%s runs a script that nobody can see beforehand; name a file", words[0].text)})
		return
	}
	j.found(i, finding{Unproven, "shell.builtin", says("%s runs a script inside the line's own shell; run it with bash", words[0].text)})
	if len(words) > 1 {
		j.found(i, j.leaks(words[1]))
		j.sourceInput(i, words)
	}
	j.dirs, j.succeeded = nil, nil
}

// sourceInput judges a script that stands in the line itself.
func (j *judge) sourceInput(i int, words []word) {
	switch {
	case !isStdin(words[1].text):
	case j.stdin.kind == inputText:
		j.text(words[0].text+" <<", j.stdin.text, false)
	case j.stdin.kind == inputDynamic:
		j.found(i, finding{Denied, "shell.builtin", says("%s runs a text that nobody can see beforehand; write the commands themselves", words[0].text)})
	}
}

// leaks is the finding about a file that is read as a script: what is no command
// in it is shown in the errors, or kept.
func (j *judge) leaks(script word) finding {
	for _, place := range j.places() {
		if abs, _ := place.resolveRead(script.text); secret(abs) {
			return finding{Unsafe, "shell.secret", says("%s holds credentials, which nothing reads unasked; do without it", brief(script.source))}
		}
	}
	return finding{}
}

func trapping(j *judge, i int, words []word) {
	if unknown(words[1:]) {
		j.found(i, finding{Denied, "shell.builtin", says("trap keeps a text that nobody can see beforehand; write the command at the end of the line")})
		return
	}
	j.found(i, finding{Unproven, "shell.builtin", says("trap runs a command later; write the command at the end of the line")})
	if len(words) > 1 && words[1].text == "--" {
		words = words[1:]
	}
	if len(words) > 2 && words[1].text != "-" && words[1].text != "" && !strings.HasPrefix(words[1].text, "-") {
		j.text("trap", words[1].text, false)
	}
}

// exporting judges export and readonly whose words the parser did not see as
// assignments, such as "export" in quotes.
func exporting(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.builtin", says("%s changes variables for the rest of the line; do without it", words[0].text)})
	for _, w := range words[1:] {
		name, value, assigns := strings.Cut(w.text, "=")
		switch {
		case !w.known, strings.Contains(name, "["), strings.HasPrefix(name, "-"):
			j.found(i, evaluates(words[0].text))
		case assigns:
			j.found(i, assigned(name, word{text: value, known: true}))
		case isRisky(name):
			j.found(i, assigned(name, word{known: true}))
		}
	}
}

// callback judges the builtins that take a command to run as they go.
func callback(j *judge, i int, words []word) {
	changing(j, i, words)
	for n, w := range words[1:] {
		switch {
		case w.text == "-C" && n+2 < len(words):
			j.callback(i, words[0].text+" -C", words[n+2])
		case strings.HasPrefix(w.text, "-C") && len(w.text) > 2:
			w.text = w.text[2:]
			j.callback(i, words[0].text+" -C", w)
		}
	}
}

func (j *judge) callback(i int, via string, w word) {
	if !w.known {
		j.found(i, finding{Unsafe, "shell.dynamic", says("%s runs a text that nobody can see beforehand; write the command itself", via)})
		return
	}
	j.text(via, w.text, true)
}
