package edit

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestLinear holds that what is read of a text grows as the text does, also where nearly
// everything is a marker or a word of one.
func TestLinear(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"prose":                func(n int) string { return strings.Repeat("The NEW house. ", n) },
		"openers of one kind":  func(n int) string { return strings.Repeat("<<NEW ", n) },
		"openers, none closed": func(n int) string { return "x " + strings.Repeat("<<A <<AB <<ABC ", n) },
		"openers, all glued":   func(n int) string { return strings.Repeat("<<NEW", n) },
		"a long word":          func(n int) string { return "<<" + strings.Repeat("A", 5*n) + " x" },
		"words of one region":  func(n int) string { return "<<NEW " + strings.Repeat("NEW ", n) + ". NEW" },
		"lines of words":       func(n int) string { return "<<NEW1 " + strings.Repeat("NEW1\n", n) },
		"words and blanks":     func(n int) string { return "<<NEW " + strings.Repeat("NEW     \t", n) },
		"a word, then blanks":  func(n int) string { return "<<NEW NEW" + strings.Repeat(" \n", 5*n) + "x" },
		"regions":              func(n int) string { return strings.Repeat("<<APPEND a APPEND ", n) },
		"regions of many":      func(n int) string { return strings.Repeat("<<NEW1 a NEW1 <<NEW2 b NEW2\n", n) },
		"the packet's form":    func(n int) string { return strings.Repeat("<<:::a\n:::a ", n) },
		"angles":               func(n int) string { return strings.Repeat("<", 10*n) },
		"blanks before a word": func(n int) string { return strings.Repeat(" ", 10*n) + "<<A " + strings.Repeat("<<B ", n) },
	} {
		t.Run(name, func(t *testing.T) {
			const n, times = 300, 16
			steps := func(n int) int {
				s := newSplitter(text(n))
				if err := s.split(); err != nil && sdk.OutcomeOf(err) != sdk.Validation && sdk.OutcomeOf(err) != sdk.Overflow {
					t.Fatal(err)
				}
				return s.steps
			}
			small, large := steps(n), steps(times*n)
			if large > (times+1)*small || small > 20*len(text(n)) {
				t.Errorf("%d bytes take %d steps, %d take %d", len(text(n)), small, len(text(times*n)), large)
			}
		})
	}
}

// TestBounded holds that many operations on a long text end at a bound, and change nothing.
func TestBounded(t *testing.T) {
	body := strings.Repeat("x", mostRead/8) + "0123456789"
	var text strings.Builder
	for digit := range 9 {
		text.WriteString(marked("DELETE", string(rune('0'+digit))))
	}
	row{text: text.String(), body: body, outcome: sdk.Overflow, says: "9 operations"}.run(t)
	row{text: strings.Repeat("<<APPEND a APPEND\n", mostRegions+1), outcome: sdk.Overflow, says: "more than 10000 regions"}.run(t)
	row{text: strings.Repeat("<<NEW a NEW\n", mostRegions), want: "a"}.run(t)
	row{text: marked("NEW", "x") + text.String(), body: body, outcome: conflict}.run(t)

	deep := strings.Repeat(" ", 1<<20) + "a\n\nb\n"
	row{text: marked("SEARCH", "a\nb") + marked("REPLACE", "a\nb\nc\nd\ne"), body: deep, outcome: sdk.Overflow, says: "<<SEARCH_Q on line 1: the place is indented by"}.run(t)
}
