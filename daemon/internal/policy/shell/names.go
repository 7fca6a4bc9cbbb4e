package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
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
		return c.Op == syntax.Pipe && j.filters(c.Y) && j.lists(c.X)
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
	switch words[0] {
	case "sort", "uniq":
		return len(words) == 1 || len(words) == 2 && (words[1] == "-u" || words[1] == "-r")
	case "head", "tail":
		return len(words) == 1 || plainCount.MatchString(strings.Join(words[1:], " "))
	case "grep":
		last := len(words) - 1
		return last > 0 && !strings.HasPrefix(words[last], "-") && !slices.ContainsFunc(words[1:last], func(w string) bool { return !grepFlags.MatchString(w) })
	}
	return false
}

// plainCount is how many lines head and tail let by; of bytes there is no name.
var plainCount = regexp.MustCompile(`^-(n ?)?[0-9]+$`)

// grepFlags are options of grep that take no value and add nothing to what it prints.
var grepFlags = regexp.MustCompile(`^-[viEFw]+$`)

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

// The options that a command which lists names may have, those with which it lists first.
var (
	grepLists = regexp.MustCompile(`^-[rRinwEF]*l[rRinwEF]*$`)
	listFlags = regexp.MustCompile(`^(-[rRinwEF]+|--include=[^/ ]+|--exclude(-dir)?=[^/ ]+)$`)
	gitLists  = map[string][]string{"ls-files": {"-c", "-o", "-m", "-z", "--exclude-standard"}, "diff": {"--name-only", "--cached", "--staged", "-z"}}
)

// listing knows few options, none of which puts other text in what is written.
func listing(words []string) bool {
	options := func(from int, known func(w string) bool) bool {
		return !slices.ContainsFunc(words[from:], func(w string) bool { return strings.HasPrefix(w, "-") && w != "--" && !known(w) })
	}
	switch {
	case words[0] == "find":
		return options(1, func(w string) bool { return slices.Contains(findNames, w) })
	case len(words) < 2:
		return false
	case words[0] == "grep":
		return len(words) > 2 && grepLists.MatchString(words[1]) && options(2, listFlags.MatchString)
	case words[0] == "rg":
		return (words[1] == "-l" && len(words) > 2 || words[1] == "--files" || words[1] == "--files-with-matches") &&
			options(2, func(w string) bool { return w == "-i" || w == "-g" || w == "-w" || w == "-F" })
	case words[0] == "git" && words[1] == "grep":
		return len(words) > 3 && words[2] == "-l" && options(3, func(w string) bool { return w == "-i" || w == "-w" || w == "-F" || w == "-E" })
	case words[0] == "git" && words[1] == "diff":
		return slices.Contains(words, "--name-only") && options(2, func(w string) bool { return slices.Contains(gitLists["diff"], w) })
	case words[0] == "git":
		return words[1] == "ls-files" && options(2, func(w string) bool { return slices.Contains(gitLists["ls-files"], w) })
	}
	return false
}

// findNames are what find may be told: where and what to look for.
var findNames = strings.Fields("-name -iname -path -ipath -type -not -o -a -maxdepth -mindepth -size -mtime -mmin -newer -empty -prune -print -print0")

// unseen are programs that show nothing of what is in the files that they are given, so that
// a name which is none (of a file with a blank in its own) does no harm.
var unseen = []string{"wc", "ls", "du", "stat", "basename", "dirname", "realpath", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum"}

// whole reports whether a command that lists names ends each with a NUL, and looks for no
// credentials.
func (j *judge) whole(s *syntax.Stmt) bool {
	c, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || !j.lists(s) {
		return false
	}
	words, _ := j.static(c)
	if !slices.Contains(words, "-print0") && !slices.Contains(words, "-z") {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		last := path.Base(w)
		abs, _ := j.at.resolveRead(w)
		return secret(abs) || protect.SecretPattern(last) || strings.ContainsAny(last, "*?[") && protect.SecretMatch(last, false) && strings.HasPrefix(last, ".")
	})
}

// namesOnly reports whether xargs gives names of found files to a program that only
// reads, and whose options, should a name be one, do nothing else.
func (j *judge) namesOnly(own, rest []word) bool {
	if j.stdin.kind != inputPipe || len(rest) == 0 || !rest[0].known {
		return false
	}
	zero := slices.ContainsFunc(own, func(w word) bool { return w.text == "-0" || w.text == "-r0" || w.text == "-0r" })
	switch name := rest[0].text; {
	case j.stdin.names && slices.Contains(unseen, name):
	case j.stdin.whole && zero && slices.Contains(harmlessOptions, name):
	default:
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
