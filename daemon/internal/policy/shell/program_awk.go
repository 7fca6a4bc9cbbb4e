package shell

import (
	"slices"
	"strings"
)

// awk is a language that can do everything, so a line with it is never proven.
// What only tests and prints (plainAwk) is contained, and proven in the strict form,
// in which nobody could say more than awk.
func awk(c call) finding {
	switch f := awkChecked(c); {
	case f.grade > Unproven:
		return f
	case f.grade <= Contained:
		return finding{Contained, "shell.program", says("this program of %s only tests and prints what passes through", c.argv[0])}
	default:
		return c.orSecret(c.unproven("shell.program", "%s runs a program that may do more than test fields and print them; print only, or use cut, grep, sort or jq", c.argv[0]), false)
	}
}

// awkSyntax is what awk may be told in the strict form.
var awkSyntax = usage{short: "F:v:", operands: ":<", exact: true, also: awkText}.ready()

func awkChecked(c call) finding { return awkSyntax.judge(c) }

func awkText(r *reading) finding {
	if len(r.operands) == 0 {
		return r.unproven("shell.option", "%s has no program; write it in quotes", r.argv[0])
	}
	if !plainAwk(r.operands[0]) {
		return r.unproven("shell.option", "this program of %s may run commands, or read or write files, which is not proven; only test fields and print them", r.argv[0])
	}
	return finding{}
}

// awkReaching are the names with which a program reaches beyond its input. They
// are refused in texts and comments, too.
var awkReaching = []string{
	"system", "getline", "ARGV", "ARGC", "ARGIND", "SYMTAB", "FUNCTAB", "PROCINFO", "ENVIRON", "function", "func",
	"close", "include", "load", "namespace", "extension",
}

// plainAwk reports whether a program certainly does nothing but test its input
// and print. It refuses many that are harmless: what cannot be told apart
// without the whole grammar counts as the worse.
func plainAwk(text string) bool {
	if strings.Contains(text, "@") || strings.Contains(text, "\\\n") || strings.Contains(text, "\\\r") {
		return false
	}
	if slices.ContainsFunc(awkReaching, func(name string) bool { return strings.Contains(text, name) }) {
		return false
	}
	scan := awkScan{text: text}
	for scan.at < len(text) {
		if !scan.next() {
			return false
		}
	}
	return true
}

// slash is what the next slash in a program would be.
type slash int

const (
	begins  slash = iota // a pattern: an operand is due
	divides              // a division: an operand has just ended
	either               // a division or a pattern, for what plainAwk knows
)

// awkScan is a place in a program's text.
type awkScan struct {
	text     string
	at       int
	slash    slash
	printing bool // since print or printf no statement has ended
}

// next steps over one token, unless it may redirect or open a pipe.
func (s *awkScan) next() bool {
	rest := s.text[s.at:]
	switch b := rest[0]; {
	case b == ' ' || b == '\t':
		s.at++
	case b == '\n' || b == ';' || b == '}':
		s.slash, s.at = begins, s.at+1
		s.printing = s.printing && b == '\n'
	case b == '#':
		s.comment()
	case b == '"':
		return s.quoted('"')
	case b == '/' && s.slash == begins:
		return s.quoted('/')
	case b == '/' && s.slash == either:
		return false
	case isWord(b):
		s.word()
	case strings.HasPrefix(rest, "||") || strings.HasPrefix(rest, "&&"):
		s.slash, s.at = begins, s.at+2
	case b == '|', b == '>' && s.printing, strings.HasPrefix(rest, ">>"):
		return false
	default:
		s.sign(b)
	}
	return true
}

func (s *awkScan) sign(b byte) {
	s.at++
	switch {
	case strings.IndexByte("({,!~", b) >= 0:
		s.slash = begins
	case b == ']':
		s.slash = divides
	default: // behind ")" the head of an if may have ended, or an operand
		s.slash = either
	}
}

// awkKeywords are words that no operand ends with.
var awkKeywords = strings.Fields("print printf return in else do case exit delete length while for if BEGIN END next nextfile default switch")

func (s *awkScan) word() {
	start := s.at
	for s.at < len(s.text) && isWord(s.text[s.at]) {
		s.at++
	}
	word := s.text[start:s.at]
	s.printing = s.printing || word == "print" || word == "printf"
	s.slash = divides
	if slices.Contains(awkKeywords, word) {
		s.slash = either
	}
}

// quoted steps over a text or a pattern, which must end in the same line. In
// brackets of a pattern awks do not agree about a slash.
func (s *awkScan) quoted(end byte) bool {
	bracket := false
	for s.at++; s.at < len(s.text); s.at++ {
		switch b := s.text[s.at]; {
		case b == '\\':
			s.at++
		case b == '\n', b == '/' && bracket:
			return false
		case b == '[':
			bracket = end == '/'
		case b == ']':
			bracket = false
		case b == end:
			s.at++
			s.slash = either
			return true
		}
	}
	return false
}

func (s *awkScan) comment() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
