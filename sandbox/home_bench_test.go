//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

// BenchmarkHome measures the first command in a new container that has ten folders of the
// home more, two of them caches with an overlay, against one that has none, in turns.
func BenchmarkHome(b *testing.B) {
	home := outside(b)
	found := toolchain.Found{Home: home}
	for i := range 10 {
		dir := filepath.Join(home, fmt.Sprint("d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if i < 2 {
			found.Caches = append(found.Caches, dir)
		} else {
			found.Shown = append(found.Shown, dir)
		}
	}
	start := func(tools func() toolchain.Found) *fixture {
		cfg := config(b, shortDir(b))
		cfg.View, cfg.Judge, cfg.Tools = buildView(b), judgeByName{}, tools
		f := newFixture(b, open(b, cfg))
		f.atItsOwnPath()
		f.ok("true")
		return f
	}
	none, ten := start(nil), start(func() toolchain.Found { return found })
	var without, with []time.Duration
	for b.Loop() {
		for f, times := range map[*fixture]*[]time.Duration{none: &without, ten: &with} {
			if err := f.manager.Drop(b.Context(), f.run.RunID); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			f.ok("true")
			*times = append(*times, time.Since(began))
		}
	}
	b.ReportMetric(float64(median(with))/float64(median(without)), "ratio")
	b.ReportMetric(float64(median(with).Microseconds())/1000, "ms-with")
}
