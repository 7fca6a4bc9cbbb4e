package shell

import (
	"regexp"
	"slices"
	"strings"
)

// echo prints its words, whatever they are: an option that a pattern expands to
// changes how.
func echo(c call) finding {
	var worst finding
	for i, word := range c.argv[1:] {
		if c.glob(i + 1) {
			worst = worse(worst, c.expands(word, true, true))
		}
	}
	return worst
}

// storing is a conversion that makes printf set a variable, whose name may be a
// subscript that is evaluated.
var storing = regexp.MustCompile(`%[-+ 0#'*.0-9]*[hlLjztq]*n`)

func printf(c call) finding {
	words, globs := c.argv[1:], 1
	if len(words) > 0 && words[0] == "--" {
		words, globs = words[1:], 2
	}
	for i, word := range words {
		switch {
		case c.glob(i + globs):
			return c.globbed(word)
		case i == 0 && globs == 1 && strings.HasPrefix(word, "-v"), i == 0 && storing.MatchString(strings.ReplaceAll(word, "%%", "")):
			return finding{Unsafe, "shell.option", says("printf sets a variable here, and its name can run commands; only print")}
		case i == 0 && globs == 1 && len(word) > 1 && word[0] == '-':
			return c.unproven("shell.option", "%q is not an option of printf; write -- before a format that begins with a dash", word)
		}
	}
	return finding{}
}

// The operators of test: of one file, of two files, and of two numbers, which
// are evaluated unless they are plain.
var (
	ofFile    = "-a -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x"
	ofFiles   = "-nt -ot -ef"
	ofNumbers = "-eq -ne -lt -le -gt -ge"
	ofText    = "-n -z -o -t = == != < > ! ( )"
)

// test is also "[".
func test(c call) finding {
	words := c.argv[1:]
	if c.argv[0] == "[" {
		if len(words) == 0 || words[len(words)-1] != "]" {
			return c.unproven("shell.option", "[ has no ] at its end; write [ ... ] with blanks around both")
		}
		words = words[:len(words)-1]
	}
	var worst finding
	for i, word := range words {
		if f := testWord(c, words, i, word); f.grade > worst.grade {
			worst = f
		}
	}
	return worst
}

func testWord(c call, words []string, i int, word string) finding {
	before, after := neighbour(words, i-1), neighbour(words, i+1)
	is := func(operators string) bool { return slices.Contains(strings.Fields(operators), word) }
	switch {
	case c.glob(i + 1):
		return c.globbed(word)
	case is(ofFile) && after != "":
		return c.reads(after, true)
	case is(ofFiles):
		return worse(c.reads(before, true), c.reads(after, true))
	case is(ofNumbers) && !(isNumber(before) && isNumber(after)):
		return c.unproven("shell.option", "%s compares what is not a plain number, which may be evaluated; write the numbers out", c.argv[0])
	case is(ofNumbers), is(ofFile), is(ofText):
		return finding{}
	case word == "-v", word == "-R":
		return finding{Unsafe, "shell.option", says("the operator %q of %s evaluates a variable's name, which can run commands; compare text instead", word, c.argv[0])}
	}
	return finding{}
}

func neighbour(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

func isNumber(text string) bool { return isDigits(strings.TrimPrefix(text, "-")) }
