package protect

import (
	"fmt"
	"testing"
)

// BenchmarkChanges judges what a command made in folders of its own.
func BenchmarkChanges(b *testing.B) {
	project := b.TempDir()
	var changes []Change
	for d := range 200 {
		dir := fmt.Sprintf("node_modules/package-%d", d)
		changes = append(changes, Change{Path: dir, Is: Directory, Whole: true})
		for f := range 100 {
			changes = append(changes, Change{Path: fmt.Sprintf("%s/lib/file-%d.js", dir, f), Is: File})
		}
	}
	for b.Loop() {
		if found := (Rules{}).Changes(project, changes); len(found) != len(changes) {
			b.Fatal(len(found))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(changes)), "ns/change")
}
