package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// maxLinks is how many symbolic links one path may lead through, as in Linux.
const maxLinks = 40

// place is where a path leads once every symbolic link on the way is followed:
// a name in a folder that is held open. What is done there goes through dir and
// base, so that a link swapped in behind our back cannot lead it elsewhere.
type place struct {
	path  string        // relative to the project, free of links; "." is the project
	dir   *os.Root      // the folder that holds it
	base  string        // its name there; "." for the project
	info  fs.FileInfo   // what is there, a last link not followed; nil when nothing is
	above []fs.FileInfo // the folders from the project down to dir
	links []string      // the links that led here, as paths
	stack []step

	absent []string     // of a dry lookup: the folders that would be made, from the top
	still  func() error // asked immediately before a change: is all as a person was shown it?
}

// close lets go of the folders. Nothing was written through the handles
// themselves, so closing them loses nothing.
func (pl *place) close() {
	for _, s := range pl.stack[1:] {
		_ = s.root.Close()
	}
}

func (pl *place) isDir() bool  { return pl.info != nil && pl.info.IsDir() }
func (pl *place) isLink() bool { return pl.info != nil && pl.info.Mode()&fs.ModeSymlink != 0 }

// lookup says how a path is resolved.
type lookup struct {
	nofollow bool        // a link at the end is meant itself
	create   *protection // folders that are missing are made, unless it forbids them
	made     *changes    // hears of them
	dry      bool        // the folders that create would make are only thought of
	fresh    bool        // of what is written: nothing may be there
}

// step is one open folder on the way; the first is the project.
type step struct {
	root *os.Root
	name string
	info fs.FileInfo
}

// walker follows a path one name at a time. os.Root would follow it in one go,
// but would not say where it led, and that decides about protected paths.
type walker struct {
	name  string // as the model wrote it, for messages
	how   lookup
	stack []step
	links []string
	todo  []string

	absent []string // folders below the top that are only thought of, as paths
}

// resolve follows name. What is missing at the end is no error: the place then
// has no info. The caller closes the place.
func (p *project) resolve(name string, how lookup) (*place, error) {
	clean, err := p.clean(name)
	if err != nil {
		return nil, err
	}
	info, err := p.root.Stat(".")
	if err != nil {
		return nil, fault("open the project", p.dir, err)
	}
	w := &walker{name: name, how: how, stack: []step{{p.root, "", info}}}
	w.push(clean)
	pl, err := w.walk()
	if err != nil {
		(&place{stack: w.stack}).close()
		return nil, fault("open", name, err)
	}
	pl.stack, pl.links, pl.absent = w.stack, w.links, w.absent
	if p.at != "" {
		pl.path = path.Join(p.at, pl.path)
	}
	return pl, nil
}

// existing resolves name to something that is there; else outcome not_found.
func (p *project) existing(name string, how lookup) (*place, error) {
	pl, err := p.resolve(name, how)
	if err != nil {
		return nil, err
	}
	if pl.info == nil {
		pl.close()
		return nil, fault("open", name, fs.ErrNotExist)
	}
	p.look(pl)
	return pl, nil
}

// push puts the parts of a path before what is still to do.
func (w *walker) push(path string) {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	w.todo = append(parts, w.todo...)
}

func (w *walker) walk() (*place, error) {
	for len(w.todo) > 0 {
		part := w.todo[0]
		w.todo = w.todo[1:]
		if len(w.absent) > 0 {
			return w.imagine(part)
		}
		if part == ".." {
			if err := w.up(); err != nil {
				return nil, err
			}
			continue
		}
		last := len(w.todo) == 0
		info, err := w.top().root.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist) && last:
			return w.place(part, nil), nil
		case errors.Is(err, fs.ErrNotExist):
			err = w.missing(part)
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0 && !(last && w.how.nofollow):
			err = w.follow(part)
		case last:
			return w.place(part, info), nil
		case info.IsDir():
			err = w.down(part, info)
		default:
			err = syscall.ENOTDIR
		}
		if err != nil {
			return nil, err
		}
	}
	return w.folder(), nil
}

func (w *walker) top() step { return w.stack[len(w.stack)-1] }

// at is the path of a name in the folder that the walk has come to.
func (w *walker) at(name string) string {
	if n := len(w.absent); n > 0 {
		return path.Join(w.absent[n-1], name)
	}
	var parts []string
	for _, s := range w.stack[1:] {
		parts = append(parts, s.name)
	}
	return path.Join(append(parts, name)...)
}

