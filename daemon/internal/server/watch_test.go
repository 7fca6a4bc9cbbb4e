package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

func rows(n int, run int64) []sdk.JournalRow {
	list := make([]sdk.JournalRow, n)
	for i := range list {
		body := fmt.Sprintf("row %d %s", i, strings.Repeat("x", 100))
		list[i] = sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Project: 1, Body: &body}
	}
	return list
}

// follow collects seqs until it has seen last.
func follow(t *testing.T, c *client.Client, w client.Watch, last int64) []int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var seen []int64
	err := c.Follow(ctx, w, func(e client.Event) error {
		if e.Row == nil {
			return nil
		}
		seen = append(seen, e.Row.Seq)
		if e.Row.Seq == last {
			return client.ErrDone
		}
		return nil
	})
	if err != nil {
		t.Errorf("follow: %v after %d rows", err, len(seen))
	}
	return seen
}

func wantConsecutive(t *testing.T, seen []int64, from, to int64) {
	t.Helper()
	if int64(len(seen)) != to-from+1 {
		t.Fatalf("%d rows, want %d to %d", len(seen), from, to)
	}
	for i, seq := range seen {
		if seq != from+int64(i) {
			t.Fatalf("row %d has seq %d", i, seq)
		}
	}
}

func TestFollow(t *testing.T) {
	h := open(t, nil)
	h.store.commit(rows(100, 7)...)
	h.store.commit(rows(100, 8)...)
	c := h.client(t)
	wantConsecutive(t, follow(t, c, client.Watch{Run: 7, After: 40}, 100), 41, 100)

	live := make(chan []int64)
	go func() { live <- follow(t, c, client.Watch{After: 190}, 300) }()
	for range 100 {
		h.store.commit(rows(1, 7)...)
	}
	wantConsecutive(t, <-live, 191, 300)
}

