package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
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

// TestStreaming finds what commands printed of which nobody has told the end, by its index.
func TestStreaming(t *testing.T) {
	f := newFixture(t)
	entry := func(path string, state sdk.State, phase sdk.Phase) sdk.Write {
		return sdk.Write{Path: path, Writer: sdk.WriterSystem, State: state, Phase: phase, Body: body("")}
	}
	f.commit(
		entry("sh://turn_1/call_1", sdk.StateStreaming, ""), entry("env://turn_1/call_2", sdk.StateStreaming, ""), entry("sh://turn_2/call_1", sdk.StateResolved, ""),
		entry("log://turn_1/sh/call", sdk.StateStreaming, sdk.PhaseStarted), entry("assistant://1", sdk.StateStreaming, ""),
		sdk.Write{Path: "sh://turn_1/call_1", Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: 1, Text: "much"}},
	)
	found, err := f.Streaming(t.Context())
	if err != nil || len(found) != 2 || found[0].Run != f.run.ID || found[0].Entry.Path != "sh://turn_1/call_1" || found[0].Entry.Body != "" || found[1].Entry.Path != "env://turn_1/call_2" {
		t.Errorf("%+v, %v", found, err)
	}
	if plan := f.plan(streamingQuery); !strings.Contains(plan, "run_views_streaming") {
		t.Errorf("the plan is\n%s", plan)
	}
}