func (w *walker) above() []fs.FileInfo {
	infos := make([]fs.FileInfo, len(w.stack))
	for i, s := range w.stack {
		infos[i] = s.info
	}
	return infos
}

func (w *walker) place(base string, info fs.FileInfo) *place {
	return &place{path: w.at(base), dir: w.top().root, base: base, info: info, above: w.above()}
}

// folder is the place of the folder that the walk ended in.
func (w *walker) folder() *place {
	top := w.top()
	if len(w.stack) == 1 {
		return &place{path: ".", dir: top.root, base: ".", info: top.info}
	}
	above := w.above()
	return &place{path: w.at(""), dir: w.stack[len(w.stack)-2].root, base: top.name, info: top.info, above: above[:len(above)-1]}
}

func (w *walker) up() error {
	if len(w.stack) == 1 {
		return sdk.Errorf(sdk.Permission, "%s leads outside the project through a symbolic link; only files inside it can be used", shown(w.name))
	}
	err := w.top().root.Close()
	w.stack = w.stack[:len(w.stack)-1]
	return err
}

// down enters a folder and makes sure that it is the one that was looked at. The
// "/." keeps the open from hanging should a fifo have taken its place.
func (w *walker) down(part string, seen fs.FileInfo) error {
	if len(w.stack) > maxDepth {
		return sdk.Errorf(sdk.Validation, "%s is more than %d folders deep", shown(w.name), maxDepth)
	}
	sub, err := w.top().root.OpenRoot(part + "/.")
	if err != nil {
		return err
	}
	w.stack = append(w.stack, step{sub, part, seen})
	info, err := sub.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(seen, info) {
		return w.changed()
	}
	return nil
}

func (w *walker) changed() error {
	return sdk.Errorf(sdk.Conflict, "%s changed while it was opened; nothing was done, try again", shown(w.name))
}

func (w *walker) follow(part string) error {
	if len(w.links) == maxLinks {
		return syscall.ELOOP
	}
	target, err := w.top().root.Readlink(part)
	if errors.Is(err, syscall.EINVAL) { // it is no link any more
		return w.changed()
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(target, "/") {
		return sdk.Errorf(sdk.Permission, "%s goes through the symbolic link %s to %s, and absolute links are not followed; use the path inside the project",
			shown(w.name), shown(w.at(part)), shown(target))
	}
	w.links = append(w.links, w.at(part))
	w.push(target)
	return nil
}

// missing makes the folder part, or says that it is not there.
func (w *walker) missing(part string) error {
	if w.how.create == nil {
		return fault("open", w.at(part), fs.ErrNotExist)
	}
	pl := w.place(part, nil)
	pl.stack = w.stack
	if err := w.how.create.check(pl); err != nil {
		return err
	}
	if err := w.how.create.given.above(pl.path); err != nil {
		return err
	}
	if w.how.dry {
		w.absent = append(w.absent, w.at(part))
		return nil
	}
	switch err := w.top().root.Mkdir(part, 0o777); {
	case err == nil:
		w.how.made.made(w.at(part))
	case !errors.Is(err, fs.ErrExist):
		return fault("create the folder", w.at(part), err)
	}
	w.todo = append([]string{part}, w.todo...)
	return nil
}

// longestName is how long one name may be on the file systems there are.
const longestName = 255

// imagine goes the rest of the way below a folder that is only thought of, where
// nothing can be a link.
func (w *walker) imagine(part string) (*place, error) {
	for {
		switch {
		case part == "..":
			return nil, sdk.Errorf(sdk.Validation, "%s leads through a symbolic link into %s, which does not exist, and out of it again; use the path without the link", shown(w.name), shown(w.at("")))
		case len(part) > longestName:
			return nil, syscall.ENAMETOOLONG
		case len(w.stack)+len(w.absent) > maxDepth:
			return nil, sdk.Errorf(sdk.Validation, "%s is more than %d folders deep", shown(w.name), maxDepth)
		case len(w.todo) == 0:
			return w.place(part, nil), nil
		}
		if err := w.missing(part); err != nil {
			return nil, err
		}
		part, w.todo = w.todo[0], w.todo[1:]
	}
}