func TestWatchFilters(t *testing.T) {
	h := open(t, nil)
	h.store.commit(sdk.JournalRow{Project: 1, Run: 7}, sdk.JournalRow{Project: 2, Run: 8}, sdk.JournalRow{Project: 1, Run: 9})
	seen := follow(t, h.client(t), client.Watch{Project: "/p/one"}, 3)
	if len(seen) != 2 || seen[0] != 1 {
		t.Errorf("project one saw %v", seen)
	}
	ctx := context.Background()
	for name, p := range map[string]rpc.WatchParams{
		"no such run":      {Run: "99"},
		"relative project": {Project: "p"},
		"past the end":     {After: ptr(int64(4))},
	} {
		if err := h.client(t).Call(ctx, rpc.MethodWatch, p, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A project may be watched before anything was done in it.
func TestWatchOfAProjectToCome(t *testing.T) {
	h := open(t, nil)
	h.store.commit(rows(3, 7)...)
	c := h.client(t)
	if page, err := c.Journal(t.Context(), rpc.JournalParams{Project: "/p/three"}); err != nil || len(page.Rows) != 0 || page.Seq != 3 {
		t.Errorf("%d rows of nothing, %v", len(page.Rows), err)
	}
	var w rpc.Watching
	if err := c.Call(t.Context(), rpc.MethodWatch, rpc.WatchParams{Project: "/p/three"}, &w); err != nil || w.Seq != 3 {
		t.Fatalf("%+v, %v", w, err)
	}
	seen := make(chan []int64)
	go func() { seen <- follow(t, c, client.Watch{Project: "/p/three"}, 6) }()
	h.store.commit(rows(1, 7)...)
	h.store.found(sdk.Project{ID: 3, Root: "/p/three"})
	h.store.commit(sdk.JournalRow{Project: 3, Run: 11}, sdk.JournalRow{Project: 3, Run: 11})
	if got := <-seen; len(got) != 2 || got[0] != 5 {
		t.Errorf("saw %v", got)
	}
}

func ptr[T any](v T) *T { return &v }

func TestUnwatchAndTooMany(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	var last rpc.Watching
	for range 16 {
		if err := c.Call(ctx, rpc.MethodWatch, rpc.WatchParams{}, &last); err != nil {
			t.Fatal(err)
		}
	}
	var e *rpc.Error
	if err := c.Call(ctx, rpc.MethodWatch, rpc.WatchParams{}, nil); !errors.As(err, &e) || e.Code != rpc.CodeBusy {
		t.Errorf("the 17th watch: %v", err)
	}
	if err := c.Call(ctx, rpc.MethodUnwatch, rpc.WatchRef{Watch: last.Watch}, nil); err != nil {
		t.Error(err)
	}
	if err := c.Call(ctx, rpc.MethodUnwatch, rpc.WatchRef{Watch: last.Watch}, nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("unwatch twice: %v", err)
	}
	if err := c.Call(ctx, rpc.MethodWatch, rpc.WatchParams{}, nil); err != nil {
		t.Error(err)
	}
}

// TestNonReader: a subscriber that reads nothing gets what fits, then a gap;
// whoever commits and whoever reads is not held up. Resuming loses nothing.
func TestNonReader(t *testing.T) {
	h := open(t, func(cfg *Config) {
		cfg.Limits.RingRows, cfg.Limits.Patience, cfg.Limits.Write = 50, 100*time.Millisecond, time.Minute
	})
	stuck := h.dial(t)
	stuck.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"after":0}}` + "\n")
	stuck.answer()

	const total = 20_000
	reader := make(chan []int64)
	go func() { reader <- follow(t, h.client(t), client.Watch{}, total) }()
	for range total / 100 {
		h.store.commit(rows(100, 7)...)
	}
	wantConsecutive(t, <-reader, 1, total)

	eventually(t, "the watch is over", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.watchers) == 0 // the reader's has ended as well
	})
	last, gap := readToGap(t, stuck)
	if gap.From != last+1 || gap.To < gap.From || last >= total {
		t.Fatalf("the gap %+v does not join row %d", gap, last)
	}
	wantConsecutive(t, follow(t, h.client(t), client.Watch{After: last}, total), last+1, total)
}

func readToGap(t *testing.T, r *raw) (int64, rpc.Gap) {
	t.Helper()
	var last int64
	for {
		m, err := r.next()
		if err != nil {
			t.Fatalf("no gap after row %d: %v", last, err)
		}
		switch m.Method {
		case rpc.NoteRow:
			var row rpc.Row
			if err := json.Unmarshal(m.Params, &row); err != nil || row.Row.Seq != last+1 {
				t.Fatalf("row %d after %d: %v", row.Row.Seq, last, err)
			}
			last = row.Row.Seq
		case rpc.NoteGap:
			var gap rpc.Gap
			if err := json.Unmarshal(m.Params, &gap); err != nil {
				t.Fatal(err)
			}
			return last, gap
		}
	}
}

// TestDeadReader: who makes no room at all within the write's deadline loses
// the connection, and its memory with it.
func TestDeadReader(t *testing.T) {
	h := open(t, func(cfg *Config) {
		cfg.Limits.RingRows, cfg.Limits.Patience, cfg.Limits.Write = 50, 50*time.Millisecond, 200*time.Millisecond
	})
	stuck := h.dial(t)
	stuck.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"after":0}}` + "\n")
	stuck.answer()
	h.store.commit(rows(20_000, 7)...)
	eventually(t, "the connection is closed", func() bool { return h.connections() == 0 })
}

