package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestStreams(t *testing.T) {
	f := newFixture(t)
	path := "log://turn_1/bash/x"
	start := sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted}
	piece := func(channel int, text string) sdk.Write {
		return sdk.Write{Path: path, Writer: sdk.WriterPlugin, Chunk: &sdk.Chunk{Channel: channel, Text: text}}
	}
	f.refuse(sdk.NotFound, sdk.Change{Writes: []sdk.Write{piece(1, "x")}})
	f.commit(start)
	f.commit(piece(1, "one\n"), piece(2, "two\x00\n"))
	f.commit(piece(1, "three"))
	e := f.entry(path)
	sum := sha256.Sum256([]byte(e.Body))
	if e.Body != "one\ntwo\x00\nthree" || e.Hash != hex.EncodeToString(sum[:]) || e.Version != 1 {
		t.Fatalf("%+v", e)
	}
	chunks, err := f.Chunks(t.Context(), f.run.ID, path)
	if want := []sdk.Chunk{{Channel: 1, Text: "one\n"}, {Channel: 2, Text: "two\x00\n"}, {Channel: 1, Text: "three"}}; err != nil || !slices.Equal(chunks, want) {
		t.Fatalf("%+v %v", chunks, err)
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: f.Seq() - 3, Run: f.run.ID})
	if err != nil || len(rows) != 3 || rows[1].Kind != sdk.KindEntryChunk || string(rows[1].Data) != `{"channel":2}` || *rows[1].Body != "two\x00\n" {
		t.Fatalf("%+v %v", rows, err)
	}
	f.verify()

	t.Run("folds into the body", func(t *testing.T) {
		end := f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateResolved}).Entries[0]
		if got := f.entry(path); got.Body != e.Body || end.Body != e.Body || got.Hash != e.Hash {
			t.Fatalf("%+v", got)
		}
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: f.Seq() - 2, Run: f.run.ID})
		if err != nil || rows[0].Body != nil || rows[1].Body == nil || *rows[1].Body != e.Body {
			t.Fatalf("%+v %v", rows, err)
		}
		f.refuse(sdk.Conflict, sdk.Change{Writes: []sdk.Write{piece(1, "late")}})
	})
	t.Run("goes under a written body", func(t *testing.T) {
		f.commit(start, piece(1, "noise"), sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateFailed, Outcome: sdk.Exit(1), Body: body("short")})
		if got := f.entry(path); got.Body != "short" {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("goes with its entry", func(t *testing.T) {
		f.commit(start, piece(1, "noise"), sdk.Write{Path: path, Writer: sdk.WriterSystem, Remove: true})
	})
	var left int
	if _, err := (&tx{s: f.Store}).one(`SELECT count(*) FROM chunks`, nil, &left); err != nil || left != 0 {
		t.Fatalf("%d chunks left (%v)", left, err)
	}
	f.verify()
}
