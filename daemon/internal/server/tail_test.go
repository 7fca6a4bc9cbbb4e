package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// countedStore counts how often its journal is read.
type countedStore struct {
	*fakeStore
	reads *atomic.Int64
}

func (c countedStore) Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	c.reads.Add(1)
	return c.fakeStore.Journal(ctx, q)
}

// TestSharedTail: a commit is read once, however many watches are up to date, and encoded and
// relieved of its secrets once; each sends what it is about.
func TestSharedTail(t *testing.T) {
	var reads, redacted atomic.Int64
	h := open(t, func(c *Config) {
		c.Store = countedStore{c.Store.(*fakeStore), &reads}
		c.Redact = func(text json.RawMessage) json.RawMessage {
			if bytes.Contains(text, []byte("hunter2")) {
				redacted.Add(1)
			}
			return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[secret]"))
		}
	})
	const commits = 50
	var all []chan int
	for i := range 16 {
		run := int64(7 + i%2)
		seen := make(chan int, 1+commits)
		all = append(all, seen)
		c := h.client(t)
		go func() {
			n := 0
			err := c.Follow(context.Background(), client.Watch{Run: run}, func(e client.Event) error {
				if e.Row == nil {
					return nil
				}
				if e.Row.Run != run || e.Row.Body == nil || *e.Row.Body != "it is [secret]" {
					t.Errorf("a watch of run %d is sent %+v", run, e.Row)
				}
				n++
				seen <- n
				if n == 1+commits/2 {
					return client.ErrDone
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	body := "it is hunter2"
	row := func(run int64) sdk.JournalRow {
		return sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Project: 1, Body: &body}
	}
	h.store.commit(row(7), row(8))
	for _, seen := range all {
		<-seen // it watches now
	}
	begun, encoded := reads.Load(), redacted.Load()
	for i := range commits {
		h.store.commit(row(int64(7 + i%2)))
		for j := i % 2; j < len(all); j += 2 {
			<-all[j]
		}
	}
	if n := reads.Load() - begun; n > commits+16 {
		t.Errorf("%d commits were read %d times", commits, n)
	}
	if n := redacted.Load() - encoded; n > commits+16 {
		t.Errorf("%d rows were encoded %d times", commits, n)
	}
}

// TestRowHead: a line that is put together is the line that would be encoded whole.
func TestRowHead(t *testing.T) {
	body := "<a> & \u2028 \x00 é"
	row := sdk.JournalRow{Seq: 5, Kind: "k", Run: 7, Data: json.RawMessage(`{"b": [1, "<x>"]}`), Body: &body, Prev: "p", Hash: "h"}
	want, err := encodeNote(rpc.NoteRow, rpc.Row{Watch: 3, Row: row})
	must(t, err)
	text, err := newTailRow(row).encoded(nil)
	must(t, err)
	if got := string(rowHead(3)) + string(text) + "}}"; got != string(want) {
		t.Errorf("%s\nand not\n%s", got, want)
	}
}

// TestTailIsTheJournal: whoever follows it has each row once, whatever is committed between, and
// it keeps no more than it may.
func TestTailIsTheJournal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := newFakeStore()
		x := &tail{store: store}
		at := map[int]int64{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			n := rapid.SampledFrom([]int{0, 1, 2, 63, 64, 65, 200, 1500}).Draw(t, "rows")
			body := strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 5000}).Draw(t, "size"))
			for range n {
				store.commit(sdk.JournalRow{Body: &body})
			}
			who := rapid.IntRange(0, 2).Draw(t, "who")
			rows, ok, err := x.behind(context.Background(), at[who])
			if err != nil {
				t.Fatal(err)
			}
			if !ok { // it reads for itself
				at[who] = store.Seq()
				continue
			}
			for _, row := range rows {
				if row.Seq != at[who]+1 {
					t.Fatalf("%d comes after %d", row.Seq, at[who])
				}
				at[who] = row.Seq
			}
			if at[who] != store.Seq() {
				t.Fatalf("it ends at %d, and the journal at %d", at[who], store.Seq())
			}
			size := 0
			for _, row := range x.rows {
				size += row.weight
			}
			if size != x.size || len(x.rows) > 2*tailRows || size > 2*tailBytes {
				t.Fatalf("%d rows of %d bytes, counted as %d", len(x.rows), size, x.size)
			}
		}
	})
}

// weighed is a store that looks at a tail whenever it reads.
type weighed struct {
	*fakeStore
	x    *tail
	most int
}

func (w *weighed) Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	w.most = max(w.most, w.x.size)
	return w.fakeStore.Journal(ctx, q)
}

// TestTailIsBounded also while it reads what came since: a watch that is behind its bytes reads for itself.
func TestTailIsBounded(t *testing.T) {
	w := &weighed{fakeStore: newFakeStore()}
	w.x = &tail{store: w}
	body := strings.Repeat("x", 64<<10)
	for range tailRows {
		w.commit(sdk.JournalRow{Body: &body})
	}
	if rows, ok, err := w.x.behind(t.Context(), 0); ok || err != nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if page := watchPage * (len(body) + 256); w.most > 2*tailBytes+page {
		t.Errorf("it had %d bytes", w.most)
	}
	after := w.Seq() - 3
	if rows, ok, err := w.x.behind(t.Context(), after); !ok || err != nil || len(rows) != 3 || rows[0].Seq != after+1 {
		t.Errorf("%d rows, %v, %v", len(rows), ok, err)
	}
}
