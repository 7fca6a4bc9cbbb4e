package suite

import (
	"regexp"
	"strings"
)

var (
	pytestEnd     = regexp.MustCompile(`^=* ?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)(?:, )?)+) in [\d.]+s`)
	pytestSection = regexp.MustCompile(`^=+ (FAILURES|ERRORS) =+$`)
	pytestHead    = regexp.MustCompile(`^_{3,} (.+?) _{3,}$`)
	pytestShort   = regexp.MustCompile(`^(?:FAILED|ERROR) (\S+)(?: - (.*))?$`)
)

// pytest reads the summary of pytest, of which every verbosity has one.
func pytest(lines []string) Count {
	var c Count
	inside := false
	var short Count
	for i, line := range lines {
		switch {
		case pytestSection.MatchString(line):
			inside = true
		case strings.HasPrefix(line, "==="):
			inside = false
		}
		if m := pytestHead.FindStringSubmatch(line); m != nil && inside {
			c.failure(m[1], block(lines, i+1, func(l string) bool { return pytestHead.MatchString(l) || strings.HasPrefix(l, "===") }))
		}
		if m := pytestShort.FindStringSubmatch(line); m != nil {
			short.failure(m[1], m[2])
		}
		if m := pytestEnd.FindStringSubmatch(line); m != nil {
			by := counted(m[1], countedWord)
			c.Passed += by["passed"] + by["xpassed"]
			c.Failed += by["failed"] + by["error"] + by["errors"]
			c.Skipped += by["skipped"] + by["xfailed"]
		}
	}
	if len(c.Failures) == 0 {
		c.Failures = short.Failures
	}
	return c.told()
}

var (
	unittestRan  = regexp.MustCompile(`^Ran (\d+) tests? in [\d.]+s`)
	unittestEnd  = regexp.MustCompile(`^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$`)
	unittestHead = regexp.MustCompile(`^(?:FAIL|ERROR): (\S+(?: \(\S*\))?)`)
	unittestWord = regexp.MustCompile(`((?:expected |unexpected )?[a-z]+)=(\d+)`)
)

// unittest reads the summary of unittest, and of what is built upon it. A test that failed in several subtests is one.
func unittest(lines []string) Count {
	var c Count
	ran := -1
	failed := map[string]bool{}
	for i, line := range lines {
		if m := unittestHead.FindStringSubmatch(line); m != nil && i > 0 && strings.HasPrefix(lines[i-1], "=====") {
			failed[m[1]] = true
			rule := 0
			c.failure(strings.TrimSpace(line[strings.IndexByte(line, ':')+1:]), block(lines, i+2, func(l string) bool {
				rule++
				return strings.HasPrefix(l, "=====") || strings.HasPrefix(l, "-----") && rule > 1
			}))
			continue
		}
		if m := unittestRan.FindStringSubmatch(line); m != nil {
			ran = number(m[1])
			continue
		}
		m := unittestEnd.FindStringSubmatch(line)
		if m == nil || ran < 0 {
			continue
		}
		by := map[string]int{}
		for _, w := range unittestWord.FindAllStringSubmatch(m[2], -1) {
			by[w[1]] += number(w[2])
		}
		bad := by["failures"] + by["errors"]
		if len(failed) > 0 {
			bad = min(bad, len(failed))
		}
		bad += by["unexpected successes"]
		skipped := by["skipped"] + by["expected failures"]
		c.Failed, c.Skipped = c.Failed+bad, c.Skipped+skipped
		c.Passed += max(0, ran-bad-skipped)
		ran, failed = -1, map[string]bool{}
	}
	return c
}
