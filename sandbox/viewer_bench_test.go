//go:build linux

package sandbox

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkViewOfNothing is what a view adds to a command that changes nothing,
// without its removal, which nobody waits for.
func BenchmarkViewOfNothing(b *testing.B) {
	f := newViewFixture(b, sharedViewer(b), "echo x >f")
	for b.Loop() {
		if err := f.v.mount(b.Context(), f.spec); err != nil {
			b.Fatal(err)
		}
		if err := f.v.unmount(b.Context(), f.spec.Slot, true); err != nil {
			b.Fatal(err)
		}
		if changes := f.list(); len(changes) != 0 {
			b.Fatalf("got %+v", changes)
		}
		b.StopTimer()
		if err := f.v.remove(b.Context(), f.spec.Dir); err != nil {
			b.Fatal(err)
		}
		f.next()
		b.StartTimer()
	}
}

// The costs of applying are told as ratios to `cp -a` of the same files, each once
// with nothing else to write.
func BenchmarkApply(b *testing.B) {
	const files = `for d in $(seq %d); do mkdir -p t/$d; for i in $(seq %d); do echo "$1 $d $i" >t/$d/$i; done; done`
	for _, c := range []struct {
		name          string
		folders, each int
		replaced      bool
	}{
		{"1000replaced", 10, 100, true},
		{"20000new", 400, 50, false},
		{"20000replaced", 400, 50, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			make := fmt.Sprintf(files, c.folders, c.each)
			var applied, copied, listed time.Duration
			for b.Loop() {
				b.StopTimer()
				project := "true"
				if c.replaced {
					project = "set one; " + make
				}
				f := newViewFixture(b, sharedViewer(b), project)
				f.command("set two; " + make)
				b.StartTimer()
				began := time.Now()
				changes := f.list()
				listed += time.Since(began)
				results := f.apply(plan(changes))
				applied += time.Since(began)
				b.StopTimer()
				if states(results) != "done" {
					b.Fatalf("got %.300s", fmt.Sprint(results))
				}
				began = time.Now()
				if out, err := exec.Command("cp", "-a", filepath.Join(f.spec.Project, "t"), filepath.Join(f.top, "copy")).CombinedOutput(); err != nil {
					b.Fatal(string(out), err)
				}
				copied += time.Since(began)
				b.StartTimer()
			}
			b.ReportMetric(float64(applied)/float64(copied), "ratio")
			b.ReportMetric(float64(listed)/float64(applied), "listed")
		})
	}
}
