package skill

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// Pinned is a run's own copy of a skill's folder.
type Pinned struct {
	Folder  string   // absolute
	Hash    string   // of what the copy holds
	Files   []string // relative, by path; at most maxNamed
	More    int      // files beside those
	Skipped []string // what was left out of the copy, and why
}

func newPinned(at string, c Contents) Pinned {
	p := Pinned{Folder: at, Hash: c.Hash}
	for _, f := range c.Files[:min(len(c.Files), maxNamed)] {
		p.Files = append(p.Files, f.Path)
	}
	p.More = len(c.Files) - len(p.Files)
	return p
}

// Copies makes and finds the copies that runs have of skills' folders. For one
// run and name nothing of it may be called twice at the same time.
type Copies struct {
	Trusted func(project string) map[string]string // as in Options
	Runs    Runs                                   // for Fork alone
}

// Runs are the runs and what they have loaded.
type Runs interface {
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Make copies a skill's folder for a run. It takes the place of what is there:
// without an entry that tells of it, a copy is what a dead daemon left. The
// folder of a workspace's skill is copied only as it was trusted. With a hash,
// which is that of what the run loaded, only what still has it is copied:
// Conflict when it has another.
func (c Copies) Make(ctx context.Context, project string, s sdk.Skill, runDir, hash string) (Pinned, error) {
	if s.Tier != sdk.TierWorkspace {
		return pin(ctx, s, runDir, hash, nil)
	}
	return pin(ctx, s, runDir, hash, func(hash string) bool { return hash == c.Trusted(project)[s.Name] })
}

// Find describes the copy that a run has of what it loaded, which had that hash;
// false when it has none. A copy of anything else is removed, for the run's commands
// would find it. One that cannot be read now is left as it is: it may be the only one.
func (Copies) Find(ctx context.Context, name, runDir, hash string) (Pinned, bool) {
	if name == "" || name == "." || !filepath.IsLocal(name) {
		return Pinned{}, false
	}
	at := filepath.Join(runDir, "skills", name)
	c, err := ReadContents(ctx, at, 0)
	if err == nil && c.Hash == hash {
		return newPinned(at, c), true
	}
	if err == nil || sdk.OutcomeOf(err) == sdk.Validation {
		_ = os.RemoveAll(at) // where that fails, making it anew says so
	}
	return Pinned{}, false
}

// Fork gives a new run that is a fork its own copies of what its parent had
// loaded, as its entries tell. What cannot be copied is made anew when it is used
// again, if it still can be.
func (c Copies) Fork(ctx context.Context, event sdk.RunEvent) error {
	if event.Run.Parent == 0 {
		return nil
	}
	parent, err := c.Runs.Run(ctx, event.Run.Parent)
	if err != nil {
		return err
	}
	entries, err := c.Runs.Entries(ctx, sdk.EntryQuery{Run: event.Run.ID, Pattern: "skill://*"})
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
		var was struct {
			Hash string `json:"folder_hash"`
		}
		err := json.Unmarshal(e.Attributes, &was)
		if err == nil {
			_, err = pin(ctx, sdk.Skill{Name: name, Folder: folder, Path: filepath.Join(folder, fileName)}, event.RunDir, was.Hash, nil)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// pin copies a skill's folder to RUNDIR/skills/NAME, which the run's container
// shows as /skills/NAME, in the place of what is there. The copy is there whole or
// not at all.
//
// With a hash the copy is made only when it has that one. With trusted, which says
// whether a person trusts a hash, it is made only when it has such a hash and holds
// the SKILL.md that the skill was read from. Without that, what cannot be copied is
// left out and named.
func pin(ctx context.Context, d sdk.Skill, runDir, hash string, trusted func(hash string) bool) (Pinned, error) {
	if d.Name == "" || d.Name == "." || !filepath.IsLocal(d.Name) || strings.ContainsAny(d.Name, "/\x00") {
		return Pinned{}, sdk.Errorf(sdk.Validation, "%.80q cannot be the name of a skill's folder", d.Name)
	}
	at, made := filepath.Join(runDir, "skills", d.Name), filepath.Join(runDir, "skills.new", d.Name)
	p, err := Pinned{}, errors.Join(os.RemoveAll(made), os.MkdirAll(filepath.Dir(at), 0o700), os.MkdirAll(filepath.Dir(made), 0o700), os.Mkdir(made, 0o755))
	if hash == "" { // else what is there may be what the run loaded
		err = errors.Join(err, os.RemoveAll(at))
	}
	if err == nil {
		p, err = copySkill(ctx, d, made, hash, trusted)
	}
	if err == nil {
		err = errors.Join(os.RemoveAll(at), os.Rename(made, at), durable.Folder(filepath.Dir(at)))
	}
	if err == nil {
		p.Folder = at
		return p, nil
	}
	outcome := sdk.OutcomeOf(err)
	if outcome == sdk.Internal {
		outcome = sdk.Unavailable // the run's folder did not take it
	}
	return Pinned{}, sdk.Errorf(outcome, "the skill %s cannot be copied for the run: %w", d.Name, errors.Join(err, os.RemoveAll(made)))
}

// copySkill copies into a folder that is empty. The files cannot be written to; the
// folders can, or the run could not be deleted. The container's mount is read-only
// as a whole. What a run loaded is on the disk: it is there after a power cut too.
func copySkill(ctx context.Context, d sdk.Skill, made, hash string, trusted func(hash string) bool) (p Pinned, err error) {
	w := walk{strict: trusted != nil}
	if err := w.all(d.Folder); err != nil {
		return p, err
	}
	defer w.end()
	contents, err := w.read(ctx, func(f *File, content []byte) error {
		if err := copyFile(filepath.Join(made, f.Path), f.Executable, content); err != nil {
			return sdk.Errorf(sdk.Unavailable, "write %s: %w", f.Path, err)
		}
		return nil
	})
	if err != nil {
		return p, err
	}
	if trusted != nil && (!trusted(contents.Hash) || !contents.Hold(d)) {
		return p, sdk.Errorf(sdk.Permission, "its files are not what was trusted; a person can look at them and trust them with `bothy trust %s`", d.Name)
	}
	if hash != "" && contents.Hash != hash {
		return p, sdk.Errorf(sdk.Conflict, "its files are not those that the run loaded")
	}
	p = newPinned(made, contents)
	p.Skipped = w.skipped
	return p, durable.Folder(made)
}

func copyFile(at string, executable bool, content []byte) error {
	mode := fs.FileMode(0o444)
	if executable {
		mode = 0o555
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()) // whatever the process's mask is
}
