// Package suite knows the tests of a project: which there are, by which command they run, and what the output of that
// says of them. It runs nothing.
package suite

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The frameworks, as a call may name them.
const (
	Go       = "go"
	Cargo    = "cargo"
	Pytest   = "pytest"
	Unittest = "unittest"
	NPM      = "npm"
	Make     = "make"
	// Configured is the command of a project block, whatever it runs.
	Configured = "configured"
)

// Frameworks are those that a call may name, in the order in which they are told.
func Frameworks() []string { return []string{Go, Cargo, Pytest, Unittest, NPM, Make} }

// What a Count holds of failures, so that a result stays one that a model reads.
const (
	mostFailures = 20
	mostText     = 4 << 10
	mostTail     = 4 << 10
	mostName     = 200
)

// Count is what was read of tests. Its zero value is that none was seen.
type Count struct {
	Passed, Failed, Skipped int
	Failures                []sdk.TestFailure // the first of them
	// Text is the output as a person reads it, where the command prints another form; empty is the output itself.
	Text string
}

// None reports whether no test was seen.
func (c Count) None() bool { return c.Passed+c.Failed+c.Skipped == 0 }

// plus is what two commands of one output came to together.
func (c Count) plus(other Count) Count {
	c.Passed, c.Failed, c.Skipped = c.Passed+other.Passed, c.Failed+other.Failed, c.Skipped+other.Skipped
	for _, f := range other.Failures {
		c.failure(f.Name, f.Text)
	}
	return c
}

// full reports whether the count tells as many failures as it may.
func (c *Count) full() bool { return len(c.Failures) >= mostFailures }

// failure adds a text to those of the failures; it counts none.
func (c *Count) failure(name, text string) {
	if !c.full() {
		c.Failures = append(c.Failures, sdk.TestFailure{Name: sdk.Head(strings.TrimSpace(name), mostName), Text: shortened(strings.Trim(text, "\n"))})
	}
}

// failureUntil adds the lines of a text to those of the failures, up to the first for which ends holds.
func (c *Count) failureUntil(name, text string, ends func(line) bool) {
	if !c.full() {
		c.failure(name, block(text, ends))
	}
}

// ended adds the sums of a run of tests by their words; of files that failed without a test that did, one each.
func (c Count) ended(by map[string]int, files int) Count {
	failed := by["failed"]
	if failed == 0 {
		failed = files
	}
	c.Passed, c.Failed, c.Skipped = c.Passed+by["passed"], c.Failed+failed, c.Skipped+by["skipped"]+by["todo"]+by["pending"]
	return c
}

// told is a count without texts of failures where none failed: what looked like one was something else.
func (c Count) told() Count {
	if c.Failed == 0 {
		c.Failures = nil
	}
	return c
}

// shortened is a text without its middle, where it is long.
func shortened(text string) string {
	if len(text) <= mostText {
		return text
	}
	head, tail := sdk.Head(text, mostText/2), sdk.Tail(text, mostText/2)
	return fmt.Sprintf("%s\n[... %d bytes are left out here ...]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// readers are those of each framework. What npm, make and a configured command run is not known, so all of them read it.
var readers = map[string][]func() reader{
	Go: {goEvents, goText}, Cargo: {cargo}, Pytest: {pytest}, Unittest: {unittest},
}

// everybody reads an output of whatever it is.
var everybody = []func() reader{goEvents, goText, cargo, pytest, unittest, tap, jest, vitest, mocha, ava}

// Read counts the tests of an output. It reads any text: what it does not know counts nothing.
func Read(framework, output string) Count {
	begin, known := readers[framework]
	if !known {
		begin = everybody
	}
	var all []reader
	for _, one := range begin {
		all = append(all, one())
	}
	follow(plain(output), all)
	var c Count
	for _, r := range all {
		one := r.count()
		if c = c.plus(one); one.Text != "" {
			c.Text = one.Text
		}
	}
	return c
}

// Tail is the end of what was printed, for whoever reads why no more is known.
func (c Count) Tail(output string) string {
	if c.Text != "" {
		output = c.Text
	}
	return sdk.Tail(strings.TrimSpace(plain(output)), mostTail)
}

// plain is an output without colours, and with line ends of one form.
func plain(output string) string {
	if strings.Contains(output, escape) {
		var b strings.Builder
		b.Grow(len(output))
		for found := true; found; {
			var text string
			text, output, found = strings.Cut(output, escape)
			b.WriteString(text)
			if after := afterControl(output); found && after < 0 {
				b.WriteString(escape)
			} else if found {
				output = output[after:]
			}
		}
		output = b.String()
	}
	return strings.ReplaceAll(output, "\r\n", "\n")
}

// escape begins the sequences by which a program colours what it prints.
const escape = "\x1b["

// afterControl is where the text goes on behind such a sequence, whose escape is cut off; -1 is that it is none.
func afterControl(text string) int {
	rest := strings.TrimLeft(text, "0123456789;?")
	rest = strings.TrimLeft(rest, " !\"#$%&'()*+,-./")
	if rest == "" || rest[0] < '@' || rest[0] > '~' {
		return -1
	}
	return len(text) - len(rest) + 1
}

// number reads digits that an expression has found; what is beyond any count of tests is that many.
func number(digits string) int {
	n := 0
	for _, d := range []byte(digits) {
		if n = n*10 + int(d-'0'); n > 1e9 {
			return 1e9
		}
	}
	return n
}

// counted is "1 failed, 2 passed" and its like, by word.
func counted(text string, found *regexp.Regexp) map[string]int {
	by := map[string]int{}
	for _, m := range found.FindAllStringSubmatch(text, -1) {
		by[m[2]] += number(m[1])
	}
	return by
}

// countedWord is a number before a word.
var countedWord = regexp.MustCompile(`(\d+) ([a-z]+)`)
