package packet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/mirror"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// crowded is the entries of a run: so many of 400 bytes, of which one in ten is visible.
func crowded(n int) []sdk.Entry {
	all := []sdk.Entry{prompt(1, "task")}
	for i := range n {
		v := sdk.Summarized
		if i%10 == 0 {
			v = sdk.Visible
		}
		all = append(all, entry(fmt.Sprintf("known://%d", i), strings.Repeat("word ", 80), level(v)))
	}
	return all
}

// BenchmarkAssemble reports how long a turn takes to make its prompt of so many entries of 400 bytes, up to what is sent, the hash of
// that apart: with nothing read and rendered yet, with the entries in memory and nothing rendered, and after one of them changed.
// At 10,000 the last is to take 6 ms, and a quarter of the second.
func BenchmarkAssemble(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := stored(b, crowded(n))
			d, m := newDesk(), mirror.Of(r.store, r.run.ID)
			turn := func() time.Duration {
				began := time.Now()
				entries, err := m.Refresh(b.Context())
				if err != nil || len(entries) != n+1 {
					b.Fatalf("%d entries, %v", len(entries), err)
				}
				in := assembly(1, entries...)
				in.Run, in.Context = r.run, 10_000_000
				if _, err := d.send(b, in); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			store, memory, changed := time.Hour, time.Hour, time.Hour
			for i := range b.N { // a busy machine only adds to each
				m = mirror.Of(r.store, r.run.ID)
				d.Forget(r.run.ID)
				store = min(store, turn())
				d.Forget(r.run.ID)
				memory = min(memory, turn())
				r.write(b, fmt.Sprintf("known://%d", n/2), fmt.Sprintf("%d %s", i, strings.Repeat("word ", 79)))
				changed = min(changed, turn())
			}
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(ms(store), "store-ms")
			b.ReportMetric(ms(memory), "mirror-ms")
			b.ReportMetric(ms(changed), "changed-ms")
			b.ReportMetric(changed.Seconds()/memory.Seconds(), "changed-of-mirror")
		})
	}
}

// kept is a run in a store.
type kept struct {
	store *store.Store
	run   sdk.Run
}

func stored(b *testing.B, entries []sdk.Entry) (k kept) {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bothy-packet-")
	if err != nil {
		dir = b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if k.store, err = store.Open(b.Context(), filepath.Join(dir, "bothy.db"), store.Options{}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = k.store.Close() })
	project, err := k.store.OpenProject(b.Context(), "/p")
	if err != nil {
		b.Fatal(err)
	}
	if k.run, err = k.store.CreateRun(b.Context(), sdk.Run{Project: project.ID, Alias: "r"}); err != nil {
		b.Fatal(err)
	}
	for some := range slices.Chunk(entries, 1000) {
		c := sdk.Change{Run: k.run.ID}
		for i := range some {
			e := &some[i]
			c.Writes = append(c.Writes, sdk.Write{Path: e.Path, Body: &e.Body, Visibility: e.Visibility, State: e.State, Writer: sdk.WriterPlugin, Loop: e.Loop, Turn: e.Turn})
		}
		if _, err := k.store.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	return k
}

func (k kept) write(b *testing.B, path, body string) {
	b.Helper()
	if _, err := k.store.Commit(b.Context(), sdk.Change{Run: k.run.ID, Writes: []sdk.Write{{Path: path, Body: &body, Writer: sdk.WriterPlugin}}}); err != nil {
		b.Fatal(err)
	}
}

// TestATurnCostsWhatChanged: after one of its entries changed that one is rendered, and no other; and a packet of ten times as many
// takes no more allocations but for the slices that grow.
func TestATurnCostsWhatChanged(t *testing.T) {
	each := func(n int) float64 {
		d := newDesk()
		in := assembly(1, crowded(n)...)
		in.Context = 10_000_000
		var before sdk.Prompt
		return testing.AllocsPerRun(5, func() {
			in.Entries[n/2].Version++
			p, err := d.send(t, in)
			if err != nil {
				t.Fatal(err)
			}
			anew := 0
			for i := range before.Rows {
				if p.Rows[i] != before.Rows[i] {
					anew++
				}
			}
			if before.Rows != nil && anew != 1 {
				t.Errorf("of %d rows %d were rendered", len(p.Rows), anew)
			}
			before = p
		})
	}
	few, many := each(500), each(5000)
	if many > few*1.15 {
		t.Errorf("a turn takes %.0f allocations with 500 entries and %.0f with 5,000", few, many)
	}
}

// TestALongTextIsCountedOnce: whoever asks what a packet costs that was counted by its rows reads none of it.
func TestALongTextIsCountedOnce(t *testing.T) {
	d := newDesk()
	in := assembly(1, append(crowded(200), entry("known://odd", "no text: \xff\xe4<\xf0"+strings.Repeat("ä", longText)))...)
	in.Context = 10_000_000
	p, err := d.send(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.counted.texts) != 1 || d.counted.texts[0].text != p.Messages[0].Text {
		t.Fatalf("%d texts are kept", len(d.counted.texts))
	}
	if got, want := d.counted.texts[0].characters, view.Characters(p.Messages[0].Text); got != want {
		t.Errorf("its rows say %d characters, and it has %d", got, want)
	}
	d.counted.texts[0].characters = 7
	if got := d.characters(p.Messages); got != 7 {
		t.Errorf("it was counted anew, to %d", got)
	}
	for i := range 3 * mostTexts {
		d.counted.of(strings.Repeat("x", longText+i))
	}
	if len(d.counted.texts) > mostTexts {
		t.Errorf("%d texts are kept", len(d.counted.texts))
	}
}
