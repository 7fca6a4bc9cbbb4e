package suite

import "regexp"

var (
	cargoEnd  = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoHead = regexp.MustCompile(`^---- (.+) stdout ----$`)
)

// cargo reads the summaries of `cargo test`, one for each binary with tests.
func cargo(lines []string) Count {
	var c Count
	for i, line := range lines {
		if m := cargoHead.FindStringSubmatch(line); m != nil {
			c.failure(m[1], block(lines, i+1, func(l string) bool {
				return l == "failures:" || l == "stack backtrace:" || cargoHead.MatchString(l)
			}))
		}
		if m := cargoEnd.FindStringSubmatch(line); m != nil {
			c.Passed, c.Failed, c.Skipped = c.Passed+number(m[1]), c.Failed+number(m[2]), c.Skipped+number(m[3])
		}
	}
	return c
}
