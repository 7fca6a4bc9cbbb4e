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

// failure adds a text to those of the failures; it counts none.
func (c *Count) failure(name, text string) {
	if len(c.Failures) < mostFailures {
		c.Failures = append(c.Failures, sdk.TestFailure{Name: sdk.Head(strings.TrimSpace(name), mostName), Text: shortened(strings.Trim(text, "\n"))})
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

// reader counts what one framework prints, and nothing that another does.
type reader func(lines []string) Count

// readers are those of each framework. What npm, make and a configured command run is not known, so all of them read it.
var readers = map[string][]reader{
	Go: {goEvents, goText}, Cargo: {cargo}, Pytest: {pytest}, Unittest: {unittest},
}

// everybody reads an output of whatever it is.
var everybody = []reader{goEvents, goText, cargo, pytest, unittest, tap, jest, vitest, mocha, ava}

// Read counts the tests of an output. It reads any text: what it does not know counts nothing.
func Read(framework, output string) Count {
	lines := strings.Split(plain(output), "\n")
	all, known := readers[framework]
	if !known {
		all = everybody
	}
	var c Count
	for _, read := range all {
		one := read(lines)
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

// controls are the sequences by which a program colours what it prints.
var controls = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)

// plain is an output without colours, and with line ends of one form.
func plain(output string) string {
	if strings.Contains(output, "\x1b[") {
		output = controls.ReplaceAllString(output, "")
	}
	return strings.ReplaceAll(output, "\r\n", "\n")
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

// block are the lines from one on, up to the first for which ends holds, as a text.
func block(lines []string, from int, ends func(line string) bool) string {
	to := from
	for size := 0; to < len(lines) && !ends(lines[to]) && size <= 4*mostText; to++ {
		size += len(lines[to]) + 1
	}
	return strings.Join(lines[from:to], "\n")
}
