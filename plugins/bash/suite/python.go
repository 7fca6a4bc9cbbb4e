package suite

import (
	"regexp"
	"strings"
)

var (
	pytestEnd   = formOf("="+digits, `^=* ?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)(?:, )?)+) in [\d.]+s`)
	pytestRule  = formOf("=", `^=+ (FAILURES|ERRORS) =+$|^===`)
	pytestHead  = formOf("_", `^_{3,} (.+?) _{3,}$`)
	pytestShort = formOf("FE", `^(?:FAILED|ERROR) (\S+)(?: - (.*))?$`)
)

// pytest reads the summary of pytest, of which every verbosity has one.
func pytest() reader {
	var c, short Count
	inside := false // a section of failures
	return reader{[]rule{
		{pytestRule, func(m []string, _ line) { inside = m[1] != "" }},
		{pytestHead, func(m []string, l line) {
			if inside {
				c.failureUntil(m[1], l.rest, func(l line) bool { return pytestHead.is(l) || strings.HasPrefix(l.text, "===") })
			}
		}},
		{pytestShort, func(m []string, _ line) { short.failure(m[1], m[2]) }},
		{pytestEnd, func(m []string, _ line) {
			by := counted(m[1], countedWord)
			c.Passed += by["passed"] + by["xpassed"]
			c.Failed += by["failed"] + by["error"] + by["errors"]
			c.Skipped += by["skipped"] + by["xfailed"]
		}},
	}, func() Count {
		if len(c.Failures) == 0 {
			c.Failures = short.Failures
		}
		return c.told()
	}}
}

var (
	unittestRan  = formOf("R", `^Ran (\d+) tests? in [\d.]+s`)
	unittestEnd  = formOf("OFN", `^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$`)
	unittestHead = formOf("FE", `^(?:FAIL|ERROR): (\S+(?: \(\S*\))?)`)
	unittestWord = regexp.MustCompile(`((?:expected |unexpected )?[a-z]+)=(\d+)`)
)

// unittest reads the summary of unittest, and of what is built upon it. A test that failed in several subtests is one.
func unittest() reader {
	var c Count
	ran := -1
	failed := map[string]bool{}
	return reader{[]rule{
		{unittestHead, func(m []string, l line) {
			if !strings.HasPrefix(l.before, "=====") {
				return
			}
			failed[m[1]] = true
			_, text, _ := strings.Cut(l.rest, "\n") // below the first rule
			rule := 0
			c.failureUntil(l.text[strings.IndexByte(l.text, ':')+1:], text, func(l line) bool {
				rule++
				return strings.HasPrefix(l.text, "=====") || strings.HasPrefix(l.text, "-----") && rule > 1
			})
		}},
		{unittestRan, func(m []string, _ line) { ran = number(m[1]) }},
		{unittestEnd, func(m []string, _ line) {
			if ran < 0 {
				return
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
		}},
	}, func() Count { return c }}
}
