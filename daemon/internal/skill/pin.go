package skill

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// maxNamed is how many files of a copy are named.
const maxNamed = 50

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
	return pin(ctx, s, runDir, want)
}

// Find describes the copy that a run has; false when it has none.
func (Copies) Find(ctx context.Context, name, runDir string) (Pinned, bool) {
	if !filepath.IsLocal(name) {
		return Pinned{}, false
	}
	at := filepath.Join(runDir, "skills", name)
	c, err := ReadContents(ctx, at, 0)
	return newPinned(at, c), err == nil
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
		_, err := pin(ctx, sdk.Skill{Name: name, Folder: folder, Path: filepath.Join(folder, fileName)}, event.RunDir, "")
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// pin copies a skill's folder to RUNDIR/skills/NAME, which the run's container
// shows as /skills/NAME, in the place of what is there. The copy is there whole or
// not at all.
//
// With want, which is what a person trusted, the copy must have this hash and
// hold the SKILL.md that the skill was read from; otherwise it is a Conflict
// and there is no copy. Without it, what cannot be copied is left out and named.
func pin(ctx context.Context, d sdk.Skill, runDir string, want string) (Pinned, error) {
	if d.Name == "" || d.Name == "." || !filepath.IsLocal(d.Name) || strings.ContainsAny(d.Name, "/\x00") {
		return Pinned{}, sdk.Errorf(sdk.Validation, "%.80q cannot be the name of a skill's folder", d.Name)
	}
	at, made := filepath.Join(runDir, "skills", d.Name), filepath.Join(runDir, "skills.new", d.Name)
	err := errors.Join(os.RemoveAll(at), os.RemoveAll(made), os.MkdirAll(filepath.Dir(at), 0o700), os.MkdirAll(filepath.Dir(made), 0o700))
	var p Pinned
	if err == nil {
		p, err = copySkill(ctx, d, at, made, want)
	}
	if err == nil {
		return p, nil
	}
	outcome := sdk.OutcomeOf(err)
	if outcome == sdk.Internal {
		outcome = sdk.Unavailable // the run's folder did not take it
	}
	return Pinned{}, sdk.Errorf(outcome, "the skill %s cannot be copied for the run: %w", d.Name, errors.Join(err, os.RemoveAll(made)))
}

// copySkill makes the copy, and then puts it where it belongs. Its files cannot
// be written to; the folders can, or the run could not be deleted. The container's
// mount is read-only as a whole.
func copySkill(ctx context.Context, d sdk.Skill, at, made, want string) (p Pinned, err error) {
	root, err := openFolder(d.Folder)
	if err != nil {
		return p, err
	}
	defer func() { _ = root.Close() }()
	if err := os.Mkdir(made, 0o755); err != nil {
		return p, err
	}
	to, err := os.OpenRoot(made)
	if err != nil {
		return p, err
	}
	defer func() { _ = to.Close() }()
	w := walk{root: root, strict: want != ""}
	if err := w.all(); err != nil {
		return p, err
	}
	contents, err := w.read(ctx, func(f *File) (io.WriteCloser, error) { return newCopy(to, f) })
	if err != nil {
		return p, err
	}
	if want != "" && (contents.Hash != want || !contents.Hold(d)) {
		return p, sdk.Errorf(sdk.Conflict, "its files are not those that were trusted: `bothy trust %s` shows what changed", d.Name)
	}
	p = newPinned(at, contents)
	p.Skipped = w.skipped
	if err := syncFolder(made); err != nil {
		return p, err
	}
	return p, errors.Join(os.Rename(made, at), syncFolder(filepath.Dir(at)))
}

// copied is one file of a copy that is being written. What is closed is on the
// disk: what a run loaded is there after a power cut too.
type copied struct {
	*os.File
	mode fs.FileMode
}

func newCopy(to *os.Root, f *File) (io.WriteCloser, error) {
	mode := fs.FileMode(0o444)
	if f.Executable {
		mode = 0o555
	}
	err := to.MkdirAll(filepath.Dir(f.Path), 0o755)
	var file *os.File
	if err == nil {
		file, err = to.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	}
	if err != nil {
		return nil, unwritten(f.Path, err)
	}
	return copied{file, mode}, nil
}

func (c copied) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	return n, unwritten(c.Name(), err)
}

func (c copied) Close() error {
	return unwritten(c.Name(), errors.Join(c.Chmod(c.mode), c.Sync(), c.File.Close())) // whatever the process's mask is
}

func unwritten(path string, err error) error {
	if err == nil {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "write %s: %w", path, err)
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
