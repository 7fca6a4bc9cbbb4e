package shell

import (
	"path"
	"slices"
	"strings"
)

// wrapper judges a command whose work is to run another one.
type wrapper func(j *judge, i int, words []word)

// wrappers are the programs and builtins that run other commands and do nothing
// else that matters. Programs that can also run others by an option are in the
// table of programs.
var wrappers map[string]wrapper

func init() {
	wrappers = map[string]wrapper{
		"env": wrapEnv, "command": wrapCommand, "builtin": wrapPlain(opts{}, finding{}), "exec": wrapExec,
		"nice":    wrapPlain(opts{glued: "n0123456789", value: "n", long: []string{"adjustment="}}, finding{}),
		"nohup":   wrapPlain(opts{}, finding{}),
		"timeout": wrapPlain(opts{flags: "v", value: "ks", long: []string{"kill-after=", "signal=", "foreground", "preserve-status", "verbose"}, skip: 1}, finding{}),
		"stdbuf":  wrapPlain(opts{value: "ioe", long: []string{"input=", "output=", "error="}}, finding{}),
		"time":    wrapPlain(opts{flags: "pv", value: "f", long: []string{"portability", "verbose", "format="}}, finding{}),
		"ionice":  wrapPlain(opts{flags: "t", value: "cn", long: []string{"class=", "classdata=", "ignore"}}, finding{}),
		"setsid": wrapPlain(opts{flags: "cfw", long: []string{"ctty", "fork", "wait"}},
			finding{Unproven, "shell.background", says("setsid leaves a command running, and everything is ended when the line returns; run it in the foreground")}),
		"sudo": wrapPlain(opts{flags: "ABEHKknPSbils", value: "CDghpRrtTUu", assigns: true, long: strings.Fields("askpass bell background edit " +
			"preserve-env preserve-env= preserve-groups set-home login remove-timestamp reset-timestamp list non-interactive stdin shell " +
			"validate no-update close-from= chdir= group= host= prompt= chroot= role= type= command-timeout= other-user= user=")}, neverRoot),
		"doas": wrapPlain(opts{flags: "nsL", value: "uC"}, neverRoot),
		"chroot": wrapPlain(opts{long: []string{"groups=", "userspec=", "skip-chdir"}, skip: 1},
			finding{Unproven, "shell.wrapper", says("chroot changes what all paths mean; run the command itself")}),
		"unshare": wrapPlain(opts{flags: "mpUrficnCTu", value: "RSGw", long: strings.Fields("mount mount= uts uts= ipc ipc= net net= pid pid= " +
			"user user= cgroup cgroup= time time= fork keep-caps kill-child kill-child= mount-proc mount-proc= mount-binfmt mount-binfmt= " +
			"map-root-user map-current-user map-auto map-user= map-users= map-group= map-groups= propagation= setgroups= setuid= setgid= " +
			"root= wd= monotonic= boottime=")},
			finding{Unproven, "shell.wrapper", says("unshare makes namespaces, which the sandbox does not allow; run the command itself")}),
		"busybox": wrapPlain(opts{}, finding{Unproven, "shell.wrapper", says("busybox has commands of its own with other options; call the program itself")}),
		"toybox":  wrapPlain(opts{}, finding{Unproven, "shell.wrapper", says("toybox has commands of its own with other options; call the program itself")}),
		"xargs": wrapAs(opts{flags: "0prtxo", value: "adEILnPs", glued: "eil", long: strings.Fields("null arg-file= delimiter= eof replace max-lines " +
			"max-args= max-procs= max-chars= interactive no-run-if-empty verbose exit open-tty show-limits process-slot-var=")},
			finding{}, runXargs),
		"flock": wrapAs(opts{flags: "sexunoFv", value: "wE", skip: 1, long: strings.Fields("shared exclusive unlock nonblock nb close no-fork verbose " +
			"timeout= wait= conflict-exit-code=")},
			finding{Unproven, "shell.wrapper", says("flock makes its lock file; run the command itself")}, runFlock),
		"watch": wrapAs(opts{flags: "bcegptxwdr", value: "nq", long: strings.Fields("beep color no-color differences differences= errexit chgexit " +
			"precise no-rerun no-title no-wrap exec interval= equexit=")},
			finding{Unproven, "shell.wrapper", says("watch runs a command for ever; run the command itself")}, runWatch),
		"script": wrapScript, "find": wrapFind, "parallel": wrapParallel,
	}
	for name := range shells {
		wrappers[name] = wrapShell
	}
	for _, name := range launchers {
		wrappers[name] = wrapLauncher
	}
}

var neverRoot = finding{Unsafe, "shell.wrapper", says("commands run as one user, who can become no other; run the command without it")}

