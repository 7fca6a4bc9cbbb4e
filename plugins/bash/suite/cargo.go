package suite

var (
	cargoEnd  = formOf("t", `^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoHead = formOf("-", `^---- (.+) stdout ----$`)
)

// cargo reads the summaries of `cargo test`, one for each binary with tests.
func cargo() reader {
	var c Count
	return reader{[]rule{
		{cargoHead, func(m []string, l line) {
			c.failureUntil(m[1], l.rest, func(l line) bool {
				return l.text == "failures:" || l.text == "stack backtrace:" || cargoHead.is(l)
			})
		}},
		{cargoEnd, func(m []string, _ line) {
			c.Passed, c.Failed, c.Skipped = c.Passed+number(m[1]), c.Failed+number(m[2]), c.Skipped+number(m[3])
		}},
	}, func() Count { return c }}
}
