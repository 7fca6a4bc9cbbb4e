package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bothyd/bothy/sdk"
)

// createArgs are the arguments of create_directory.
type createArgs struct {
	Path string `json:"path" jsonschema:"the folder, relative to the project; those above it that are missing are made too"`
}

// createData is what create_directory did.
type createData struct {
	Path    string `json:"path"`
	Created bool   `json:"created"` // false when it was there already
}

// create makes a folder and those above it. One that is there already is fine.
func (p *project) create(_ context.Context, a createArgs) (answer, error) {
	pl, err := p.target(a.Path, lookup{})
	if err != nil {
		return answer{}, err
	}
	defer pl.close()
	if pl.info == nil {
		if err := p.still(pl); err != nil {
			return answer{}, err
		}
		err := pl.dir.Mkdir(pl.base, 0o777)
		if err == nil {
			p.changes.made(pl.path)
			return answer{text: "Created the directory " + shown(pl.path), data: createData{pl.path, true}}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return answer{}, fault("create the directory", a.Path, err)
		}
		if pl.info, err = pl.dir.Lstat(pl.base); err != nil {
			return answer{}, fault("create the directory", a.Path, err)
		}
	}
	if err := wantFolder(pl); err != nil {
		return answer{}, err
	}
	return answer{text: fmt.Sprintf("The directory %s exists already", shown(pl.path)), data: createData{pl.path, false}}, nil
}

// planCreate is what create would do.
func (p *project) planCreate(_ context.Context, a createArgs) (*plan, error) {
	pl, err := p.target(a.Path, lookup{dry: true})
	if err != nil {
		return nil, err
	}
	defer pl.close()
	if pl.info != nil {
		if err := wantFolder(pl); err != nil {
			return nil, err
		}
		now := &plan{states: []pathState{{path: pl.path, kind: "directory"}}}
		now.patch.note("the directory " + shown(pl.path) + " exists already; nothing would be done")
		return now, nil
	}
	if err := pl.changeableDir("create the directory"); err != nil {
		return nil, err
	}
	now := &plan{states: []pathState{{path: pl.path}}, changes: 1}
	now.folders(pl.absent)
	now.patch.folder("new", pl.path)
	return now, nil
}

func wantFolder(pl *place) error {
	if pl.isDir() {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "%s exists already and is a %s, not a directory", shown(pl.path), kindOf(pl.info.Mode()))
}
