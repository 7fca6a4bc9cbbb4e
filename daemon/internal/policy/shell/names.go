package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// lists reports whether a command writes names of files that it found, and nothing
// else: where it looks is judged with the command.
func (j *judge) lists(s *syntax.Stmt) bool {
	if s.Negated || s.Background || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.RdrOut || r.N == nil || r.N.Value != "2" }) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && j.lists(c.X) && j.filters(c.Y)
	case *syntax.CallExpr:
		words, ok := j.static(c)
		return ok && listing(words)
	}
	return false
}

// filters reports whether a command lets some of the lines by that it reads.
func (j *judge) filters(s *syntax.Stmt) bool {
	c, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || s.Negated || s.Background || len(s.Redirs) > 0 {
		return false
	}
	words, ok := j.static(c)
	if !ok {
		return false
	}
	operands := 0
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			operands++
		}
	}
	switch words[0] {
	case "sort", "uniq":
		return operands == 0 && len(words) <= 2
	case "head", "tail":
		return operands == 0 || operands == 1 && len(words) == 3 && words[1] == "-n" && isDigits(words[2])
	case "grep":
		return operands == 1 && !slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") && strings.Trim(w, "-vEFi") != "" })
	}
	return false
}

// static are the words of a command that sets nothing and of which each is known.
func (j *judge) static(c *syntax.CallExpr) ([]string, bool) {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		return nil, false
	}
	words := make([]string, len(c.Args))
	for n, w := range c.Args {
		d := j.peek(w)
		if !d.known || d.why.grade > Proven {
			return nil, false
		}
		words[n] = d.text
	}
	return words, true
}

func listing(words []string) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(names, w) })
	}
	switch words[0] {
	case "find":
		return !has("-printf", "-ls", "-fprintf", "-fprint", "-fls", "-exec", "-execdir", "-ok", "-okdir")
	case "grep", "rg":
		return has("-l", "-rl", "-lr", "-Rl", "-rli", "-il", "-L", "--files-with-matches", "--files")
	case "git":
		return len(words) > 1 && (words[1] == "ls-files" && len(words) <= 3 && !has("-s", "--stage", "--eol") ||
			words[1] == "grep" && has("-l", "--files-with-matches", "--name-only") || words[1] == "diff" && has("--name-only"))
	}
	return false
}

// namesOnly reports whether xargs gives names of found files to a program that only
// reads, and whose options, should a name be one, do nothing else.
func (j *judge) namesOnly(own, rest []word) bool {
	if j.stdin.kind != inputPipe || !j.stdin.names || len(rest) == 0 || !rest[0].known || !slices.Contains(harmlessOptions, rest[0].text) {
		return false
	}
	for n, w := range own[1:] {
		value := isDigits(w.text) && (own[n].text == "-n" || own[n].text == "-P" || own[n].text == "-L")
		if !w.known || !value && !slices.Contains([]string{"-0", "-r", "-n", "-P", "-L", "-r0", "-0r"}, w.text) {
			return false
		}
	}
	return true
}