// TestSlowFollowerGetsEverything: the client resumes behind its gaps by itself.
func TestSlowFollowerGetsEverything(t *testing.T) {
	h := open(t, func(cfg *Config) { cfg.Limits.RingRows, cfg.Limits.Patience = 4, time.Millisecond })
	h.store.commit(rows(3000, 7)...)
	var seen []int64
	err := h.client(t).Follow(context.Background(), client.Watch{}, func(e client.Event) error {
		if seen = append(seen, e.Row.Seq); len(seen)%500 == 0 {
			time.Sleep(20 * time.Millisecond) // be slow
		}
		if e.Row.Seq == 3000 {
			return client.ErrDone
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantConsecutive(t, seen, 1, 3000)
}

func TestPreview(t *testing.T) {
	h := open(t, nil)
	h.store.commit(rows(1, 7)...)
	var mu sync.Mutex
	var got []rpc.Preview
	done := make(chan error)
	go func() {
		done <- h.client(t).Follow(context.Background(), client.Watch{Run: 7, Preview: true}, func(e client.Event) error {
			mu.Lock()
			defer mu.Unlock()
			if e.Preview != nil {
				got = append(got, *e.Preview)
			} else if e.Row.Seq == 2 {
				return client.ErrDone
			}
			return nil
		})
	}()
	quiet := h.dial(t)
	quiet.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"run":"7"}}` + "\n")
	quiet.answer()
	eventually(t, "the follower watches", func() bool { return len(h.previewers(7)) == 1 })
	h.Preview(rpc.Preview{Run: 8, Text: "of another run"})
	h.Preview(rpc.Preview{Run: 7, Turn: 1, Text: "hel"})
	h.Preview(rpc.Preview{Run: 7, Turn: 1, Text: "lo"})
	h.store.commit(rows(1, 7)...)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Text+got[1].Text != "hello" || !got[0].Preview {
		t.Errorf("previews %+v", got)
	}
	for seq := 0; seq < 1; {
		m, err := quiet.next()
		if err != nil || m.Method == rpc.NotePreview {
			t.Fatalf("who asked for no previews got %+v %v", m, err)
		}
		if m.Method == rpc.NoteRow {
			seq++
		}
	}
}

// TestPreviewIsDropped: previews never wait for a client, and leave room for
// rows.
func TestPreviewIsDropped(t *testing.T) {
	h := open(t, func(cfg *Config) { cfg.Limits.RingRows, cfg.Limits.Write = 40, time.Minute })
	h.store.commit(rows(1, 7)...)
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"run":"7","preview":true}}` + "\n")
	r.answer()
	big := strings.Repeat("y", 32<<10)
	for range 200 {
		h.Preview(rpc.Preview{Run: 7, Text: big})
	}
	h.store.commit(rows(1, 7)...)
	previews := 0
	for {
		m, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Method == rpc.NotePreview {
			previews++
		}
		if m.Method == rpc.NoteRow {
			break
		}
	}
	if previews == 0 || previews > 100 {
		t.Errorf("%d of 200 previews came", previews)
	}
	h.Preview(rpc.Preview{Run: 7, Text: "after"})
	for {
		m, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Method != rpc.NotePreview {
			continue
		}
		var p rpc.Preview
		_ = json.Unmarshal(m.Params, &p)
		if p.Text == "after" {
			if !p.Dropped {
				t.Error("nothing says that previews were dropped")
			}
			return
		}
	}
}

// TestReconnect takes the daemon away in the middle of following.
func TestReconnect(t *testing.T) {
	h := open(t, nil)
	h.store.commit(rows(10, 7)...)
	half := make(chan struct{})
	var once sync.Once
	got := make(chan []int64)
	c := &client.Client{Socket: h.path}
	go func() {
		var seen []int64
		err := c.Follow(context.Background(), client.Watch{}, func(e client.Event) error {
			seen = append(seen, e.Row.Seq)
			if e.Row.Seq == 10 {
				once.Do(func() { close(half) })
			}
			if e.Row.Seq == 20 {
				return client.ErrDone
			}
			return nil
		})
		if err != nil {
			t.Errorf("follow: %v", err)
		}
		got <- seen
	}()
	<-half
	h.shut(t)
	h.store.commit(rows(10, 7)...)
	again, err := New(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.Server = again
	if h.listener, err = Listen(h.path); err != nil {
		t.Fatal(err)
	}
	<-h.served
	go func() { h.served <- again.Serve(h.listener) }()
	wantConsecutive(t, <-got, 1, 20)
}

func TestFollowGivesUp(t *testing.T) {
	c := &client.Client{Socket: t.TempDir() + "/none.sock"}
	err := c.Follow(context.Background(), client.Watch{Retry: 50 * time.Millisecond}, func(client.Event) error { return nil })
	var down *client.NotRunningError
	if !errors.As(err, &down) || !strings.Contains(err.Error(), "did not come back") {
		t.Errorf("got %v", err)
	}
}
