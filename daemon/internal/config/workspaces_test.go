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

// TestAMendedFileOfAForgottenProject: what was told of it is taken back.
func TestAMendedFileOfAForgottenProject(t *testing.T) {
	told := map[string]int{} // mistakes
	ws := NewWorkspaces(func(project string, diags Diagnostics) { told[project] = len(diags) })
	cfg, project := &Config{}, t.TempDir()
	writeFile(t, WorkspaceFile(project), "guard {\n")
	ws.Of(cfg, project)
	if told[project] != 1 {
		t.Fatalf("told of %d", told[project])
	}
	for range mostWorkspaces {
		ws.Of(cfg, t.TempDir())
	}
	writeFile(t, WorkspaceFile(project), "guard {}\n")
	if ws.Of(cfg, project); told[project] != 0 {
		t.Errorf("%d mistakes are left", told[project])
	}
}
