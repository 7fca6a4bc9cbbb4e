package project

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

const (
	mostPut      = 500      // entries that one commit of a scan makes
	mostBody     = 1 << 20  // bytes of a file that is kept as the body of its entry
	mostGotten   = 10 << 20 // bytes of a file that are read for somebody
	mostManifest = 1 << 20  // bytes of the list of a project's files
)

// Kept is where a Tree has the entries and constraints of projects (package store).
type Kept interface {
	Project(ctx context.Context, id int64) (sdk.Project, error)
	ProjectFiles(ctx context.Context, project int64) ([]sdk.ProjectFile, error)
	ProjectFile(ctx context.Context, project int64, path string) (sdk.ProjectFile, bool, error)
	PutFiles(ctx context.Context, project int64, files []sdk.FileWrite) error
	Constraints(ctx context.Context, project int64) ([]sdk.FileConstraint, error)
	ConstraintsAt(ctx context.Context, root string) ([]sdk.FileConstraint, error)
	Constrain(ctx context.Context, project int64, pattern string, to sdk.Constraint) error
}

// Tree makes entries of the files of projects, and keeps them as the disk has them (decision 90). Its methods may
// be called concurrently; of one project one scan works at a time.
type Tree struct {
	Files
	kept Kept
	may  func(project string) func(at string) error

	mu   sync.Mutex
	busy map[int64]chan struct{} // by project; full while one works
}

// NewTree makes the tree of all projects, which reads no file's contents for anybody before Under is called.
func NewTree(kept Kept) *Tree {
	nobody := func(string) func(string) error {
		return func(at string) error { return sdk.Errorf(sdk.Unavailable, "%s cannot be read yet", at) }
	}
	return &Tree{kept: kept, may: nobody, busy: map[int64]chan struct{}{}}
}

// Under is the tree, for which may says, for a project, why a file's contents may not be read unasked.
func (t *Tree) Under(may func(project string) func(at string) error) *Tree {
	t.may = may
	return t
}

// alone waits until nothing else scans a project, or nobody waits for it any more.
func (t *Tree) alone(ctx context.Context, project int64) (done func(), err error) {
	t.mu.Lock()
	busy := t.busy[project]
	if busy == nil {
		busy = make(chan struct{}, 1)
		t.busy[project] = busy
	}
	t.mu.Unlock()
	select {
	case busy <- struct{}{}:
		return func() { <-busy }, nil
	case <-ctx.Done():
		return nil, sdk.Errorf(sdk.Unavailable, "the project is being scanned: %w", context.Cause(ctx))
	}
}

// Scan makes the entries of a project's files what the disk has. A file of the same size and time is taken for the
// same, and so is not read. What it found is committed 500 entries at a time: after a crash the next scan
// goes on. What was not reached, because there is more than it looks at or because a folder cannot be read, stays.
func (t *Tree) Scan(ctx context.Context, p sdk.Project) (sdk.Scanned, error) {
	leave, err := t.alone(ctx, p.ID)
	if err != nil {
		return sdk.Scanned{}, err
	}
	defer leave()
	all, err := t.kept.ProjectFiles(ctx, p.ID)
	if err != nil {
		return sdk.Scanned{}, err
	}
	u, err := t.update(ctx, p, all)
	if err != nil {
		return sdk.Scanned{}, err
	}
	defer u.close()
	s := &scan{ctx: ctx, rules: u.rules, each: u.look}
	err = s.folder(u.root, "", ignoredAbove(u.where), false, 0)
	if err == nil {
		err = u.sweep(s)
	}
	switch {
	case err == nil:
		err = u.flush()
	case ctx.Err() != nil: // what took the time is kept, else the next scan would come no further
		u.ctx = context.WithoutCancel(ctx)
		err = cmp.Or(u.flush(), err)
	}
	u.done.Files, u.done.Left, u.done.Partial = s.files, s.left, s.partial
	return u.done, err
}

// Refresh looks at some paths of a project again, whatever their size and time.
func (t *Tree) Refresh(ctx context.Context, p sdk.Project, paths []string) error {
	leave, err := t.alone(ctx, p.ID)
	if err != nil {
		return err
	}
	defer leave()
	var known []sdk.ProjectFile
	for _, at := range paths {
		f, is, err := t.kept.ProjectFile(ctx, p.ID, at)
		if err != nil {
			return err
		}
		if is {
			f.Time = f.Time.Add(-1) // it is read
			known = append(known, f)
		}
	}
	u, err := t.update(ctx, p, known)
	if err != nil {
		return err
	}
	defer u.close()
	for _, at := range paths {
		if err := u.only(at, true); err != nil {
			return err
		}
	}
	return u.flush()
}

// update is the work on the entries of a project.
type update struct {
	tree  *Tree
	ctx   context.Context //nolint:containedctx // of one scan
	p     sdk.Project
	where string
	root  *os.Root
	rules constraints
	known map[string]sdk.ProjectFile // what was not seen yet
	reads reader
	may   func(at string) error // made when it is first asked
	puts  []sdk.FileWrite
	done  sdk.Scanned
}

