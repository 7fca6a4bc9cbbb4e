package config

import (
	"path/filepath"
	"testing"
)

// TestWorkspacesAreForgotten: a daemon that sees many projects keeps few.
func TestWorkspacesAreForgotten(t *testing.T) {
	ws := NewWorkspaces(func(string, Diagnostics) {})
	for range 3 * mostWorkspaces {
		ws.Of(&Config{}, filepath.Join(t.TempDir(), "x"))
	}
	if n := len(ws.known); n > mostWorkspaces {
		t.Errorf("%d are known", n)
	}
}
