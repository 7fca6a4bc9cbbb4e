package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// moveArgs are the arguments of move_path and of copy_path.
type moveArgs struct {
	Source      string `json:"source" jsonschema:"the file or folder, relative to the project"`
	Destination string `json:"destination" jsonschema:"its whole new path, relative to the project; folders that are missing are made"`
	Overwrite   bool   `json:"overwrite,omitempty" jsonschema:"replace a file that is at the destination"`
}

// moveData is what move_path or copy_path did.
type moveData struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Kind        string `json:"kind"`
	Overwritten bool   `json:"overwritten"`
	Entries     int    `json:"entries,omitempty"` // copied, the folder itself included
}

// move gives a file, link or folder another path. It replaces a file only with
// overwrite, and a folder never.
func (p *project) move(ctx context.Context, a moveArgs) (answer, error) {
	from, to, err := p.ends(a, p.subject, lookup{})
	if err != nil {
		return answer{}, err
	}
	defer from.close()
	defer to.close()
	if err := ctx.Err(); err != nil {
		return answer{}, fault("move", a.Source, err)
	}
	over, err := to.keep(ctx, p.kept)
	if err != nil {
		return answer{}, a.fault("move", err)
	}
	if err := p.stillBoth(from, to); err != nil {
		return answer{}, err
	}
	if err := rename(from.dir, from.base, to.dir, to.base, a.Overwrite); err != nil {
		return answer{}, a.fault("move", err)
	}
	if over != nil {
		p.changes.gone(*over)
	}
	p.changes.add(sdk.FileChange{Path: to.path, From: from.path, After: &sdk.FileState{Kind: kindOf(from.info.Mode())}})
	data := moveData{Source: from.path, Destination: to.path, Kind: kindOf(from.info.Mode()), Overwritten: to.info != nil}
	return answer{text: fmt.Sprintf("Moved the %s %s to %s", data.Kind, shown(from.path), shown(to.path)), data: data}, nil
}

// planMove is what move would do.
func (p *project) planMove(ctx context.Context, a moveArgs) (*plan, error) {
	from, to, err := p.ends(a, p.subject, lookup{dry: true})
	if err != nil {
		return nil, err
	}
	defer from.close()
	defer to.close()
	if err := from.changeableDir("move"); err != nil {
		return nil, err
	}
	s := &snapshot{ctx: ctx, left: mostHashed}
	if err := s.place(from); err != nil {
		return nil, err
	}
	return planAt(s, "rename", from, to)
}

// planAt plans that what a snapshot found at from comes to be at to.
func planAt(s *snapshot, verb string, from, to *place) (*plan, error) {
	if err := to.changeableDir(verb); err != nil {
		return nil, err
	}
	if !sameDevice(from.info, to.above[len(to.above)-1]) && verb == "rename" {
		return nil, moveArgs{Source: from.path, Destination: to.path}.fault("move", syscall.EXDEV)
	}
	over, err := statesOf(s.ctx, to, largestFile)
	if err != nil {
		return nil, err
	}
	now := &plan{states: append(s.states, over[0]), changes: len(s.states)}
	now.folders(to.absent)
	if over[0].kind != "" {
		now.patch.gone(over[0])
		if is, was := gitMode(s.states[0]), gitMode(over[0]); is != was {
			now.patch.note("the mode of " + shown(to.path) + " was " + was + " and would be " + is)
		}
	}
	for _, s := range s.states {
		now.patch.renamed(verb, s, to.path+strings.TrimPrefix(s.path, from.path))
	}
	return now, nil
}

// stillBoth makes sure that both ends are as a person was shown them.
func (p *project) stillBoth(from, to *place) error {
	if err := p.still(from); err != nil {
		return err
	}
	return p.still(to)
}

// ends resolves both ends of a move or a copy, the source first.
func (p *project) ends(a moveArgs, source func(name string) (*place, error), how lookup) (from, to *place, err error) {
	if from, err = source(a.Source); err != nil {
		return nil, nil, err
	}
	if to, err = p.destination(from, a, how); err != nil {
		from.close()
		return nil, nil, err
	}
	return from, to, nil
}

// destination resolves where from is to go, a link there being meant itself.
func (p *project) destination(from *place, a moveArgs, how lookup) (*place, error) {
	clean, err := p.clean(a.Destination)
	if err != nil {
		return nil, err
	}
	if from.isDir() && strings.HasPrefix(clean, from.path+"/") { // seen before any folder is made
		return nil, inside(from, clean)
	}
	how.nofollow = true
	to, err := p.target(a.Destination, how)
	if err != nil {
		return nil, err
	}
	err = allowed(from, to, a.Overwrite)
	if err == nil && from.isDir() {
		err = p.given.folder(to.path)
	}
	if err != nil {
		to.close()
		return nil, err
	}
	return to, nil
}

func allowed(from, to *place, overwrite bool) error {
	if from.path == to.path {
		return sdk.Errorf(sdk.Validation, "source and destination are both %s; there is nothing to do", shown(from.path))
	}
	for _, dir := range to.above {
		if os.SameFile(dir, from.info) {
			return inside(from, to.path)
		}
	}
	switch {
	case to.info == nil:
		return nil
	case to.isDir():
		return sdk.Errorf(sdk.Conflict, "%s is a directory; give the whole new path, such as %s/%s, or delete it first", shown(to.path), shown(to.path), shown(from.base))
	case !overwrite:
		return sdk.Errorf(sdk.Conflict, "%s exists already; set overwrite to replace it, or choose another path", shown(to.path))
	case from.isDir():
		return sdk.Errorf(sdk.Conflict, "%s is a %s and cannot be replaced by a directory; delete it first", shown(to.path), kindOf(to.info.Mode()))
	case !to.isLink():
		return to.writable()
	}
	return nil
}

func inside(from *place, to string) error {
	return sdk.Errorf(sdk.Validation, "the destination %s lies inside the source %s; choose one outside it", shown(to), shown(from.path))
}

// fault names the path that an error of a move or a copy is about.
func (a moveArgs) fault(action string, err error) error {
	if errors.Is(err, syscall.EXDEV) {
		return sdk.Errorf(sdk.Validation, "%s and %s are on different file systems; use copy_path, then delete_path: %w", shown(a.Source), shown(a.Destination), syscall.EXDEV)
	}
	if errors.Is(err, fs.ErrExist) {
		return fault("replace", a.Destination, err)
	}
	return fault(action, a.Source, err)
}

// sameDevice reports whether a file and a folder lie in one file system, as far
// as can be told.
func sameDevice(a, b fs.FileInfo) bool {
	x, known := a.Sys().(*syscall.Stat_t)
	y, too := b.Sys().(*syscall.Stat_t)
	return !known || !too || x.Dev == y.Dev
}
