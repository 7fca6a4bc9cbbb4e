package scaffold

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestConfig: nothing is overwritten, and what was there is kept.
func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "not", "there", "config.hcl")
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if kept, err := Config(file, false, now); err != nil || kept != "" {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(file, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Config(file, false, now); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a second time: %v", err)
	}
	kept, err := Config(file, true, now)
	if err != nil || kept != file+".20260304-050607" {
		t.Fatalf("%s %v", kept, err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "# mine\n" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := Config(file, true, now); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("twice in a second: %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
