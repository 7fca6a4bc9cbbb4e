package project

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/store"
)

type hides struct{}

func (hides) Redact(text string) string                { return strings.ReplaceAll(text, "hunter2", "[gone]") }
func (hides) JSON(raw json.RawMessage) json.RawMessage { return raw }

// TestSecretInAName: a file that has a secret as its name is left out, and all others are there.
func TestSecretInAName(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{Redact: hides{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f := grownIn(t, s, tree(t, map[string]string{"a": "a", "b/hunter2.txt": "b", "c": "c"}))
	f.scan()
	if got := strings.Join(f.paths(), " "); got != "a c" {
		t.Errorf("the entries are %s", got)
	}
}
