package skill

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

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

// Pin copies a skill's folder to RUNDIR/skills/NAME, which the run's container
// shows as /skills/NAME. The copy is there whole or not at all. One that is
// there already stays, whatever the folder holds now: a run keeps what it
// loaded.
//
// With want, which is what a person trusted, the copy must have this hash and
// hold the SKILL.md that the skill was read from; otherwise it is a Conflict
// and there is no copy. Without it, what cannot be copied is left out and named.
func Pin(ctx context.Context, d sdk.Skill, runDir string, want string) (Pinned, error) {
	if d.Name == "" || d.Name == "." || !filepath.IsLocal(d.Name) || strings.ContainsAny(d.Name, "/\x00") {
		return Pinned{}, sdk.Errorf(sdk.Validation, "%.80q cannot be the name of a skill's folder", d.Name)
	}
	at := filepath.Join(runDir, "skills", d.Name)
	if p, err := pinned(ctx, at); err == nil || sdk.OutcomeOf(err) != sdk.NotFound {
		return p, err
	}
	fresh := filepath.Join(runDir, "skills.new")
	for _, dir := range []string{filepath.Dir(at), fresh} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Pinned{}, unpinned(d, err)
		}
	}
	sweepPins(fresh)
	c := pinCopy{skill: d, folder: filepath.Join(fresh, newPin())}
	p, err := c.make(ctx, want)
	if err == nil {
		p.Folder = at
		err = c.putInPlace(at)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(c.folder))
	}
	if errors.Is(err, fs.ErrExist) { // the run loaded it at the same time
		return pinned(ctx, at)
	}
	if err != nil {
		return Pinned{}, unpinned(d, err)
	}
	return p, nil
}

func unpinned(d sdk.Skill, err error) error {
	outcome := sdk.OutcomeOf(err)
	if outcome == sdk.Internal {
		outcome = sdk.Unavailable // the run's folder did not take it
	}
	return sdk.Errorf(outcome, "the skill %s cannot be copied for the run: %w", d.Name, err)
}

// pinned describes a copy that is there.
func pinned(ctx context.Context, at string) (Pinned, error) {
	c, err := ReadContents(ctx, at, 0)
	if err != nil {
		return Pinned{}, err
	}
	p := Pinned{Folder: at, Hash: c.Hash}
	p.name(c.Files)
	return p, nil
}

func (p *Pinned) name(files []File) {
	for _, f := range files[:min(len(files), maxNamed)] {
		p.Files = append(p.Files, f.Path)
	}
	p.More = len(files) - len(p.Files)
}

// Pins that are being made have the name of their process before their own, so
// that what a dead daemon left is known.
var thisProcess = sync.OnceValue(rand.Text)

func newPin() string { return thisProcess() + "-" + rand.Text() }

// sweepPins removes what a dead daemon had begun to copy. What cannot be
// removed is tried again with the next skill that is loaded.
func sweepPins(dir string) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name.Name(), thisProcess()+"-") {
			_ = os.RemoveAll(filepath.Join(dir, name.Name()))
		}
	}
}

// pinCopy is a copy that is being made.
type pinCopy struct {
	skill  sdk.Skill
	folder string
}

// make copies the files. They cannot be written to; the folders can, or the run
// could not be deleted. The container's mount is read-only as a whole.
func (c *pinCopy) make(ctx context.Context, want string) (p Pinned, err error) {
	root, err := openFolder(c.skill.Folder)
	if err != nil {
		return p, err
	}
	defer func() { _ = root.Close() }()
	if err := os.Mkdir(c.folder, 0o755); err != nil {
		return p, err
	}
	to, err := os.OpenRoot(c.folder)
	if err != nil {
		return p, err
	}
	defer func() { _ = to.Close() }()
	w := walk{root: root, strict: want != ""}
	if err := w.all(); err != nil {
		return p, err
	}
	contents, err := w.read(ctx, func(x found, f *File, r io.Reader) error { return copyFile(to, x.path, f.Executable, r) })
	if err != nil {
		return p, err
	}
	if want != "" && (contents.Hash != want || !contents.Hold(c.skill)) {
		return p, sdk.Errorf(sdk.Conflict, "its files are not those that were trusted: `bothy trust %s` shows what changed", c.skill.Name)
	}
	p = Pinned{Hash: contents.Hash, Skipped: w.skipped}
	p.name(contents.Files)
	return p, syncFolder(to)
}

// copyFile writes one file of the copy, and has it on the disk: what a run
// loaded is there after a power cut too.
func copyFile(to *os.Root, path string, executable bool, r io.Reader) (err error) {
	defer func() {
		if err != nil {
			err = sdk.Errorf(sdk.Unavailable, "write %s: %w", path, err)
		}
	}()
	if err := to.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o444)
	if executable {
		mode = 0o555
	}
	f, err := to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, r); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync()) // whatever the process's mask is
	}
	return errors.Join(err, f.Close())
}

func syncFolder(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// putInPlace makes the copy the run's. A folder that is there is not replaced.
func (c *pinCopy) putInPlace(at string) error {
	if err := os.Rename(c.folder, at); err != nil {
		return err
	}
	parent, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(parent), parent.Close())
}
