package shell

import (
	"slices"
	"strings"
)

// shells are the programs that run a text in a shell's language.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "rbash": true, "zsh": true, "ksh": true, "mksh": true,
	"fish": true, "csh": true, "tcsh": true, "ksh93": true, "yash": true, "posh": true,
}

// launchers run another command after options of their own that nobody lists
// here.
var launchers = []string{
	"strace", "ltrace", "valgrind", "fakeroot", "proot", "chrt", "taskset", "prlimit", "runuser", "su", "pkexec",
	"setarch", "linux64", "linux32", "cgexec", "systemd-run", "unbuffer", "rlwrap", "numactl", "firejail", "bwrap",
	"nsenter", "setpriv", "capsh", "dbus-run-session", "ssh-agent", "xvfb-run", "choom", "pidwait", "daemonize", "start-stop-daemon",
}

func wrapLauncher(j *judge, i int, words []word) {
	j.found(i, j.table(words[0].text, words))
	j.found(i, finding{Unproven, "shell.wrapper", says("%s runs another command; run that itself", brief(words[0].text))})
	j.scan(i, words)
	j.found(i, j.launched(words))
	for n, w := range words {
		if (w.text == "-c" || w.text == "--command") && n+1 < len(words) {
			j.callback(i, brief(words[0].text)+" -c", words[n+1])
		}
	}
}

// launched is what is wrong with the first word of a launcher that is the name of
// a program, and with the words behind it, when that is more than that nobody can
// say. The command that the launcher runs may begin elsewhere, so it is not listed.
func (j *judge) launched(words []word) finding {
	for n, w := range words[1:] {
		if name := base(w); !w.known || programs[name] == nil && wrappers[name] == nil {
			continue
		}
		alone := *j
		alone.out = &tally{calls: map[string][]string{}}
		if alone.wrapped(words[0].text, words[n+1:]); alone.out.worst.grade >= Unsafe {
			return alone.out.worst
		}
		return finding{}
	}
	return finding{}
}

// shellCall is how a shell was called.
type shellCall struct {
	text    *word // of -c
	script  *word // the file that it runs
	stdin   bool  // it reads its program from its standard input
	odd     bool  // options that may run more than the text
	unknown bool  // nobody can tell
}

func readShell(words []word) (c shellCall) {
	n, command := 1, false
options:
	for ; n < len(words); n++ {
		w := words[n]
		switch {
		case !w.known || w.glob:
			break options
		case w.text == "--" || w.text == "-":
			n++
			break options
		case slices.Contains([]string{"--norc", "--noprofile", "--posix"}, w.text):
		case w.text == "--rcfile" || w.text == "--init-file":
			c.odd = true
			n++
		case strings.HasPrefix(w.text, "--"):
			c.odd = true
		case len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+'):
			command = command || strings.Contains(w.text, "c")
			c.stdin = c.stdin || strings.Contains(w.text, "s")
			c.odd = c.odd || strings.Trim(w.text[1:], "ceuxvfnos") != ""
			for range strings.Count(strings.ToLower(w.text[1:]), "o") {
				n++
				c.odd = c.odd || n >= len(words) || !slices.Contains([]string{"pipefail", "errexit", "nounset", "noglob", "xtrace"}, words[n].text)
			}
		default:
			break options
		}
	}
	switch {
	case command && n < len(words):
		c.text, c.stdin = &words[n], false
	case command:
		c.unknown = true
	case c.stdin:
	case n < len(words) && !isStdin(words[n].text):
		c.script = &words[n]
	default:
		c.stdin = true
	}
	return c
}

// wrapShell judges a shell. A text that is known is judged as if it stood in
// the line; what a script holds is not known.
func wrapShell(j *judge, i int, words []word) {
	name, c := base(words[0]), readShell(words)
	if c.odd || !slices.Contains([]string{"sh", "bash", "dash"}, name) {
		j.found(i, finding{Unproven, "shell.interpreter", says("%s with these options may run more than it is given; use bash -c with a text, or run the commands themselves", name)})
	}
	switch {
	case c.unknown:
		j.found(i, finding{Unsafe, "shell.dynamic", says("%s -c has no text of its own, so it runs what it is given later; write the command itself", name)})
	case c.text != nil && (!c.text.known || c.text.glob):
		j.found(i, finding{Unsafe, "shell.dynamic", says("%s -c runs a text that nobody can see beforehand; write the command itself", name)})
	case c.text != nil:
		j.text(name+" -c", c.text.text, true)
	case c.stdin && j.stdin.kind == inputText:
		j.text(name+" <<", j.stdin.text, true)
	case c.stdin && j.stdin.kind == inputDynamic:
		j.found(i, finding{Unsafe, "shell.dynamic", says("%s runs a text that nobody can see beforehand; write the commands themselves", name)})
	default:
		if c.script != nil {
			j.found(i, j.leaks(*c.script))
		}
		j.found(i, finding{Unproven, "shell.interpreter", says("nobody can say what a script does that %s runs; run its commands one by one", name)})
	}
}

