package suite

import (
	"regexp"
	"strings"
)

var (
	jestEnd    = regexp.MustCompile(`^Tests: +((?:\d+ [a-z]+, )*)\d+ total`)
	jestSuites = regexp.MustCompile(`^Test Suites: +((?:\d+ [a-z]+, )*)`)
	jestHead   = regexp.MustCompile(`^  ● (.+)$`)
)

// jest reads the summary of Jest. A file that could not be loaded is one that failed.
func jest(lines []string) Count {
	var c Count
	files := 0
	for i, line := range lines {
		if m := jestHead.FindStringSubmatch(line); m != nil {
			c.failure(m[1], block(lines, i+1, func(l string) bool {
				return jestHead.MatchString(l) || jestSuites.MatchString(l) || strings.HasPrefix(l, "PASS ") || strings.HasPrefix(l, "FAIL ")
			}))
		}
		if m := jestSuites.FindStringSubmatch(line); m != nil {
			files = counted(m[1], countedWord)["failed"]
		}
		if m := jestEnd.FindStringSubmatch(line); m != nil {
			c = c.ended(counted(m[1], countedWord), files)
			files = 0
		}
	}
	return c.told()
}

var (
	vitestEnd   = regexp.MustCompile(`^ +Tests  (.*)\(\d+\)$|^ +Tests  (no tests)$`)
	vitestFiles = regexp.MustCompile(`^ +Test Files  (.*)\(\d+\)$`)
	vitestHead  = regexp.MustCompile(`^ FAIL  (.+)$`)
)

// vitest reads the summary of Vitest.
func vitest(lines []string) Count {
	var c Count
	files := 0
	for i, line := range lines {
		if m := vitestHead.FindStringSubmatch(line); m != nil {
			c.failure(m[1], block(lines, i+1, func(l string) bool { return vitestHead.MatchString(l) || strings.HasPrefix(l, "⎯⎯⎯") }))
		}
		if m := vitestFiles.FindStringSubmatch(line); m != nil {
			files = counted(m[1], countedWord)["failed"]
		}
		if m := vitestEnd.FindStringSubmatch(line); m != nil {
			c = c.ended(counted(m[1], countedWord), files)
			files = 0
		}
	}
	return c.told()
}

var (
	mochaEnd  = regexp.MustCompile(`^ +(\d+) (passing|failing|pending)(?: \(.*\))?$`)
	mochaHead = regexp.MustCompile(`^  (\d+)\) (.+)$`)
)

// mocha reads the summary of Mocha, behind which it tells the failures.
func mocha(lines []string) Count {
	var c Count
	telling := false
	for i, line := range lines {
		if m := mochaEnd.FindStringSubmatch(line); m != nil {
			switch n := number(m[1]); m[2] {
			case "passing":
				c.Passed += n
			case "failing":
				c.Failed += n
				telling = true
			default:
				c.Skipped += n
			}
		}
		if m := mochaHead.FindStringSubmatch(line); m != nil && telling {
			name := m[2]
			for i+1 < len(lines) && !strings.HasSuffix(name, ":") && strings.HasPrefix(lines[i+1], "       ") && len(name) < mostName {
				i++
				name += " " + strings.TrimSpace(lines[i])
			}
			c.failure(strings.TrimSuffix(name, ":"), block(lines, i+1, mochaHead.MatchString))
		}
	}
	return c.told()
}

var (
	avaEnd  = regexp.MustCompile(`^  (\d+) (tests?|known failures?|uncaught exceptions?)(?: (passed|failed|skipped|todo))?$`)
	avaHead = regexp.MustCompile(`^  ✘ \[fail\]: (.+)$`)
)

// ava reads the summary of AVA.
func ava(lines []string) Count {
	var c Count
	for _, line := range lines {
		if m := avaHead.FindStringSubmatch(line); m != nil {
			c.failure(m[1], "")
		}
		m := avaEnd.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch n := number(m[1]); {
		case m[3] == "passed":
			c.Passed += n
		case m[3] == "failed", strings.HasPrefix(m[2], "uncaught"):
			c.Failed += n
		default:
			c.Skipped += n
		}
	}
	return c.told()
}
