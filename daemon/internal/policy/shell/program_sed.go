package shell

import (
	"regexp"
	"slices"
	"strings"
)

// sedSyntax has no -i, which writes, and no -f, -e or --expression: the script
// is the first operand, where it can be looked at.
var sedSyntax = usage{
	short: "nErsuz", operands: ":<",
	long: "quiet silent regexp-extended separate unbuffered null-data posix debug sandbox " +
		"!expression: !file: !in-place? !follow-symlinks !line-length: !binary",
}

var (
	sedPrinting = withScript(sedSyntax, sedPrints).ready()
	sedPlain    = withScript(sedSyntax, sedEdits).ready()
)

// The parts of a script. A slash in brackets ends a pattern for some seds and
// not for others, so there is none.
const (
	sedPattern = `(?:\\[^\n]|\[[^\]/\\\n]+\]|[^/\\\[\n])*`
	sedAddress = `(?:[0-9]+(?:~[0-9]+)?|\$|/` + sedPattern + `/I?)`
	sedRange   = `(?:` + sedAddress + `(?:,(?:` + sedAddress + `|[+~][0-9]+))?)?`
	sedReplace = `s/` + sedPattern + `/` + sedPattern + `/[gpiI0-9]*`
)

var (
	sedPrint = regexp.MustCompile(`^(?:(?:[0-9]+|\$)(?:,(?:[0-9]+|\$|\+[0-9]+))?p(?:; ?|$))+$`)
	sedEdit  = regexp.MustCompile(`^(?:` + sedRange + ` ?!? ?(?:[pdqQ=]|` + sedReplace + `) ?(?:;|\n|$) ?)+$`)
)

func withScript(s usage, also func(r *reading) finding) usage {
	s.also = also
	return s
}

// sed is proven when it prints lines by their number, and does nothing else.
func sed(c call) finding {
	if slices.ContainsFunc(c.argv, func(word string) bool { return strings.HasPrefix(word, "-i") || strings.HasPrefix(word, "--i") }) {
		c.changes(c.argv[1:])
	}
	f := sedPrinting.judge(c)
	if f.grade == Unproven && sedPlain.judge(c).grade <= Contained {
		return finding{Contained, "shell.program", says("this script of sed only edits what passes through")}
	}
	return f
}

// sedChecked takes edits of what passes through, too.
func sedChecked(c call) finding { return sedPlain.judge(c) }

func sedPrints(r *reading) finding {
	if r.has("n", "quiet", "silent") && len(r.operands) > 0 && sedPrint.MatchString(r.operands[0]) {
		return finding{}
	}
	return r.unproven("shell.option", "this script of sed may run commands or write files; use only addresses and the commands p, d, q and s without the flags e and w, or use grep, head or tail")
}

func sedEdits(r *reading) finding {
	if len(r.operands) > 0 && sedEdit.MatchString(r.operands[0]) {
		return finding{}
	}
	return r.unproven("shell.option", "this script of sed may run commands or write files; use only addresses and the commands p, d, q and s without the flags e and w")
}
