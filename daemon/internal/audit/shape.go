package audit

import "strings"

// rule is how well-known keys look that nobody has told the registry of: how
// they begin, and what must follow before it is believed.
type rule struct {
	begin  string
	chars  func(byte) bool
	least  int  // characters that must follow
	digits int  // so many of them digits
	exact  bool // least and no more
	key    bool // a block of PEM, which has rules of its own
}

// keyRules are few and strict: to hide what is no key makes a log useless, and a
// model blind.
var keyRules = []rule{
	{begin: "AKIA", chars: isUpper, least: 16, exact: true},
	{begin: "ASIA", chars: isUpper, least: 16, exact: true},
	{begin: "ghp_", chars: isAlnum, least: 36},
	{begin: "gho_", chars: isAlnum, least: 36},
	{begin: "ghu_", chars: isAlnum, least: 36},
	{begin: "ghs_", chars: isAlnum, least: 36},
	{begin: "ghr_", chars: isAlnum, least: 36},
	{begin: "github_pat_", chars: isWord, least: 22, digits: 1},
	{begin: "sk-", chars: isWord, least: 20, digits: 3},
	{begin: "xoxa-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxb-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxe-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxo-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxp-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxr-", chars: isWord, least: 10, digits: 3},
	{begin: "xoxs-", chars: isWord, least: 10, digits: 3},
	{begin: "-----BEGIN ", key: true},
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' || isDigit(b) }

func isAlnum(b byte) bool { return isUpper(b) || 'a' <= b && b <= 'z' }

func isWord(b byte) bool { return isAlnum(b) || b == '_' || b == '-' }

// Limits on what is waited for before it is clear whether it is a key.
const (
	undecided    = 128 // characters behind a beginning
	undecidedKey = 1024
	keyLine      = 40 // characters of base64 in a row, by which a block of PEM is known
)

// shape is a key that may have begun. Its zero value is that none has.
type shape struct {
	rule    *rule
	start   int  // where it begins in the text as it was written
	reach   int  // behind its last character so far
	decided bool // it is a key
	size    int
	digits  int
	block   block
}

// block is how far a private key in PEM has come.
type block struct {
	head   string // between BEGIN and the dashes; empty once it was read
	body   bool
	run    int // characters of base64 in a row
	dashes int
	ending bool // END was read
}

// waits reports whether it is not clear yet that there is a key.
func (s *shape) waits() bool { return s.rule != nil && !s.decided }

// read takes the byte that follows. hit says that the key reaches up to the end
// of it, before that it ended in front of it.
func (s *shape) read(b byte) (hit, before bool) {
	if s.rule.key {
		return s.readBlock(b), false
	}
	if !s.rule.chars(b) {
		before = s.rule.exact && s.size == s.rule.least
		*s = shape{}
		return false, before
	}
	if s.size++; isDigit(b) {
		s.digits++
	}
	switch {
	case s.rule.exact && s.size > s.rule.least, !s.decided && s.size > undecided:
		*s = shape{}
		return false, false
	case s.rule.exact:
		return false, false
	}
	s.decided = s.size >= s.rule.least && s.digits >= s.rule.digits
	return s.decided, false
}

// end is read when the text ends.
func (s *shape) end() bool { return s.rule != nil && s.rule.exact && s.size == s.rule.least }

func (s *shape) readBlock(b byte) bool {
	s.size++
	k := &s.block
	switch {
	case !k.body:
		s.readHead(b)
	case !isAlnum(b) && !strings.ContainsRune("+/=:,- \t\r\n", rune(b)), !s.decided && s.size > undecidedKey:
		*s = shape{}
		return false
	default:
		s.readBody(b)
	}
	if s.rule == nil {
		return false
	}
	hit := s.decided
	if k.ending && k.dashes == 5 {
		*s = shape{}
	}
	return hit
}

func (s *shape) readHead(b byte) {
	const longest = 48
	k := &s.block
	k.head += string(rune(b))
	switch {
	case strings.HasSuffix(k.head, "PRIVATE KEY-----"), strings.HasSuffix(k.head, "PRIVATE KEY BLOCK-----"):
		k.head, k.body = "", true
	case !isUpper(b) && b != ' ' && b != '-', len(k.head) > longest:
		*s = shape{}
	}
}

func (s *shape) readBody(b byte) {
	k := &s.block
	switch {
	case isAlnum(b) || b == '+' || b == '/' || b == '=':
		if k.run++; k.run >= keyLine {
			s.decided = true
		}
		if k.dashes == 5 {
			k.ending = true // END, and its name
		}
		k.dashes = 0
	case b == '-':
		k.dashes++
		k.run = 0
	default:
		k.run = 0
		if k.dashes != 5 {
			k.dashes = 0
		}
	}
}
