package project

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkLook looks at a tree that a run made and moved: the work
// grows with the steps and not with their square.
func BenchmarkLook(b *testing.B) {
	for _, folders := range []int{20, 200, 2000} {
		w := opened(b, b)
		w.mkdir("old")
		for i := range folders {
			dir := fmt.Sprintf("old/%d", i)
			w.mkdir(dir)
			for j := range 8 {
				at, text := fmt.Sprintf("%s/%d", dir, j), fmt.Sprint(i, j)
				w.must(os.WriteFile(w.at(at), []byte(text), 0o600))
				w.did(sdk.FileChange{Path: at, After: &sdk.FileState{Kind: "file", Hash: sum(text)}})
			}
		}
		w.move("old", "new")
		b.Run(fmt.Sprintf("steps=%d", len(w.steps)), func(b *testing.B) {
			for b.Loop() {
				c, err := w.ground().Look(w.steps, everything)
				if err != nil || len(c.ops) != len(w.steps) {
					b.Fatal(len(c.ops), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(w.steps)), "µs/step")
		})
	}
}

// BenchmarkScan compares a scan of 5,000 files, first and again, with walking them and asking for the size of each.
func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	plant(b, root, 5000)
	var walked time.Duration
	told := func(b *testing.B) { // how many walks it takes
		if each := b.Elapsed() / time.Duration(b.N); walked > 0 {
			b.ReportMetric(float64(each)/float64(walked), "walks")
		}
	}
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			n := 0
			err := filepath.WalkDir(root, func(_ string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					n++
					_, err = d.Info()
				}
				return err
			})
			if err != nil || n != 5000 {
				b.Fatal(n, err)
			}
		}
		walked = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("again", func(b *testing.B) {
		f := grown(b, root)
		f.scan()
		for b.Loop() {
			f.scan()
		}
		told(b)
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			f := grown(b, root)
			b.StartTimer()
			f.scan()
		}
		told(b)
	})
}
