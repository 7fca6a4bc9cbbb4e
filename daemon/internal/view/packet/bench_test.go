package packet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkAssemble is a turn over so many entries of 400 bytes, up to the prompt that is sent: with nothing rendered yet, and after
// one entry changed. One in ten is visible.
func BenchmarkAssemble(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		in := assembly(1, prompt(1, "task"))
		in.Context = 10_000_000
		for i := range n {
			v := sdk.Summarized
			if i%10 == 0 {
				v = sdk.Visible
			}
			in.Entries = append(in.Entries, entry(fmt.Sprintf("known://%d", i), strings.Repeat("word ", 80), level(v)))
		}
		b.Run(fmt.Sprintf("cold/%d", n), func(b *testing.B) {
			d := newDesk()
			b.ReportAllocs()
			for b.Loop() {
				d.Forget(in.Run.ID)
				if _, err := d.send(b, in); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			d := newDesk()
			in := in
			in.Entries = slices.Clone(in.Entries)
			if _, err := d.send(b, in); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				e := &in.Entries[n/2]
				e.Version++
				if _, err := d.send(b, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
