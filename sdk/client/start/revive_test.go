package start

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sdk/client"
)

// TestReviver: a daemon is started a few times, however long it took to die, and as often
// again once something was heard.
func TestReviver(t *testing.T) {
	dir := t.TempDir()
	died := 0
	r := Reviver{Daemon: &Daemon{Environ: []string{"BOTHY_PREFIX=" + dir}, Dir: dir}, Died: func() { died++ }}
	down := &client.NotRunningError{Socket: filepath.Join(dir, "s")}
	for range 2 {
		for range 3 * MostStarts {
			if err := r.Lost(t.Context(), client.ErrDisconnected); err != nil {
				t.Errorf("it may be there in a moment: %v", err)
			}
		}
		for range MostStarts {
			var none *UsageError
			if err := r.Lost(t.Context(), down); !errors.As(err, &none) {
				t.Errorf("there is no bothyd: %v", err)
			}
		}
		var often *DiedError
		if err := r.Lost(t.Context(), down); !errors.As(err, &often) || often.Times != MostStarts {
			t.Errorf("it died often: %v", err)
		}
		r.Heard()
	}
	if died != 2*MostStarts {
		t.Errorf("it was started %d times", died)
	}
}
