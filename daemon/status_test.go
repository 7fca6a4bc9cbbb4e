package daemon

import (
	"os"
	"strings"
	"testing"
)

// TestStatusSaysThatWritesAreRefused as long as they are, and once in the log.
func TestStatusSaysThatWritesAreRefused(t *testing.T) {
	d, _ := quietly(t, noPlugins)
	refusals := func() (found []string) {
		t.Helper()
		s, err := d.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range s.Problems {
			if strings.Contains(text, "writes are refused since ") {
				found = append(found, text)
			}
		}
		return found
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if got := refusals(); len(got) != 0 {
		t.Fatalf("at first: %q", got)
	}
	wal := d.paths.Store + "-wal"
	move(wal, wal+".away")
	for range 2 {
		if _, err := d.store.OpenProject(t.Context(), "/nowhere"); err == nil {
			t.Fatal("a write went through")
		}
		if got := refusals(); len(got) != 1 || !strings.Contains(got[0], wal+" was deleted or moved") {
			t.Fatalf("refused: %q", got)
		}
	}
	move(wal+".away", wal)
	if _, err := d.store.OpenProject(t.Context(), "/nowhere"); err != nil {
		t.Fatal(err)
	}
	if got := refusals(); len(got) != 0 {
		t.Errorf("at last: %q", got)
	}
	log, err := os.ReadFile(d.paths.Log)
	if n := strings.Count(string(log), "the store takes no writes"); err != nil || n != 1 {
		t.Errorf("the log says %d times that writes are refused, %v", n, err)
	}
}

func TestStatusSaysThatTheDaemonStops(t *testing.T) {
	d, _ := quietly(t, noPlugins)
	for _, want := range []bool{false, true} {
		if s, err := (d).Status(t.Context()); err != nil || s.Stopping != want {
			t.Errorf("stopping: %v, %v; want %v", s.Stopping, err, want)
		}
		d.stop()
	}
}
