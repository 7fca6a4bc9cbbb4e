package confine_test

import (
	"os/exec"
	"testing"
)

// BenchmarkStart is what the walls add to starting a process.
func BenchmarkStart(b *testing.B) {
	requireWalls(b)
	s := newScene(b)
	b.Run("free", func(b *testing.B) {
		for b.Loop() {
			if got := output(b, exec.Command(attack, "read", "/dev/null")); got != "worked" {
				b.Fatal(got)
			}
		}
	})
	b.Run("confined", func(b *testing.B) {
		for b.Loop() {
			if got := output(b, confined(b, s.spec(), attack, "read", "/dev/null")); got != "worked" {
				b.Fatal(got)
			}
		}
	})
}
