package skill

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// BenchmarkScan compares the first look at 10,000 skills, and their validation,
// with cat in one run: reading the same bytes. Then a look at which nothing has
// changed, and all that a start does.
func BenchmarkScan(b *testing.B) {
	root := fastDir(b)
	lots(b, root, 10_000)
	l := Options{times: places.Times{Settle: time.Millisecond, Now: time.Now}, remote: watch.Remote}
	against := func(name string, reads func(b *testing.B) int) {
		b.Run(name, func(b *testing.B) {
			var cat, ours time.Duration
			for b.Loop() {
				began := time.Now()
				catAll(b, root)
				cat += time.Since(began)
				began = time.Now()
				if n := reads(b); n != 10_000 {
					b.Fatal(n)
				}
				ours += time.Since(began)
			}
			b.ReportMetric(float64(ours)/float64(cat), "x-cat")
			b.ReportMetric(float64(cat.Milliseconds())/float64(b.N), "cat-ms")
			b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms")
		})
	}
	against("first", func(*testing.B) int {
		s := &folderIndex{at: Folder{Tier: sdk.TierUser, Path: root}}
		s.scan(&watch.Pass{}, &l, nil)
		return len(s.now.docs)
	})
	against("validate", func(b *testing.B) int {
		defer debug.SetGCPercent(debug.SetGCPercent(400)) // as its command does
		v, err := Validate(b.Context(), []string{root})
		if err != nil {
			b.Fatal(err)
		}
		return len(v)
	})
	b.Run("again", func(b *testing.B) {
		s := &folderIndex{at: Folder{Tier: sdk.TierUser, Path: root}}
		late := l
		late.times.Now = func() time.Time { return time.Now().Add(time.Hour) }
		s.scan(&watch.Pass{}, &late, nil)
		for b.Loop() {
			docs := s.now.docs
			if s.scan(&watch.Pass{}, &late, nil); !slices.Equal(docs, s.now.docs) {
				b.Fatal("nothing changed")
			}
		}
	})
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			h := newTestLibrary(b, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: root}}}, Options{})
			if _, err := h.Catalogue(context.Background(), ""); err != nil {
				b.Fatal(err)
			}
			_ = h.Close()
		}
	})
}

// catAll reads all files with cat, whatever it costs to find them.
func catAll(b *testing.B, root string) {
	b.Helper()
	if err := exec.Command("sh", "-c", `find "$0" -name SKILL.md -print0 | xargs -0 cat >/dev/null`, root).Run(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSaveToVisible measures from the end of a save to the catalogue that
// has it, with nobody waiting for it, among few and among many skills.
func BenchmarkSaveToVisible(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := fastDir(b)
			lots(b, root, n)
			h := newTestLibrary(b, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: root}}}, Options{})
			path := filepath.Join(lay(b, root, "one", "first"), "SKILL.md")
			h.reads("one", "first")
			time.Sleep(watch.Resolution) // files that rest are known by their times
			h.look()
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				body := fmt.Sprintf("save %d", i)
				before := h.reloads()
				write(b, path, skillText("one", body))
				began := time.Now()
				for h.reloads() == before {
					<-h.came
				}
				took = append(took, time.Since(began))
				if d, ok := h.now("").Find("one"); !ok || strings.TrimSpace(d.Body) != body {
					b.Fatal("another one changed")
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkMemory measures what a skill of the usual size costs.
func BenchmarkMemory(b *testing.B) {
	const n = 10_000
	root := fastDir(b)
	lots(b, root, n)
	for b.Loop() {
		before := heap()
		h := newTestLibrary(b, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: root}}}, Options{})
		c, err := h.Catalogue(context.Background(), "")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/n, "bytes/skill")
		if len(c.Usable()) != n {
			b.Fatal(len(c.Usable()))
		}
		_ = h.Close()
	}
}
