package suite

import (
	"regexp"
	"strings"
)

var (
	tapSum   = regexp.MustCompile(`^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) +(\d+)$`)
	tapPoint = regexp.MustCompile(`^( *)(not ok|ok)(?: \d+)?(?: - | |$)([^\t]*)$`)
	tapPlan  = regexp.MustCompile(`^1\.\.\d+`)
	specHead = regexp.MustCompile(`^✖ (.+?)(?: \([\d.]+ms\))?$`)
)

// tap reads TAP, and what the runner of Node prints in its place: their sums where there are any, else each point of
// the outermost list.
func tap(lines []string) Count {
	var sums, points Count
	summed, planned := false, false
	failing := false
	for i, line := range lines {
		switch m := tapSum.FindStringSubmatch(line); {
		case m == nil:
		case m[1] == "tests":
			summed = true
		case m[1] == "pass":
			sums.Passed += number(m[2])
		case m[1] == "fail", m[1] == "cancelled":
			sums.Failed += number(m[2])
		default:
			sums.Skipped += number(m[2])
		}
		planned = planned || tapPlan.MatchString(line) || strings.HasPrefix(line, "TAP version ")
		failing = failing || line == "✖ failing tests:"
		if m := specHead.FindStringSubmatch(line); m != nil && failing && line != "✖ failing tests:" {
			sums.failure(m[1], block(lines, i+1, func(l string) bool { return strings.HasPrefix(l, "test at ") || specHead.MatchString(l) }))
		}
		if m := tapPoint.FindStringSubmatch(line); m != nil {
			points.point(lines, i, m)
		}
	}
	switch {
	case summed:
		sums.Failures = append(sums.Failures, points.Failures...)
		return sums
	case planned:
		return points
	}
	return Count{}
}

// point takes one line of TAP. One that failed by those below it says nothing of itself.
func (c *Count) point(lines []string, i int, m []string) {
	indent, failed, name := m[1], m[2] == "not ok", m[3]
	upper := strings.ToUpper(name)
	skipped := strings.Contains(upper, "# SKIP") || strings.Contains(upper, "# TODO")
	if failed && !skipped {
		text := block(lines, i+1, func(l string) bool {
			return tapPoint.MatchString(l) || l == indent+"  ..." || tapSum.MatchString(l) || strings.HasPrefix(strings.TrimSpace(l), "# Subtest")
		})
		if !strings.Contains(text, "failureType: 'subtestsFailed'") {
			c.failure(name, strings.TrimPrefix(text, indent+"  ---\n"))
		}
	}
	switch {
	case indent != "":
	case skipped:
		c.Skipped++
	case failed:
		c.Failed++
	default:
		c.Passed++
	}
}