// opts are the options of a wrapper that have no meaning for what it runs.
type opts struct {
	flags   string   // short ones without a value
	value   string   // short ones with one, glued or apart
	glued   string   // short ones whose value is only glued: -10
	long    []string // long ones; "=" at the end: with a value; with and without: the value is only glued
	skip    int      // operands before the command
	assigns bool     // NAME=VALUE may stand before the command
}

// rest is what follows the options and the operands of the wrapper, or false
// when an option is not known, or its value: bash may make several words of
// what is put in, and the command would be one of them.
func (o opts) rest(words []word) ([]word, bool) {
	for n := 1; n < len(words); n++ {
		w := words[n]
		switch {
		case !w.known || w.glob:
			return nil, false
		case w.text == "--":
			return o.operands(words[n+1:]), true
		case len(w.text) < 2 || w.text[0] != '-':
			return o.operands(words[n:]), true
		case strings.HasPrefix(w.text, "--"):
			apart, ok := o.longOption(w.text[2:])
			if n += apart; !ok || n < len(words) && !words[n].single() {
				return nil, false
			}
		default:
			apart, ok := o.shortOptions(w.text[1:])
			if n += apart; !ok || n < len(words) && !words[n].single() {
				return nil, false
			}
		}
	}
	return nil, true
}

func (o opts) operands(words []word) []word {
	for o.assigns && len(words) > 0 && strings.Contains(words[0].text, "=") {
		words = words[1:]
	}
	return words[min(o.skip, len(words)):]
}

// longOption says how many words the value of an option takes apart from it.
func (o opts) longOption(text string) (apart int, ok bool) {
	name, _, glued := strings.Cut(text, "=")
	for _, l := range o.long {
		takes := strings.HasSuffix(l, "=")
		switch {
		case !strings.HasPrefix(strings.TrimSuffix(l, "="), name) || name == "":
		case takes && !glued:
			return 1, true
		case takes == glued:
			return 0, true
		}
	}
	return 0, false
}

func (o opts) shortOptions(cluster string) (apart int, ok bool) {
	for n, c := range cluster {
		switch {
		case strings.ContainsRune(o.value, c):
			if n+1 == len(cluster) {
				return 1, true
			}
			return 0, true
		case n == 0 && strings.ContainsRune(o.glued, c):
			return 0, true
		case !strings.ContainsRune(o.flags, c):
			return 0, false
		}
	}
	return 0, true
}

// wrapPlain makes a wrapper of its options, and of what is wrong with it as
// such.
func wrapPlain(o opts, own finding) wrapper {
	return wrapAs(o, own, func(j *judge, _ int, words, rest []word) { j.wrapped(base(words[0]), rest) })
}

// wrapAs is wrapPlain for a wrapper that is more than the command behind its
// options, the rest of its words.
func wrapAs(o opts, own finding, run func(j *judge, i int, words, rest []word)) wrapper {
	return func(j *judge, i int, words []word) {
		j.found(i, own)
		if rest, ok := o.rest(words); ok {
			run(j, i, words, rest)
		} else {
			j.odd(i, words)
		}
	}
}

// odd notes a wrapper whose options are not known, so that nobody can say where
// the command in it begins. What would be denied is found all the same.
func (j *judge) odd(i int, words []word) {
	j.found(i, finding{Unsafe, "shell.option", says("the options of %s cannot be told from the command that it runs; write the command without it", brief(words[0].text))})
	j.scan(i, words)
}

// scanCap is how far into an odd wrapper's words a denied command is looked for.
const scanCap = 64

func (j *judge) scan(i int, words []word) {
	for n := 1; n < min(len(words), scanCap); n++ {
		if !words[n].known {
			continue
		}
		name := base(words[n])
		j.found(i, j.deny(name, words[n:]))
		j.found(i, j.fed(name, words[n:]))
		for _, at := range []string{words[n].text, gluedValue(words[n].text)} {
			if j.onDevice(at) { // whatever is made of it
				j.found(i, device(at))
			}
		}
	}
}

// gluedValue is the value that an option may have in its own word: --to=x, -ox.
func gluedValue(text string) string {
	if name, value, has := strings.Cut(text, "="); has && strings.HasPrefix(name, "-") {
		return value
	}
	if len(text) > 2 && text[0] == '-' {
		return text[2:]
	}
	return ""
}

// wrapCommand is command and its questions, which run nothing.
func wrapCommand(j *judge, i int, words []word) {
	for n, w := range words[1:] {
		switch {
		case w.text == "-p" || w.text == "--":
		case w.known && len(w.text) == 2 && (w.text == "-v" || w.text == "-V"):
			return
		case strings.HasPrefix(w.text, "-") || !w.known:
			j.odd(i, words)
			return
		default:
			j.wrapped("command", words[n+1:])
			return
		}
	}
}

