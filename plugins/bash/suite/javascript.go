package suite

import "strings"

var (
	jestEnd    = formOf("T", `^Tests: +((?:\d+ [a-z]+, )*)\d+ total`)
	jestSuites = formOf("T", `^Test Suites: +((?:\d+ [a-z]+, )*)`)
	jestHead   = formOf("●", `^  ● (.+)$`)
)

// jest reads the summary of Jest. A file that could not be loaded is one that failed.
func jest() reader {
	var c Count
	files := 0
	return reader{[]rule{
		{jestHead, func(m []string, l line) {
			c.failureUntil(m[1], l.rest, func(l line) bool {
				return jestHead.is(l) || jestSuites.is(l) || strings.HasPrefix(l.text, "PASS ") || strings.HasPrefix(l.text, "FAIL ")
			})
		}},
		{jestSuites, func(m []string, _ line) { files = counted(m[1], countedWord)["failed"] }},
		{jestEnd, func(m []string, _ line) { c, files = c.ended(counted(m[1], countedWord), files), 0 }},
	}, func() Count { return c.told() }}
}

var (
	vitestEnd   = formOf("T", `^ +Tests  (.*)\(\d+\)$|^ +Tests  (no tests)$`)
	vitestFiles = formOf("T", `^ +Test Files  (.*)\(\d+\)$`)
	vitestHead  = formOf("F", `^ FAIL  (.+)$`)
)

// vitest reads the summary of Vitest.
func vitest() reader {
	var c Count
	files := 0
	return reader{[]rule{
		{vitestHead, func(m []string, l line) {
			c.failureUntil(m[1], l.rest, func(l line) bool { return vitestHead.is(l) || strings.HasPrefix(l.text, "⎯⎯⎯") })
		}},
		{vitestFiles, func(m []string, _ line) { files = counted(m[1], countedWord)["failed"] }},
		{vitestEnd, func(m []string, _ line) { c, files = c.ended(counted(m[1], countedWord), files), 0 }},
	}, func() Count { return c.told() }}
}

var (
	mochaEnd  = formOf(digits, `^ +(\d+) (passing|failing|pending)(?: \(.*\))?$`)
	mochaHead = formOf(digits, `^  (\d+)\) (.+)$`)
)

// mocha reads the summary of Mocha, behind which it tells the failures.
func mocha() reader {
	var c Count
	telling := false
	return reader{[]rule{
		{mochaEnd, func(m []string, _ line) {
			switch n := number(m[1]); m[2] {
			case "passing":
				c.Passed += n
			case "failing":
				c.Failed += n
				telling = true
			default:
				c.Skipped += n
			}
		}},
		{mochaHead, func(m []string, l line) {
			if !telling {
				return
			}
			name, rest := m[2], l.rest
			for next := range lines(rest) { // a long name
				if strings.HasSuffix(name, ":") || !strings.HasPrefix(next.text, "       ") || len(name) >= mostName {
					break
				}
				name, rest = name+" "+strings.TrimSpace(next.text), next.rest
			}
			c.failureUntil(strings.TrimSuffix(name, ":"), rest, mochaHead.is)
		}},
	}, func() Count { return c.told() }}
}

var (
	avaEnd  = formOf(digits, `^  (\d+) (tests?|known failures?|uncaught exceptions?)(?: (passed|failed|skipped|todo))?$`)
	avaHead = formOf("✘", `^  ✘ \[fail\]: (.+)$`)
)

// ava reads the summary of AVA.
func ava() reader {
	var c Count
	return reader{[]rule{
		{avaHead, func(m []string, _ line) { c.failure(m[1], "") }},
		{avaEnd, func(m []string, _ line) {
			switch n := number(m[1]); {
			case m[3] == "passed":
				c.Passed += n
			case m[3] == "failed", strings.HasPrefix(m[2], "uncaught"):
				c.Failed += n
			default:
				c.Skipped += n
			}
		}},
	}, func() Count { return c.told() }}
}
