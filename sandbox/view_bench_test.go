//go:build linux

package sandbox_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// BenchmarkView measures a command on a view against the same command on the
// project itself, in turns: one that changes nothing, and one that changes a file. What
// is done behind the result of the first is reported apart, and waited for before
// anything else is measured: who gives one command after the other waits for it.
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
	var onBind, onView, behind, changed []time.Duration
	for b.Loop() {
		onBind = append(onBind, run(bound, "true"))
		onView = append(onView, run(viewed, "true"))
		began := time.Now()
		if _, err := viewed.manager.Waiting(b.Context(), viewed.run); err != nil { // it has its turn
			b.Fatal(err)
		}
		behind = append(behind, time.Since(began))
		changed = append(changed, run(viewed, "echo $RANDOM > f"))
	}
	b.ReportMetric(float64(median(onView))/float64(median(onBind)), "ratio-nothing-changed")
	b.ReportMetric(float64(median(onView)+median(behind))/float64(median(onBind)), "ratio-one-after-the-other")
	b.ReportMetric(float64(median(onView).Microseconds())/1000, "ms-nothing-changed")
	b.ReportMetric(float64((median(changed)-median(onView)).Microseconds())/1000, "ms-more-one-file")
}

// files makes a project of so many files in folders of 50.
func (f *fixture) files(n int) {
	f.t.Helper()
	for i := range n {
		f.write(fmt.Sprintf("t/%d/%d", i/50, i%50), fmt.Sprintf("file %d\n", i))
	}
}

// BenchmarkGitStatus measures git status in a repository of 20,000 files: on a view, on
// the project itself, and on the host.
func BenchmarkGitStatus(b *testing.B) {
	needTool(b, "git")
	bound, viewed := newFixture(b, shared(b)), viewFixture(b)
	const status = "git -c core.checkStat=minimal status --porcelain"
	for _, f := range []*fixture{bound, viewed} {
		f.files(20_000)
		host := exec.Command("bash", "-c", "git init -q && git config core.checkStat minimal && git add -A && git -c user.name=x -c user.email=x@y commit -qm x && "+status)
		host.Dir = f.run.Project
		if out, err := host.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		f.ok(status)
	}
	run := func(f *fixture) time.Duration {
		began := time.Now()
		if got := f.ok(status); got != "" {
			b.Fatal(got)
		}
		return time.Since(began)
	}
	var onHost, onBind, onView []time.Duration
	for b.Loop() {
		began := time.Now()
		host := exec.Command("bash", "-c", status)
		host.Dir = bound.run.Project
		if out, err := host.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		onHost = append(onHost, time.Since(began))
		onBind = append(onBind, run(bound))
		onView = append(onView, run(viewed))
	}
	b.ReportMetric(float64(median(onView))/float64(median(onBind)), "x-bind")
	b.ReportMetric(float64(median(onView))/float64(median(onHost)), "x-host")
	b.ReportMetric(float64(median(onView).Microseconds())/1000, "ms-view")
}

// BenchmarkViewGrowth measures a command that changes one file in a project of 20,000
// files against the same in one of 100.
func BenchmarkViewGrowth(b *testing.B) {
	small, large := viewFixture(b), viewFixture(b)
	small.files(100)
	large.files(20_000)
	var few, many []time.Duration
	for b.Loop() {
		for f, times := range map[*fixture]*[]time.Duration{small: &few, large: &many} {
			began := time.Now()
			f.ok("echo $RANDOM > t/0/0; echo $RANDOM > new")
			*times = append(*times, time.Since(began))
		}
	}
	b.ReportMetric(float64(median(many))/float64(median(few)), "ratio")
}
