package store

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkCommitAction is one durable step of an action: its recording, with
// arguments, in a commit of its own.
func BenchmarkCommitAction(b *testing.B) {
	f := newFixture(b)
	attributes := object(`{"call_id":"call_1","tool":"bash","arguments":{"command":"go test ./..."},"index":0,"plugin":"bash"}`)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		f.commit(sdk.Write{
			Path: "log://turn_1/bash/" + strconv.Itoa(n), Writer: sdk.WriterSystem, Attributes: attributes,
			State: sdk.StateStreaming, Phase: sdk.PhaseRecorded, Turn: 1, Loop: 1,
		})
	}
}

// BenchmarkAppend shows that a chunk costs the same behind a long stream.
func BenchmarkAppend(b *testing.B) {
	for _, before := range []int{0, 1000} {
		b.Run(strconv.Itoa(before), func(b *testing.B) {
			f := newFixture(b)
			path := "log://turn_1/bash/x"
			f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateStreaming})
			piece := sdk.Write{Path: path, Writer: sdk.WriterPlugin, Chunk: &sdk.Chunk{Channel: 1, Text: strings.Repeat("x", 1024)}}
			many := make([]sdk.Write, before)
			for i := range many {
				many[i] = piece
			}
			f.commit(many...)
			b.ReportAllocs()
			for b.Loop() {
				f.commit(piece)
			}
		})
	}
}

// BenchmarkEntries reads all entries of a run; bodies have 400 bytes.
func BenchmarkEntries(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			f := newFixture(b)
			ws := make([]sdk.Write, n)
			for i := range ws {
				ws[i] = known(fmt.Sprintf("known://fact/%d", i), strings.Repeat("x", 400))
			}
			f.commit(ws...)
			b.ReportAllocs()
			for b.Loop() {
				all, err := f.Entries(b.Context(), sdk.EntryQuery{Run: f.run.ID})
				if err != nil || len(all) != n {
					b.Fatal(len(all), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}

// BenchmarkEntriesByPattern finds 20 of 10,000, and all of them without bodies.
func BenchmarkEntriesByPattern(b *testing.B) {
	f := newFixture(b)
	ws := make([]sdk.Write, 10_000)
	for i := range ws {
		ws[i] = known(fmt.Sprintf("known://fact/%d/%d", i%500, i), strings.Repeat("x", 400))
	}
	f.commit(ws...)
	for _, bb := range []struct {
		name, pattern string
		brief         bool
		found         int
	}{{"some", "known://*/77/*", false, 20}, {"all", "known://**", true, len(ws)}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				all, err := f.Entries(b.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: bb.pattern, Brief: bb.brief})
				if err != nil || len(all) != bb.found {
					b.Fatal(len(all), err)
				}
			}
		})
	}
}

// BenchmarkVerify recomputes the chain over 10,000 rows.
func BenchmarkVerify(b *testing.B) {
	f := newFixture(b)
	ws := make([]sdk.Write, 10000)
	for i := range ws {
		ws[i] = known(fmt.Sprintf("known://fact/%d", i), strings.Repeat("x", 400))
	}
	f.commit(ws...)
	for b.Loop() {
		f.verify()
	}
}
