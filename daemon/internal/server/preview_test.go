package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// watcher follows a run, and what it was shown of the answer under way.
type watcher struct {
	notes chan rpc.Preview
	row   chan int64
}

func (h *house) watcher(t *testing.T, w client.Watch) *watcher {
	t.Helper()
	to := &watcher{notes: make(chan rpc.Preview, 100), row: make(chan int64, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.client(t).Follow(ctx, w, func(e client.Event) error {
			if e.Row != nil {
				to.row <- e.Row.Seq
			} else {
				to.notes <- *e.Preview
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return to
}

// TestAWatchBeginsWithTheTextSoFar: once, behind the rows that are there, and what
// follows comes behind it without a gap and without a repetition.
func TestAWatchBeginsWithTheTextSoFar(t *testing.T) {
	h := open(t, nil)
	h.store.commit(rows(3, 7)...)
	h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 1, First: true, Text: "of an earlier turn"})
	h.Previewed(7)
	h.Preview(rpc.Preview{Run: 8, Loop: 3, Turn: 1, First: true, Text: "of another run"})
	h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 2, First: true, Reasoning: "hm"})
	h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 2, Text: "one "})
	h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 2, Text: "two "})
	w := h.watcher(t, client.Watch{Run: 7, Preview: true})
	first := <-w.notes
	if !first.First || !first.Whole || first.Dropped || first.Reasoning != "hm" || first.Text != "one two " || first.Turn != 2 || !first.Preview {
		t.Errorf("it begins with %+v", first)
	}
	if len(w.row) != 3 {
		t.Errorf("%d rows came before it, want 3", len(w.row))
	}
	for i := range 20 {
		h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 2, Text: fmt.Sprint(i)})
	}
	for i := range 20 {
		if p := <-w.notes; p.Whole || p.First || p.Text != fmt.Sprint(i) {
			t.Fatalf("piece %d is %+v", i, p)
		}
	}
	h.Previewed(7)
	late := h.watcher(t, client.Watch{Run: 7, Preview: true, After: 3})
	eventually(t, "it watches", func() bool { return len(h.previewers(7)) == 2 })
	h.Preview(rpc.Preview{Run: 7, Loop: 1, Turn: 3, First: true, Text: "new"})
	if p := <-late.notes; p.Whole || p.Text != "new" {
		t.Errorf("of an answer that is committed it was shown %+v", p)
	}
}

// TestAnswersBegunAnewAndLongOnes: what was given up is not shown, and of what is
// long the end is.
func TestAnswersBegunAnewAndLongOnes(t *testing.T) {
	long := strings.Repeat("é", maxWritten)
	for name, c := range map[string]struct {
		pieces []rpc.Preview
		want   string
		cut    bool
	}{
		"begun anew":       {[]rpc.Preview{{First: true, Text: "old"}, {Restart: true}, {First: true, Text: "new"}}, "new", false},
		"asked again":      {[]rpc.Preview{{First: true, Text: "old"}, {First: true, Text: "new"}}, "new", false},
		"nothing yet":      {[]rpc.Preview{{First: true, Text: "old"}, {Restart: true}}, "", false},
		"a turn behind it": {[]rpc.Preview{{First: true, Text: "old"}, {Turn: 2, Text: "new"}}, "new", false},
		"a long one":       {[]rpc.Preview{{First: true, Text: "x"}, {Text: long}, {Text: "end"}}, long[len(long)-maxWritten+4:] + "end", true},
	} {
		var w written
		for _, p := range c.pieces {
			w.add(p)
		}
		p, some := w.whole(7)
		if p.Text != c.want || some != (c.want != "") || p.Dropped != c.cut {
			t.Errorf("%s: %d bytes, cut %v, want %d bytes, cut %v", name, len(p.Text), p.Dropped, len(c.want), c.cut)
		}
	}
}
