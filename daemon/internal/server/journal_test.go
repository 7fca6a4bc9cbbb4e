package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// pages reads the journal to its end and returns the seqs.
func pages(t *testing.T, c *client.Client, p rpc.JournalParams) (seen []int64, calls int) {
	t.Helper()
	for {
		page, err := c.Journal(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		calls++
		for _, row := range page.Rows {
			seen = append(seen, row.Seq)
		}
		if p.After = page.Next; page.Next == 0 {
			return seen, calls
		}
	}
}

func TestJournalPages(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	big, huge := strings.Repeat("x", rowBody), strings.Repeat("x", rowBody+1)
	for i := range 3 * watchPage {
		row := sdk.JournalRow{Kind: sdk.KindEntrySet, Project: 1 + int64(i%2), Run: 7 + int64(i%2)}
		switch { // of the first rows, every other one has a body
		case i > 40:
		case i%4 == 0:
			row.Body = &big
		case i%4 == 2:
			row.Body = &huge
		}
		h.store.commit(row)
	}
	all, calls := pages(t, c, rpc.JournalParams{Limit: 1000})
	wantConsecutive(t, all, 1, 3*watchPage)
	if calls != 2 {
		t.Errorf("%d bytes of bodies came in %d pages", 11*rowBody, calls)
	}
	some, _ := pages(t, c, rpc.JournalParams{After: 100, Limit: 7})
	wantConsecutive(t, some, 101, 3*watchPage)
	one, _ := pages(t, c, rpc.JournalParams{Project: "/p/two"})
	if len(one) != 3*watchPage/2 || one[0] != 2 {
		t.Errorf("the other project has %d rows from %v", len(one), one[:1])
	}
	run, _ := pages(t, c, rpc.JournalParams{Run: "8"})
	if len(run) != 3*watchPage/2 || run[0] != 2 {
		t.Errorf("the run has %d rows", len(run))
	}
	page, err := c.Journal(t.Context(), rpc.JournalParams{Limit: 3})
	if err != nil || page.Next != 3 || page.Seq != 3*watchPage || page.Rows[0].Body == nil || page.Rows[2].Body != nil {
		t.Errorf("%d rows, next %d, %v", len(page.Rows), page.Next, err)
	}
	for _, p := range []rpc.JournalParams{{After: -1}, {After: 1000}, {Limit: -1}, {Project: "p"}} {
		if _, err := c.Journal(t.Context(), p); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// A page passes over a bounded number of others' rows, and says where to go on.
func TestJournalPagesOfAQuietProject(t *testing.T) {
	h := open(t, nil)
	h.store.commit(make([]sdk.JournalRow, 2*journalScan)...)
	h.store.commit(sdk.JournalRow{Project: 2, Run: 8})
	seen, calls := pages(t, h.client(t), rpc.JournalParams{Project: "/p/two"})
	if len(seen) != 1 || seen[0] != 2*journalScan+1 || calls != 3 {
		t.Errorf("%v in %d pages", seen, calls)
	}
}

// TestJournalPageEndsAtItsSeq: a page has no row that was committed and is not announced
// yet, for nobody could go on behind it.
func TestJournalPageEndsAtItsSeq(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	h.store.commit(make([]sdk.JournalRow, 3)...)
	h.store.mu.Lock()
	h.store.unannounced = 1
	h.store.mu.Unlock()
	page, err := c.Journal(t.Context(), rpc.JournalParams{})
	if err != nil || len(page.Rows) != 2 || page.Seq != 2 {
		t.Errorf("%d rows up to %d, %v", len(page.Rows), page.Seq, err)
	}
}

// unsteady dials connections that break after some bytes.
func unsteady(path string, seed uint64) func(context.Context) (net.Conn, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		return &breaking{Conn: c, left: 20_000 + random.IntN(60_000)}, nil
	}
}

type breaking struct {
	net.Conn
	left int
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.Close()
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Followers of one run see the same rows in the same order, wherever they
// begin, however slowly they read and however often their connection breaks.
func TestFollowersSeeTheSame(t *testing.T) {
	h := open(t, func(c *Config) {
		c.Limits = Limits{RingRows: 8, RingBytes: 16 << 10, Patience: 5 * time.Millisecond}
	})
	const total, begin = 600, 200
	h.store.commit(rows(begin, 7)...)
	var following sync.WaitGroup
	got := make([][]string, 4)
	for i, after := range []int64{0, 0, 100, begin} {
		c := &client.Client{Socket: h.path}
		if i%2 == 1 {
			c.Dial = unsteady(h.path, uint64(i))
		}
		following.Go(func() {
			defer func() { _ = c.Close() }()
			ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
			defer cancel()
			err := c.Follow(ctx, client.Watch{Run: 7, After: after}, func(e client.Event) error {
				got[i] = append(got[i], fmt.Sprint(e.Row.Seq, *e.Row.Body))
				if i > 0 && len(got[i])%50 == 0 {
					time.Sleep(15 * time.Millisecond) // longer than the server's patience
				}
				if e.Row.Seq == total {
					return client.ErrDone
				}
				return nil
			})
			if err != nil {
				t.Errorf("follower %d: %v after %d rows", i, err, len(got[i]))
			}
		})
	}
	for range total - begin {
		h.store.commit(rows(1, 7)...)
	}
	following.Wait()
	for i, after := range []int{0, 0, 100, begin} {
		if len(got[i]) != total-after {
			t.Fatalf("follower %d saw %d rows, want %d", i, len(got[i]), total-after)
		}
		for n, row := range got[i] {
			if row != got[0][after+n] {
				t.Fatalf("follower %d: row %d is %.40s and not %.40s", i, n, row, got[0][after+n])
			}
		}
	}
}