// runXargs judges what xargs runs: its words go on with what is read.
func runXargs(j *judge, i int, words, rest []word) {
	if j.namesOnly(words[:len(words)-len(rest)], rest) {
		j.found(i, finding{Contained, "shell.wrapper", says("xargs gives the names that are found to a program that only reads")})
	} else {
		j.found(i, finding{Unproven, "shell.wrapper", says("xargs makes words of what it reads, which nobody can see beforehand; name the operands, or give names that find or git lists to a program that only reads")})
	}
	own := call{argv: texts(words[:len(words)-len(rest)])}
	for _, own.place = range j.places() {
		if f := own.orSecret(finding{grade: Unproven}, false); f.grade == Unsafe { // -a FILE
			j.found(i, f)
		}
	}
	if len(rest) == 0 || !rest[0].known {
		return
	}
	if replace := xargsReplaces(words[:len(words)-len(rest)]); replace != "" && strings.Contains(rest[0].text, replace) {
		j.found(i, finding{Unsafe, "shell.dynamic", says("the name of the command that xargs runs is read, so nobody can say what runs; write the name")})
	}
	if shells[base(rest[0])] {
		j.found(i, xargsShell(words, rest))
	}
	if base(rest[0]) == "rm" && slices.ContainsFunc(rest, func(w word) bool { return isRecursive(w.text) }) {
		j.found(i, finding{Unsafe, "shell.dynamic", says("rm -r gets names that nobody can see beforehand; name what is to be removed")})
	}
	inner := *j
	inner.stdin = input{}
	inner.wrapped("xargs", rest)
}

// xargsShell is about a shell whose text comes from what is read, whole or in
// part.
func xargsShell(words, rest []word) finding {
	c := readShell(rest)
	if c.unknown {
		return finding{Denied, "shell.pipe_interpreter", says("a shell runs what is read as commands; write the commands themselves")}
	}
	if c.text == nil || !c.text.known {
		return finding{}
	}
	switch replace := xargsReplaces(words[:len(words)-len(rest)]); {
	case replace == "":
	case strings.TrimSpace(c.text.text) == replace:
		return finding{Denied, "shell.pipe_interpreter", says("a shell runs what is read as commands; write the commands themselves")}
	case strings.Contains(c.text.text, replace):
		return finding{Unsafe, "shell.dynamic", says("%s in the text of sh -c becomes a part of the program; pass it as an argument and use \"$1\"", brief(replace))}
	}
	return finding{}
}

// xargsReplaces is the text that xargs replaces by what it reads, by its own
// words; empty when it replaces none.
func xargsReplaces(own []word) (replace string) {
	for n, w := range own {
		switch glued, is := strings.CutPrefix(w.text, "-I"); {
		case w.text == "-I" && n+1 < len(own):
			replace = own[n+1].text
		case is:
			replace = glued
		case w.text == "-i" || w.text == "--replace":
			replace = "{}"
		case strings.HasPrefix(w.text, "-i"):
			replace = w.text[2:]
		}
	}
	return replace
}

// wrapParallel runs what it reads as commands when it is given none.
func wrapParallel(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.wrapper", says("parallel makes commands of what it reads, which nobody can see beforehand; write the commands")})
	if len(words) == 1 && j.stdin.kind == inputPipe {
		j.found(i, finding{Denied, "shell.pipe_interpreter", says("parallel runs what is read as commands; write the commands themselves")})
	}
	alone := *j
	alone.stdin = input{} // what is read are operands
	alone.scan(i, words)
}

func runFlock(j *judge, i int, _, rest []word) {
	if len(rest) > 1 && (rest[0].text == "-c" || rest[0].text == "--command") {
		j.callback(i, "flock -c", rest[1])
		return
	}
	j.wrapped("flock", rest)
}

// wrapScript is script, whose command is a text for a shell.
func wrapScript(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.wrapper", says("script runs a command and writes all it says to a file; run the command itself")})
	for n, w := range words[1:] {
		flag, glued, long := strings.Cut(w.text, "=")
		switch {
		case long && len(flag) > 3 && strings.HasPrefix("--command", flag):
			w.text = glued
			j.callback(i, "script -c", w)
		case strings.HasPrefix(w.text, "--") && !long && len(flag) > 3 && strings.HasPrefix("--command", flag) && n+2 < len(words):
			j.callback(i, "script -c", words[n+2])
		case strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c"):
			if at := strings.IndexByte(w.text, 'c'); at+1 < len(w.text) {
				w.text = w.text[at+1:]
				j.callback(i, "script -c", w)
			} else if n+2 < len(words) {
				j.callback(i, "script -c", words[n+2])
			}
		}
	}
}

// runWatch runs its words, joined, as a text for a shell, again and again; with
// -x it runs them as they are.
func runWatch(j *judge, i int, words, rest []word) {
	switch {
	case unknown(rest):
		j.found(i, finding{Unsafe, "shell.dynamic", says("watch runs a text that nobody can see beforehand; write the command itself")})
	case len(rest) > 0:
		j.text("watch", strings.Join(texts(rest), " "), true)
		if slices.ContainsFunc(words[1:len(words)-len(rest)], func(w word) bool { return strings.Contains(w.text, "x") }) { // or what may be it
			j.wrapped("watch -x", rest)
		}
	}
}

// wrapFind judges the commands of -exec and its like; find itself is in the
// table.
func wrapFind(j *judge, i int, words []word) {
	j.found(i, j.table("find", words))
	for n := 1; n < len(words); n++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, words[n].text) {
			continue
		}
		end := n + 1
		for end < len(words) && words[end].text != ";" && words[end].text != "+" {
			end++
		}
		inner := *j
		inner.wrapped("find "+words[n].text, words[n+1:end])
		n = end
	}
}
