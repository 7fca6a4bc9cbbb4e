package offer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// mostKept is how many skills a project's folder keeps that nobody trusts: the oldest make room.
const mostKept = 8

// Options are what a Shelf needs. All are required.
type Options struct {
	Trusted func(project string) map[string]string       // the hashes that people trust, by the names of the skills: such are not removed to make room
	MayRead func(project string) func(path string) error // why a file of the project may not be read unasked
	Check   func(ctx context.Context, project string) error
}

// Shelf keeps what was taken. Its methods may be called concurrently.
type Shelf struct {
	root string
	o    Options
	mu   sync.Mutex
}

// New is the shelf in a folder of the daemon's own, which need not be there. Check is called when something new was put
// there, for catalogues to have it.
func New(root string, o Options) *Shelf { return &Shelf{root: root, o: o} }

// Folder is where a shelf keeps the skills of a project: one of its workspace tier.
func Folder(root, project string) string {
	return filepath.Join(root, short(project))
}

// slot is the folder of a skill within that of its project: the same text under another name lies in another one.
func slot(name, hash string) string { return short(name + " " + hash) }

// short names a folder after a text of any length.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Offered is a skill that was taken.
type Offered struct {
	Name    string
	Hash    string // of all that it holds, to which trust is bound
	Folder  string // where it is kept; the same content under the same name lies in the same folder
	Plugin  string // of a code skill
	Trusted bool   // a person trusts the hash under the name
}

// Path takes the folder, Markdown file or zip archive at a path below the project.
func (s *Shelf) Path(ctx context.Context, project, path string) (Offered, error) {
	if project == "" {
		return Offered{}, sdk.Errorf(sdk.Unavailable, "this run has no project below which %.200q could lie: name a skill of the list", path)
	}
	found, err := read(ctx, project, path, s.o.MayRead(project))
	if err != nil {
		return Offered{}, err
	}
	return s.keep(ctx, project, found)
}

// Text takes the text of a SKILL.md that was fetched; at is its address, after which a skill is called that gives
// itself no name.
func (s *Shelf) Text(ctx context.Context, project, at, text string) (Offered, error) {
	if project == "" {
		return Offered{}, sdk.Errorf(sdk.Unavailable, "this run has no project for which a person could trust the skill of %.200q: name a skill of the list", at)
	}
	if len(text) > skill.MaxFile {
		return Offered{}, sdk.Errorf(sdk.Validation, "%.200q is no skill: it has %d bytes, and a SKILL.md may have %d", at, len(text), skill.MaxFile)
	}
	return s.keep(ctx, project, single(at, []byte(text)))
}

// keep puts a skill on the shelf, unless it is there.
func (s *Shelf) keep(ctx context.Context, project string, found source) (Offered, error) {
	o, isNew, err := s.put(ctx, project, found)
	if err == nil && isNew {
		err = s.o.Check(ctx, project)
	}
	return o, err
}

func (s *Shelf) put(ctx context.Context, project string, found source) (o Offered, isNew bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := Folder(s.root, project)
	made := filepath.Join(s.root, "new")
	defer func() { _ = os.RemoveAll(made) }() // the next call removes it too
	err = errors.Join(os.RemoveAll(made), os.MkdirAll(at, 0o700), os.Mkdir(made, 0o700))
	if err != nil {
		return o, false, sdk.Errorf(sdk.Unavailable, "the skill cannot be kept for a person to look at: %w", err)
	}
	if err := found.write(made); err != nil {
		return o, false, err
	}
	c, err := skill.ReadContents(ctx, made, 0)
	if err != nil {
		return o, false, err
	}
	d, err := document(made, found)
	if err != nil {
		return o, false, err
	}
	o = Offered{Name: d.Name, Hash: c.Hash, Folder: filepath.Join(at, slot(d.Name, c.Hash), d.Name), Plugin: d.Plugin}
	o.Trusted = s.o.Trusted(project)[o.Name] == o.Hash
	if there, err := skill.ReadContents(ctx, o.Folder, 0); err == nil && there.Hash == c.Hash {
		return o, false, nil
	}
	err = errors.Join(s.makeRoom(project), os.RemoveAll(filepath.Dir(o.Folder)), os.Mkdir(filepath.Dir(o.Folder), 0o700))
	if err == nil {
		err = os.Rename(made, o.Folder)
	}
	if err != nil {
		return o, false, sdk.Errorf(sdk.Unavailable, "the skill %s cannot be kept for a person to look at: %w", o.Name, err)
	}
	return o, true, nil
}

// document is the SKILL.md as it will be read where it is kept.
func document(made string, found source) (skill.Document, error) {
	text, err := os.ReadFile(filepath.Join(made, skillFile))
	if err != nil {
		return skill.Document{}, sdk.Errorf(sdk.Validation, "%.200q is no skill: it has no %s", found.at, skillFile)
	}
	d := skill.Parse(text, found.name)
	if !d.Loaded {
		why := "its fields cannot be read"
		if i := slices.IndexFunc(d.Diagnostics, frontmatter.IsError); i >= 0 {
			why = d.Diagnostics[i].Message
		}
		return d, sdk.Errorf(sdk.Validation, "the %s of %.200q cannot be loaded: %s", skillFile, found.at, why)
	}
	return d, nil
}

// makeRoom removes the oldest skills of a project that nobody trusts, until one more may come.
func (s *Shelf) makeRoom(project string) error {
	at := Folder(s.root, project)
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for name, hash := range s.o.Trusted(project) {
		kept[slot(name, hash)] = true
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && !kept[e.Name()] {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var failed []error
	for _, old := range infos[:max(len(infos)-mostKept+1, 0)] {
		failed = append(failed, os.RemoveAll(filepath.Join(at, old.Name())))
	}
	return errors.Join(failed...)
}