func (t *Tree) update(ctx context.Context, p sdk.Project, known []sdk.ProjectFile) (*update, error) {
	set, err := t.kept.Constraints(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	root, where, err := openFiles(p.Root)
	if err != nil {
		return nil, err
	}
	u := &update{tree: t, ctx: ctx, p: p, where: where, root: root, rules: readConstraints(set), known: make(map[string]sdk.ProjectFile, len(known)), reads: reader{room: mostScanned}}
	for _, f := range known {
		u.known[f.Path] = f
	}
	return u, nil
}

func (u *update) close() { _ = u.root.Close() } // it was only read

// look compares a file with its entry.
func (u *update) look(f found) error {
	was, known := u.known[f.at]
	delete(u.known, f.at)
	now := factsOf(f.info)
	unread := was.SHA256 == "" && now.Size <= min(mostHashed, u.reads.room) // of before, when there was no room for it
	if known && now.Size == was.Size && now.Time.Equal(was.Time) && !unread {
		return nil
	}
	c := u.reads.read(f)
	if known && c.Same(was.FileFacts) {
		return nil
	}
	put := sdk.FileWrite{Path: f.at, Facts: &c.FileFacts}
	if known && was.InSight {
		text := ""
		if c.isText && c.Size <= mostBody && u.allowed(f.at) == nil {
			text = string(c.text)
		}
		put.Text = &text
	}
	u.done.Changed++
	return u.put(put)
}

func (u *update) allowed(at string) error {
	if u.may == nil {
		u.may = u.tree.may(u.p.Root)
	}
	return u.may(at)
}

// sweep removes the entries of files that were not seen, but in folders that could not be read. Where the scan ended
// before the end each of them is looked for.
func (u *update) sweep(s *scan) error {
	unread := make(map[string]bool, len(s.unread))
	for _, folder := range s.unread {
		unread[folder] = true
	}
	for _, at := range slices.Sorted(maps.Keys(u.known)) {
		if within(at, unread) {
			continue
		}
		err := u.only(at, s.halted)
		if err != nil {
			return err
		}
	}
	return nil
}

// within reports whether a path lies in one of some folders, of which "" is the project.
func within(at string, folders map[string]bool) bool {
	for i := strings.LastIndexByte(at, '/'); i >= 0; i = strings.LastIndexByte(at, '/') {
		if at = at[:i]; folders[at] {
			return true
		}
	}
	return folders[""]
}

// put keeps what becomes of an entry, and commits when that is many.
func (u *update) put(f sdk.FileWrite) error {
	u.puts = append(u.puts, f)
	if len(u.puts) < mostPut {
		return nil
	}
	return u.flush()
}

func (u *update) flush() error {
	if len(u.puts) == 0 {
		return nil
	}
	err := u.tree.kept.PutFiles(u.ctx, u.p.ID, u.puts)
	u.puts = u.puts[:0]
	failpoint.Hit(failpoint.ScanAfter)
	return err
}

// only looks at one path, when that is asked for, and removes the entry of what is not there.
func (u *update) only(at string, looks bool) error {
	if err := context.Cause(u.ctx); err != nil {
		return err
	}
	if looks {
		if f, done := u.find(at); f != nil {
			defer done()
			return u.look(*f)
		}
	}
	if _, known := u.known[at]; !known {
		return nil
	}
	delete(u.known, at)
	u.done.Removed++
	return u.put(sdk.FileWrite{Path: at})
}

// find is the file at a path, where that is of the project; nil when it is not.
func (u *update) find(at string) (f *found, done func()) {
	if !filepath.IsLocal(at) || path.Clean(at) != at || at == "." || !nameable(at) || protect.Secret(at) {
		return nil, nil
	}
	s := &scan{rules: u.rules}
	dir, ignores, rules := u.root, false, ignoredAbove(u.where)
	closeAll := func() { leave(u.root, dir) }
	parts := strings.Split(at, "/")
	for i, part := range parts {
		here := strings.Join(parts[:i], "/")
		rules = append(rules[:len(rules):len(rules)], ignoreRules(readIgnore(plain(dir, ignoreFile)), here, "")...)
		name, last := path.Join(here, part), i == len(parts)-1
		left, member := s.member(name, !last, rules, ignores)
		if part == ".git" || last && !member || !last && !member && !u.rules.wanted(name) {
			closeAll()
			return nil, nil
		}
		if last {
			break
		}
		sub, err := into(dir, part)
		closeAll()
		if err != nil || sub == nil {
			return nil, nil // what cannot be entered has no files
		}
		dir, ignores = sub, left
	}
	info, err := dir.Lstat(parts[len(parts)-1])
	if err != nil || !info.Mode().IsRegular() {
		closeAll()
		return nil, nil
	}
	return &found{at, info, dir}, closeAll
}

// plain opens a file of a folder, where it is no link.
func plain(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
