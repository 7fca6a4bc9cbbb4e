package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// BenchmarkBatch writes 1,000 entries in one commit, and the same rows by bare statements into a file of the same tables.
func BenchmarkBatch(b *testing.B) {
	const batch = 1000
	f, bare := newFixture(b), newFixture(b)
	var ours, theirs time.Duration
	n, rounds := 0, 0
	for b.Loop() {
		ws := make([]sdk.Write, batch)
		for i := range ws {
			n++
			ws[i] = known(fmt.Sprintf("known://part%d/fact%d", n/20, n), "a fact of some length, as facts are")
		}
		after := f.Seq()
		began := time.Now()
		f.commit(ws...)
		ours += time.Since(began)
		copied := bare.copier(f, after)
		began = time.Now()
		copied()
		theirs += time.Since(began)
		rounds++
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(rounds*batch) }
	b.ReportMetric(each(ours), "us/entry")
	b.ReportMetric(each(theirs), "bare-us/entry")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-bare")
}

// copier reads what another store has of entries behind a position of its journal, and returns what inserts it here in one
// transaction.
func (f *fixture) copier(from *fixture, after int64) func() {
	f.t.Helper()
	type table struct {
		insert string
		rows   [][]any
	}
	var tables []table
	for name, where := range map[string]string{"entries": "id > ?", "run_views": "entry > ?", "journal": "seq > ?"} {
		var columns []string
		f.rows(from, `SELECT name FROM pragma_table_info(?)`, []any{name}, 1, func(row []any) { columns = append(columns, row[0].(string)) })
		list := strings.Join(columns, ", ")
		t := table{insert: fmt.Sprintf(`INSERT INTO %s (%s) VALUES (?%s)`, name, list, strings.Repeat(", ?", len(columns)-1))}
		f.rows(from, fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, list, name, where), []any{after}, len(columns), func(row []any) { t.rows = append(t.rows, row) })
		tables = append(tables, t)
	}
	slices.SortFunc(tables, func(a, b table) int { return strings.Compare(a.insert, b.insert) }) // what is referred to comes first
	exec := func(q string) {
		if _, err := f.conn.ExecContext(f.t.Context(), q); err != nil {
			f.t.Fatal(err)
		}
	}
	return func() {
		exec(`BEGIN IMMEDIATE`)
		for _, t := range tables {
			stmt, err := f.conn.PrepareContext(f.t.Context(), t.insert)
			if err != nil {
				f.t.Fatal(err)
			}
			for _, row := range t.rows {
				if _, err := stmt.Exec(row...); err != nil {
					f.t.Fatal(err)
				}
			}
			_ = stmt.Close() // it was used
		}
		exec(`COMMIT`)
	}
}

// rows hands over what a query finds in another store.
func (f *fixture) rows(from *fixture, q string, args []any, columns int, each func([]any)) {
	f.t.Helper()
	rows, err := from.conn.QueryContext(f.t.Context(), q, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		row, into := make([]any, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			f.t.Fatal(err)
		}
		each(row)
	}
	if err := rows.Err(); err != nil {
		f.t.Fatal(err)
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
