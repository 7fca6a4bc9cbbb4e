package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// BenchmarkKeep measures what it takes to keep what a command replaced, and to tell of it,
// against `cp -a` of the same files.
func BenchmarkKeep(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprint(n, "replaced"), func(b *testing.B) {
			dir := b.TempDir()
			changes := make([]sandbox.Change, n)
			for i := range changes {
				name := fmt.Sprintf("%d/%d", i/50, i%50)
				old := filepath.Join(dir, "old", name)
				for at, text := range map[string]string{old: "before", filepath.Join(dir, "project", name): "after"} {
					if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
						b.Fatal(err)
					}
					if err := os.WriteFile(at, fmt.Appendf(nil, "%s %d\n", text, i), 0o644); err != nil {
						b.Fatal(err)
					}
				}
				node := sandbox.Node{Kind: sandbox.NodeFile, Mode: 0o644}
				changes[i] = sandbox.Change{Path: name, Was: node, Is: node, Old: old}
			}
			var keeping, copying time.Duration
			for round := 0; b.Loop(); round++ {
				began := time.Now()
				var result sdk.ToolResult
				if lost, err := tell(&result, changes, filepath.Join(dir, "project"), kept.In(filepath.Join(dir, fmt.Sprint("data", round)))); err != nil || len(lost) > 0 {
					b.Fatal(lost, err)
				}
				keeping += time.Since(began)
				began = time.Now()
				if out, err := exec.Command("cp", "-a", filepath.Join(dir, "old"), filepath.Join(dir, fmt.Sprint("copy", round))).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				copying += time.Since(began)
			}
			b.ReportMetric(float64(keeping)/float64(copying), "x-copy")
		})
	}
}
