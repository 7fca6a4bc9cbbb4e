package suite

import "strings"

var (
	tapSum     = formOf("#ℹ", `^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) +(\d+)$`)
	tapPoint   = formOf("no", `^( *)(not ok|ok)(?: \d+)?(?: - | |$)([^\t]*)$`)
	tapBegin   = formOf("1T", `^1\.\.\d+|^TAP version `)
	specHead   = formOf("✖", `^✖ (.+?)(?: \([\d.]+ms\))?$`)
	specFailed = "✖ failing tests:"
)

// tap reads TAP, and what the runner of Node prints in its place: their sums where there are any, else each point of
// the outermost list.
func tap() reader {
	var sums, points Count
	summed, planned := false, false
	failing := false
	return reader{[]rule{
		{tapSum, func(m []string, _ line) {
			switch m[1] {
			case "tests":
				summed = true
			case "pass":
				sums.Passed += number(m[2])
			case "fail", "cancelled":
				sums.Failed += number(m[2])
			default:
				sums.Skipped += number(m[2])
			}
		}},
		{tapBegin, func([]string, line) { planned = true }},
		{specHead, func(m []string, l line) {
			if l.text == specFailed {
				failing = true
			} else if failing {
				sums.failureUntil(m[1], l.rest, func(l line) bool { return strings.HasPrefix(l.text, "test at ") || specHead.is(l) })
			}
		}},
		{tapPoint, func(m []string, l line) { points.point(m, l) }},
	}, func() Count {
		switch {
		case summed:
			sums.Failures = append(sums.Failures, points.Failures...)
			return sums
		case planned:
			return points
		}
		return Count{}
	}}
}

// point takes one line of TAP. One that failed by those below it says nothing of itself.
func (c *Count) point(m []string, l line) {
	indent, failed, name := m[1], m[2] == "not ok", m[3]
	upper := strings.ToUpper(name)
	skipped := strings.Contains(upper, "# SKIP") || strings.Contains(upper, "# TODO")
	if failed && !skipped && !c.full() {
		text := block(l.rest, func(l line) bool {
			return tapPoint.is(l) || l.text == indent+"  ..." || tapSum.is(l) || strings.HasPrefix(strings.TrimSpace(l.text), "# Subtest")
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
