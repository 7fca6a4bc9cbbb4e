package builtin

import (
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// filled is a run of 10,000 entries.
func filled(b *testing.B) *bench {
	v := newBench(b)
	for n := range 10 {
		var writes []sdk.Write
		for i := range 1000 {
			writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://part%d/fact%d", (n*1000+i)/20, i), Body: new("a fact of some length, as facts are"), Writer: sdk.WriterModel})
		}
		v.commit(writes...)
	}
	return v
}

// BenchmarkFilter looks for a word in the bodies of 10,000 entries.
func BenchmarkFilter(b *testing.B) {
	v := filled(b)
	call := with(get("known://**"), func(c *sdk.EntryCall) { c.Preview, c.Filter = true, "facts" })
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if p := v.Plan(b.Context(), v.use, []sdk.EntryCall{call})[0]; p.Err != nil || len(p.Done.Entries) == 0 {
			b.Fatal(p.Err, len(p.Done.Entries))
		}
	}
}

// BenchmarkPattern finds 20 of 10,000 entries by a pattern.
func BenchmarkPattern(b *testing.B) {
	v := filled(b)
	call := with(get("known://part77/*"), func(c *sdk.EntryCall) { c.Preview = true })
	b.ResetTimer()
	for range b.N {
		if p := v.Plan(b.Context(), v.use, []sdk.EntryCall{call})[0]; p.Err != nil || len(p.Done.Entries) != 20 {
			b.Fatal(p.Err, len(p.Done.Entries))
		}
	}
}

// BenchmarkWrites writes entries by 1,000 calls of set in one commit; the figure is of one entry.
func BenchmarkWrites(b *testing.B) {
	v := newBench(b)
	calls := make([]sdk.EntryCall, 1000)
	for n := range b.N {
		for i := range calls {
			calls[i] = set(fmt.Sprintf("known://n%d/fact%d", n, i), "a fact of some length, as facts are")
		}
		var writes []sdk.Write
		for _, p := range v.Plan(b.Context(), v.use, calls) {
			writes = append(writes, p.Writes...)
		}
		v.commit(writes...)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(calls)), "us/entry")
}
