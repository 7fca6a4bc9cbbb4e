package builtin

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// The places in a skill's text that are filled in, as skills for other agents
// have them.
const (
	allArguments = "$ARGUMENTS"
	claudeDir    = "${CLAUDE_SKILL_DIR}"
	baseDir      = "{baseDir}"
)

// maxGrowth is how many bytes filling in may add to a text and its input.
const maxGrowth = 1 << 20

// fill puts the input and the folder where the text asks for them, in one pass:
// what is filled in is never looked at again, so an input that holds a
// placeholder stays as it is. $ARGUMENTS is the whole input, $ARGUMENTS[N] its
// N-th word, counted from 0; $N is the same where there is such a word, outside
// of code, in which $1 means something else. A shell substitution (!`command`)
// is text. The second result says whether any of the input was put in. A text
// that asks for so much of it that it grows beyond measure is refused.
func fill(text, input, folder string) (string, bool, error) {
	most := len(text) + len(input) + maxGrowth
	words := split(input)
	placed := false
	var b strings.Builder
	code := coder{start: true}
	for len(text) > 0 {
		took, with, isInput := place(text, input, words, folder, code.inside())
		if took > 0 {
			b.WriteString(with)
			placed = placed || isInput
			code.pass(text[:took])
			text = text[took:]
			if b.Len() > most {
				return "", false, sdk.Errorf(sdk.Validation, "the text of the skill asks for its input so often that it comes to more than %d bytes; use a shorter input", most)
			}
			continue
		}
		next := 1 + strings.IndexAny(text[1:], "${`~\n")
		if next == 0 {
			next = len(text)
		}
		if run := ticks(text); run > 0 {
			next = run
		}
		b.WriteString(text[:next])
		code.pass(text[:next])
		text = text[next:]
	}
	return b.String(), placed, nil
}

// place reads a placeholder at the start of text: its length, 0 for none, and
// what takes its place.
func place(text, input string, words []string, folder string, inCode bool) (took int, with string, isInput bool) {
	switch {
	case strings.HasPrefix(text, claudeDir) && folder != "":
		return len(claudeDir), folder, false
	case strings.HasPrefix(text, baseDir) && folder != "":
		return len(baseDir), folder, false
	case strings.HasPrefix(text, allArguments):
		rest := text[len(allArguments):]
		if n, size, ok := index(rest); ok {
			return len(allArguments) + size, word(words, n), true
		}
		if follows(rest) {
			return 0, "", false // $ARGUMENTS_FILE is another name
		}
		return len(allArguments), input, true
	case strings.HasPrefix(text, "$") && !inCode:
		digits := digits(text[1:])
		if n, err := strconv.Atoi(digits); err == nil && n < len(words) && !follows(text[1+len(digits):]) {
			return 1 + len(digits), words[n], true
		}
	}
	return 0, "", false
}

// index reads "[N]".
func index(text string) (n, size int, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return 0, 0, false
	}
	d := digits(text[1:])
	n, err := strconv.Atoi(d)
	if err != nil || !strings.HasPrefix(text[1+len(d):], "]") {
		return 0, 0, false
	}
	return n, len(d) + 2, true
}

func digits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}

// follows reports whether a name goes on.
func follows(text string) bool {
	return text != "" && (text[0] == '_' || text[0] >= '0' && text[0] <= '9' || text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
}

func word(words []string, n int) string {
	if n >= len(words) {
		return ""
	}
	return words[n]
}

// split takes an input apart into words as a shell does: quotes keep spaces
// together. A quote that is not closed is a character.
func split(input string) []string {
	var words []string
	var b strings.Builder
	begun := false
	for i := 0; i < len(input); i++ {
		c := input[i]
		if c == '"' || c == '\'' {
			if end := strings.IndexByte(input[i+1:], c); end >= 0 {
				b.WriteString(input[i+1 : i+1+end])
				begun = true
				i += end + 1
				continue
			}
		}
		if unicode.IsSpace(rune(c)) && c < 0x80 {
			if begun {
				words = append(words, b.String())
				b.Reset()
				begun = false
			}
			continue
		}
		b.WriteByte(c)
		begun = true
	}
	if begun {
		words = append(words, b.String())
	}
	return words
}

// coder knows whether a pass over Markdown is inside code: a fenced block, or a
// span between runs of backquotes of one length.
type coder struct {
	start bool   // at the start of a line, blanks passed
	fence string // that the block began with
	span  int    // the length of the run that the span began with
}

func (c *coder) inside() bool { return c.fence != "" || c.span > 0 }

// ticks is the length of the run of fence characters that text begins with.
func ticks(text string) int {
	if text[0] != '`' && text[0] != '~' {
		return 0
	}
	return len(text) - len(strings.TrimLeft(text, text[:1]))
}

// pass takes note of a piece of text: a run of fence characters, or text that
// begins with none and has a line's end only as its first character.
func (c *coder) pass(text string) {
	if run := ticks(text); run > 0 {
		switch {
		case c.start && c.fence != "" && text[0] == c.fence[0] && run >= len(c.fence):
			c.fence = ""
		case c.fence != "":
		case c.start && run >= 3:
			c.fence, c.span = text[:run], 0
		case text[0] == '`' && c.span == run:
			c.span = 0
		case text[0] == '`' && c.span == 0:
			c.span = run
		}
		c.start = false
		return
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		if strings.TrimSpace(text) == "" && c.start {
			c.span = 0 // a blank line ends the paragraph, and a span with it
		}
		c.start = strings.TrimSpace(text[i:]) == ""
		return
	}
	c.start = c.start && strings.TrimSpace(text) == ""
}
