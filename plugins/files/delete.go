package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// deleteArgs are the arguments of delete_path.
type deleteArgs struct {
	Path      string `json:"path" jsonschema:"the file or folder, relative to the project; of a link, the link itself"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"also a folder that is not empty, with everything in it"`
}

// deleteData is what delete_path did.
type deleteData struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`
	Items int    `json:"items"` // that are gone: itself, and what lay in it
}

// delete removes a file, a link or a folder. A folder that is not empty goes
// only with recursive; links in it are removed and never followed.
func (p *project) delete(ctx context.Context, a deleteArgs) (answer, error) {
	pl, err := p.subject(a.Path)
	if err != nil {
		return answer{}, err
	}
	defer pl.close()
	if err := ctx.Err(); err != nil {
		return answer{}, fault("delete", a.Path, err)
	}
	before, err := pl.keep(ctx, p.kept)
	if err != nil {
		return answer{}, fault("delete", a.Path, err)
	}
	if err := p.still(pl); err != nil {
		return answer{}, err
	}
	items := 1
	err = pl.dir.Remove(pl.base)
	if pl.isDir() && errors.Is(err, syscall.ENOTEMPTY) {
		if !a.Recursive {
			return answer{}, notEmpty(pl)
		}
		kept := pl.keepTree(ctx, p.kept)
		if err := ctx.Err(); err != nil { // nothing is gone yet, and not all of it may be kept
			return answer{}, fault("delete", a.Path, err)
		}
		items = pl.items()
		p.changes.list = append(p.changes.list, kept...) // told of also when it fails half-way
		err = pl.dir.RemoveAll(pl.base)
	} else if err == nil {
		p.changes.gone(*before)
	}
	if err != nil {
		return answer{}, fault("delete", a.Path, err)
	}
	data := deleteData{Path: pl.path, Kind: kindOf(pl.info.Mode()), Items: items}
	text := fmt.Sprintf("Deleted the %s %s", data.Kind, shown(pl.path))
	if items > 1 {
		text += fmt.Sprintf(" with what lay in it (%d items)", items)
	}
	return answer{text: text, data: data}, nil
}

// items counts a folder and what lies in it. What cannot be looked into counts as one.
func (pl *place) items() (n int) {
	_ = fs.WalkDir(pl.dir.FS(), pl.base, func(_ string, _ fs.DirEntry, err error) error {
		if err == nil {
			n++
		}
		return nil
	})
	return max(n, 1)
}

func notEmpty(pl *place) error {
	return sdk.Errorf(sdk.Conflict, "%s is a directory and not empty; nothing was deleted: set recursive to delete it with everything in it", shown(pl.path))
}

// planDelete is what delete would do.
func (p *project) planDelete(ctx context.Context, a deleteArgs) (*plan, error) {
	pl, err := p.subject(a.Path)
	if err != nil {
		return nil, err
	}
	defer pl.close()
	if err := pl.changeableDir("delete"); err != nil {
		return nil, err
	}
	states, err := statesOf(ctx, pl, mostKept)
	if err != nil {
		return nil, err
	}
	if len(states) > 1 && !a.Recursive {
		return nil, notEmpty(pl)
	}
	now := &plan{states: states, changes: len(states)}
	for _, s := range states {
		now.patch.gone(s)
	}
	return now, nil
}
