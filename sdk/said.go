package sdk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the daemon adds to the attributes of a prompt:// entry which a plugin reads.
const (
	// AttributeSaid is how many bytes at the beginning of its body a person said. What follows was given along, such as a text
	// that was piped in; where it is 0 no person gave the prompt in this run, but a plugin, an agent or a plan.
	AttributeSaid = "said"
	// AttributeAgent is the agent that it was for: a run has prompts for any. Empty where it was given in another run.
	AttributeAgent = "agent"
)

// StandsIn reports whether a text stands in what somebody said, whatever white space is between its words. Nothing stands
// nowhere, and no part of a word does ("agree" in "disagree"), as far as a script has white space between words.
func StandsIn(said, text string) bool {
	said, text = strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(text), " ")
	if text == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(said[from:], text)
		if at < 0 {
			return false
		}
		at += from
		if !inWord(said, at) && !inWord(said, at+len(text)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(said[at:])
		from = at + size
	}
}

// inWord reports whether a place of a text is within a word.
func inWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	behind, _ := utf8.DecodeRuneInString(text[at:])
	return ofWord(before) && ofWord(behind)
}

func ofWord(r rune) bool {
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Mark, unicode.Nd)
}