func wrapExec(j *judge, i int, words []word) {
	j.found(i, finding{Unproven, "shell.builtin", says("exec puts a command in the place of the shell; run the command itself")})
	rest, ok := opts{flags: "cl", value: "a"}.rest(words)
	if !ok || len(rest) > 0 && (!rest[0].known || rest[0].glob) {
		j.found(i, finding{Denied, "shell.builtin", says("exec runs a command that nobody can see beforehand; write the command itself")})
		return
	}
	j.wrapped("exec", rest)
}

// wrapEnv is env: options, then variables, then a command.
func wrapEnv(outer *judge, i int, words []word) {
	moved := *outer // by -C
	j := &moved
	for n := 1; n < len(words); n++ {
		w := words[n]
		name, value, assigns := strings.Cut(w.text, "=")
		dir, apart, moves := envMoves(words[n:])
		switch {
		case !w.known || w.glob:
			j.odd(i, words)
			return
		case moves && (!dir.known || dir.glob || dir.tilde || dir.text == ""):
			j.odd(i, words)
			return
		case moves:
			j.dirs = j.from(dir.text)
			n += apart
		case w.text == "-" || w.text == "--" || slices.Contains(envFlags, w.text) || envLong(w.text):
		case (w.text == "-u" || w.text == "--unset") && n+1 < len(words) && !words[n+1].single():
			j.odd(i, words)
			return
		case w.text == "-u" || w.text == "--unset":
			n++
		case strings.HasPrefix(w.text, "-u"):
		case w.text == "-S" || w.text == "--split-string":
			if n+1 < len(words) {
				j.envSplit(i, words, words[n+1], words[n+1].text, words[n+2:])
			}
			return
		case strings.HasPrefix(w.text, "--split-string=") || envSplits(w.text):
			text := strings.TrimPrefix(w.text, "--split-string=")
			if envSplits(w.text) {
				text = w.text[strings.IndexByte(w.text, 'S')+1:]
				if text == "" && n+1 < len(words) {
					j.envSplit(i, words, words[n+1], words[n+1].text, words[n+2:])
					return
				}
			}
			j.envSplit(i, words, w, text, words[n+1:])
			return
		case strings.HasPrefix(w.text, "-"):
			j.odd(i, words)
			return
		case assigns:
			j.envAssign(name, value)
		default:
			j.wrapped("env", words[n:])
			return
		}
	}
}

var envFlags = []string{"-i", "-0", "-v", "-i0", "-0i", "-iv", "-vi", "--ignore-environment", "--null", "--debug"}

func envLong(text string) bool {
	return strings.HasPrefix(text, "--unset=") && len(text) > len("--unset=")
}

// envSplits reports whether a word is -S with its text, flags before it or not.
func envSplits(text string) bool {
	before, _, found := strings.Cut(text, "S")
	return found && len(before) > 0 && before[0] == '-' && strings.Trim(before[1:], "iv0") == ""
}

// envMoves reports whether a word is -C, and where that leads.
func envMoves(words []word) (dir word, apart int, moves bool) {
	w := words[0]
	switch {
	case (w.text == "-C" || w.text == "--chdir") && len(words) > 1:
		return words[1], 1, true
	case strings.HasPrefix(w.text, "--chdir="):
		w.text = strings.TrimPrefix(w.text, "--chdir=")
		return w, 0, true
	case strings.HasPrefix(w.text, "-C"):
		w.text = w.text[2:]
		return w, 0, true
	}
	return word{}, 0, false
}

// from are the directories that a path leads to from where a command may start.
func (j *judge) from(dir string) []string {
	if len(j.dirs) == 0 && !path.IsAbs(dir) {
		return nil
	}
	var list []string
	for _, place := range j.places() {
		abs, _ := place.resolveRead(dir)
		list = append(list, abs)
	}
	return list
}

// envAssign judges a variable as before a command, but that a name of which
// nothing is known is the program's alone.
func (j *judge) envAssign(name, value string) {
	f := assigned(name, word{text: value, known: true})
	if f.grade == Unproven {
		f = finding{Contained, f.rule, f.why}
	}
	j.structure(f)
}

// envSplit judges the words that env -S makes of a text. Only a text that it
// splits at blanks and nothing else is taken apart.
func (j *judge) envSplit(i int, words []word, from word, text string, more []word) {
	j.found(i, finding{Contained, "shell.wrapper", says("env -S makes several words of one; write the words, without env")})
	if strings.ContainsAny(text, "\\$'\"#") {
		j.odd(i, words)
		j.scan(i, append(words[:1:1], synthetic(from, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\", r) }))...))
		return
	}
	list := append([]word{words[0]}, synthetic(from, strings.Fields(text))...)
	inner := j.inside("env -S")
	if !inner.tooDeep() {
		wrapEnv(inner, i, append(list, more...))
	}
}
