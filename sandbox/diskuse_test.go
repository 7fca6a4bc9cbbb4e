//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func sum(folder string) int64 {
	d := diskUse{stop: never, until: time.Now().Add(time.Minute)}
	d.add(folder)
	return d.bytes
}

func TestDiskUse(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, bytes int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grown := func(what string, least, most int64, change func()) {
		t.Helper()
		before := sum(dir)
		change()
		if got := sum(dir) - before; got < least || got > most {
			t.Errorf("%s: grew by %d, want %d to %d", what, got, least, most)
		}
	}
	grown("a file", mib, mib+64<<10, func() { put("a", mib) })
	grown("deep down", mib, mib+256<<10, func() { put("b/c/d/e/f", mib) })
	grown("a second name", 0, 8<<10, func() { must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "again"))) })
	grown("a file with holes", 0, 64<<10, func() { put("hole", 0); must(t, os.Truncate(filepath.Join(dir, "hole"), gib)) })
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "big"), make([]byte, mib), 0o600))
	grown("a link", 0, 8<<10, func() { must(t, os.Symlink(other, filepath.Join(dir, "link"))) })
	grown("a deleted file that is open", 0, 8<<10, func() {
		put("gone", mib)
		f, err := os.Open(filepath.Join(dir, "gone"))
		must(t, err)
		t.Cleanup(func() { _ = f.Close() })
		must(t, os.Remove(filepath.Join(dir, "gone")))
	})
	grown("a closed folder", mib, mib+64<<10, func() {
		put("closed/file", mib)
		must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	})
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0o700))
	if got := sum(filepath.Join(dir, "missing")); got != 0 {
		t.Errorf("what is not there holds %d", got)
	}
}

func TestDiskUseStops(t *testing.T) {
	dir := t.TempDir()
	for i := range 600 {
		must(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i%26))+time.Duration(i).String()), []byte("x"), 0o600))
	}
	for name, d := range map[string]*diskUse{
		"time":   {stop: never, until: time.Now().Add(-time.Second)},
		"asked":  {stop: func() bool { return true }, until: time.Now().Add(time.Minute)},
		"number": {stop: never, until: time.Now().Add(time.Minute), entries: mostEntries - 256},
	} {
		before := d.entries
		d.add(dir)
		if seen := d.entries - before; seen > 256 {
			t.Errorf("%s: %d entries", name, seen)
		}
	}
}

// A command is ended for a full disk only when it filled it itself.
func TestFullDiskIsJudged(t *testing.T) {
	dir := t.TempDir()
	now := freeBytes(dir)
	if now < 0 {
		t.Fatal("no statfs")
	}
	if reserve != 256*mib || share != 64*mib || slack != mib {
		t.Errorf("the pages say 256 MB, 64 MB and 1 MB: got %d, %d and %d bytes", reserve, share, slack)
	}
	m := &meter{folders: []string{dir}, disks: []string{dir}}
	for name, c := range map[string]struct {
		before int64
		used   int64
		full   bool
		over   bool
	}{
		"room enough":    {now + share*2, 0, now < reserve, now < reserve},
		"over the quota": {now, 2 * mib, false, true},
		"what was there": {now, mib, false, false},
	} {
		m.used = c.used
		w := &watch{meter: m, quota: mib, limit: mib, free: []int64{c.before}}
		if got := w.judge(); (got != nil) != c.over || got != nil && got.Disk != c.full {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
