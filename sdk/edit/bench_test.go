package edit

import (
	"math"
	"strings"
	"testing"
	"time"
)

// BenchmarkParseGrowth reports how much more time sixteen times the text takes: about 16
// when the work is linear. Steps are counted by TestLinear; how places are found in a
// body, package match measures.
func BenchmarkParseGrowth(b *testing.B) {
	for name, input := range map[string]func(n int) string{
		"prose of words":      func(n int) string { return "<<NEW " + strings.Repeat("a NEW ", n/6) + "b\nNEW" },
		"markers of a script": func(n int) string { return "x " + strings.Repeat("cat <<EOF\n", n/10) },
	} {
		b.Run(name, func(b *testing.B) {
			const size, times = 1 << 18, 16
			cost := func(n int) time.Duration {
				text := input(n)
				start := time.Now()
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			small, large := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() { // a busy machine only adds to either
				small, large = min(small, cost(size)), min(large, cost(times*size))
			}
			b.ReportMetric(float64(large)/float64(small), "x-of-16")
		})
	}
}
