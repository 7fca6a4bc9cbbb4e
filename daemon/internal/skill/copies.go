package skill

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Copies makes and finds the copies that runs have of skills' folders.
type Copies struct {
	Trusted func(project, name, folderHash string) bool // as in Options
	Runs    Runs                                        // for Fork alone
}

// Runs are the runs and what they have loaded.
type Runs interface {
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Make copies a skill's folder for a run. It takes the place of what is there:
// without an entry that tells of it, a copy is what a dead daemon left. The
// folder of a workspace's skill is copied only as it was trusted.
func (c Copies) Make(ctx context.Context, project string, s sdk.Skill, runDir string) (Pinned, error) {
	want := ""
	if s.Tier == sdk.TierWorkspace {
		hash, err := FolderHash(s.Folder)
		if err != nil {
			return Pinned{}, err
		}
		if want = hash; !c.Trusted(project, s.Name, hash) {
			return Pinned{}, sdk.Errorf(sdk.Permission, "the files of the skill %s are not what was trusted; a person can look at them and trust them with `bothy trust`", s.Name)
		}
	}
	if err := removeCopy(runDir, s.Name); err != nil {
		return Pinned{}, err
	}
	return Pin(ctx, s, runDir, want)
}

// removeCopy removes a run's copy of a skill.
func removeCopy(runDir, name string) error {
	root, err := os.OpenRoot(filepath.Join(runDir, "skills"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(root.RemoveAll(name), root.Close())
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove what is left of the skill %s in the run's folder: %w", name, err)
	}
	return nil
}

// Find describes the copy that a run has; false when it has none.
func (Copies) Find(ctx context.Context, name, runDir string) (Pinned, bool) {
	if !filepath.IsLocal(name) {
		return Pinned{}, false
	}
	p, err := pinned(ctx, filepath.Join(runDir, "skills", name))
	return p, err == nil
}

// Fork gives a new run that is a fork its own copies of what its parent had
// loaded. What cannot be copied is made anew when it is used again, if it still
// can be.
func (c Copies) Fork(ctx context.Context, event sdk.RunEvent) error {
	if event.Run.Parent == 0 {
		return nil
	}
	parent, err := c.Runs.Run(ctx, event.Run.Parent)
	if err != nil {
		return err
	}
	entries, err := c.Runs.Entries(ctx, sdk.EntryQuery{Run: event.Run.ID, Glob: "skill://*"})
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		name := strings.TrimPrefix(e.Path, "skill://")
		folder := filepath.Join(filepath.Dir(event.RunDir), parent.Key, "skills", name)
		if _, err := os.Stat(folder); err != nil || !filepath.IsLocal(name) {
			continue
		}
		_, err := Pin(ctx, sdk.Skill{Name: name, Folder: folder, Path: filepath.Join(folder, fileName)}, event.RunDir, "")
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
