package config

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// mostWorkspaces bounds how many files of workspaces are known at a time.
const mostWorkspaces = 64

// Workspaces are the own files of projects, read anew when they change. No tool
// can write them, so that their time and size tell.
type Workspaces struct {
	tell func(project string, diags Diagnostics)

	mu    sync.Mutex
	known map[string]knownWorkspace
}

type knownWorkspace struct {
	cfg  *Config // against which it was read
	file fileState
	w    Workspace
}

// fileState tells one state of a file from another.
type fileState struct {
	watch.Key
	missing bool
}

// NewWorkspaces begins with none. tell hears what is wrong with the file of a
// project whenever it was read: nothing, where it is in order or not there.
func NewWorkspaces(tell func(project string, diags Diagnostics)) *Workspaces {
	return &Workspaces{tell: tell, known: map[string]knownWorkspace{}}
}

// Of is what the file of a project says, read against cfg. Without a file it says nothing.
func (ws *Workspaces) Of(cfg *Config, project string) Workspace {
	if project == "" {
		return Workspace{}
	}
	state := stateOf(WorkspaceFile(project))
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if before := ws.known[project]; before.file == state && before.cfg == cfg {
		return before.w
	}
	w, diags := WorkspaceOf(project, cfg)
	ws.tell(project, diags) // also that nothing is wrong: a file that was mended may have been forgotten
	if len(ws.known) >= mostWorkspaces {
		clear(ws.known) // each is read again when it is asked for
	}
	ws.known[project] = knownWorkspace{cfg: cfg, file: state, w: w}
	return w
}

// WorkspaceOf reads the file of a project once. Without a file it says nothing.
func WorkspaceOf(project string, cfg *Config) (Workspace, Diagnostics) {
	file := WorkspaceFile(project)
	if stateOf(file).missing {
		return Workspace{}, nil
	}
	return ReadWorkspace(file, cfg)
}

// WorkspaceFile is where a project has its own configuration.
func WorkspaceFile(project string) string { return filepath.Join(project, ".bothy", "config.hcl") }

// stateOf looks at a file. One that is there and cannot be looked at is not
// missing: reading it says why.
func stateOf(file string) fileState {
	info, err := os.Stat(file)
	if err == nil {
		return fileState{Key: watch.KeyOf(info)}
	}
	_, err = os.Lstat(file)
	return fileState{missing: watch.Missing(err)}
}
