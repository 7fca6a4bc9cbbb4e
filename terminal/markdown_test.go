package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/client/show"
)

// texts are answers as models write them.
var texts = []string{
	"One paragraph.",
	"# Title\n\nA paragraph of **two**\nlines.\n\nAnother.\n",
	"Text:\n```go\nfunc main() {\n\n\tprintln(1)\n}\n```\nand `more`.",
	"- one\n- two\n\n  still two\n\n- three\n\nNo item.",
	"1. one\n2. two\n\n   ```sh\n   a\n\n   b\n   ```\n3. three\n\nEnd",
	"| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n> more\n\n---\n\n~~~\nx ``` y\n~~~\n\nEnd",
	"# A\n## B\ntext\n### C\n\ntext",
}

// TestBlocks: a text that is drawn block by block looks as it does when drawn whole, and
// no block ends earlier or elsewhere because less of the text was there.
func TestBlocks(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for _, text := range texts {
		var m markdown
		if whole, parts := blanks(m.block(text, 60, dark)), blanks(m.render(text, 60, dark)); whole != parts {
			t.Errorf("%q drawn whole:\n%s\nby blocks:\n%s", text, whole, parts)
		}
		end := blockEnd(text)
		for n := range text {
			if got := blockEnd(text[:n]); got != 0 && got != end {
				t.Errorf("%q ends at %d with %d bytes, and at %d with all", text, got, n, end)
			}
		}
	}
}

// blanks is a drawing without blanks at the ends of lines and without blank lines.
func blanks(drawn string) string {
	var lines []string
	for _, line := range strings.Split(drawn, "\n") {
		if line = strings.TrimRight(line, " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestBlockEnd(t *testing.T) {
	for text, want := range map[string]int{
		"":                                0,
		"a":                               0,
		"a\n":                             0,
		"a\n\n":                           3,
		"a\n```\n":                        2,
		"```\na\n":                        0,
		"```\na\n\n```":                   0,
		"```\na\n\n```\n":                 11,
		"````\n```\n````\nx":              14,
		"- a\n\n":                         0,
		"- a\n\n- b\n\nc\n":               10,
		"- a\n\n  ```\nx\n\n  ```\n\nc\n": 21,
		"\n\na\n\nb":                      5,
	} {
		if got := blockEnd(text); got != want {
			t.Errorf("%q ends at %d, want %d", text, got, want)
		}
	}
}

// TestMarkdownIsHarmless: no reference to a character becomes one that steers a terminal.
func TestMarkdownIsHarmless(t *testing.T) {
	var m markdown
	for _, text := range []string{
		"&#27;]0;title&#7;", "&#x1b;[8mhidden", "`&#27;[31m`", "&amp;#27;[8m", "&\\#27;[8m", "&#x9b;31m", "&#x202e;gnp", "&rlm;x", "&NewLine;x&Tab;y", "a&shy=b",
		"[x](https://e.com/&#27;]0;t&#7;)", "![a&#27;[8m](u)", "<https://e.com/&#27;[8m>", "<b title=\"&#27;\">&#27;[8mx</b>", "| a&#27;[8m |\n|---|\n| &#27;]0;t&#7; |",
		"- a\n  ```\n  &#27;[8m\n  ```", "    &#27;[8m", "```a`b\n&#27;[8m\n```", "# &#27;[8m", "\x1b]0;title\a", "\u202e\u009b31m",
	} {
		drawn := styled.ReplaceAllString(m.render(text, 60, dark), "")
		if i := strings.IndexFunc(drawn, func(r rune) bool { return r != '\n' && show.Line(string(r)) != string(r) }); i >= 0 {
			t.Errorf("%q is drawn as %q", text, drawn)
		}
		if strings.Contains(text, "8m") && !strings.Contains(drawn, "8m") {
			t.Errorf("%q became a style: %q", text, drawn)
		}
	}
	if drawn := m.render("https://e.com/?a=1&b=2", 60, dark); !strings.Contains(drawn, ";https://e.com/?a=1&b=2\a") {
		t.Errorf("an address is cut: %q", drawn)
	}
}

// styled are the sequences that a drawing of Markdown has: styles and links.
var styled = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;[^\x07\x1b]*\x07")
