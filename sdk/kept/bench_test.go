package kept

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkKeep keeps files of 4 KB that are half text and half noise, and copies the same for comparison.
func BenchmarkKeep(b *testing.B) {
	noise := rand.NewChaCha8([32]byte{})
	for _, n := range []int{10, 1000, 20_000} {
		files := make([][]byte, n)
		for i := range files {
			half := make([]byte, 2048)
			_, _ = noise.Read(half) // never fails
			files[i] = append(half, bytes.Repeat([]byte(fmt.Sprintf("line %d of many\n", i)), 120)...)
		}
		b.Run(fmt.Sprintf("kept=%d", n), func(b *testing.B) {
			for b.Loop() {
				batch := Store{Dir: b.TempDir()}.Begin()
				for _, f := range files {
					if _, _, err := batch.Put(bytes.NewReader(f)); err != nil {
						b.Fatal(err)
					}
				}
				if err := batch.End(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/file")
		})
		b.Run(fmt.Sprintf("copied=%d", n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				for i, f := range files {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), f, 0o600); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/file")
		})
	}
}
