//go:build linux

package sandbox_test

import (
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// BenchmarkView measures a command on a view against the same command on the
// project itself, in turns: one that changes nothing, and one that changes a file.
func BenchmarkView(b *testing.B) {
	bound := newFixture(b, shared(b))
	viewed := viewFixture(b)
	bound.ok("true")
	viewed.ok("true")
	run := func(f *fixture, script string) time.Duration {
		began := time.Now()
		if r, err := f.manager.Exec(b.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", script}}, nil); err != nil || r.ExitCode != 0 {
			b.Fatal(r, err)
		}
		return time.Since(began)
	}
	var onBind, onView, changed []time.Duration
	for b.Loop() {
		onBind = append(onBind, run(bound, "true"))
		onView = append(onView, run(viewed, "true"))
		changed = append(changed, run(viewed, "echo $RANDOM > f"))
	}
	b.ReportMetric(float64(median(onView))/float64(median(onBind)), "ratio-nothing-changed")
	b.ReportMetric(float64(median(onView).Microseconds())/1000, "ms-nothing-changed")
	b.ReportMetric(float64((median(changed)-median(onView)).Microseconds())/1000, "ms-more-one-file")
}
