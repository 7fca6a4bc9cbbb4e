package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/bothyd/bothy/sdk"
)

// writeArgs are the arguments of write_file.
type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the project; folders that are missing are made"`
	Content string `json:"content" jsonschema:"the whole new content of the file"`
}

// writeData is what write_file did.
type writeData struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	Created bool   `json:"created"`
}

// write makes a file or replaces it whole. A link is followed to the file it
// leads to.
func (p *project) write(ctx context.Context, a writeArgs) (answer, error) {
	return p.writeAs(ctx, a, lookup{})
}

func (p *project) writeAs(ctx context.Context, a writeArgs, how lookup) (answer, error) {
	pl, err := p.written(a, how)
	if err != nil {
		return answer{}, err
	}
	defer pl.close()
	if err := ctx.Err(); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	if err := p.makes(pl.path, hashOf(a.Content)); err != nil {
		return answer{}, err
	}
	data := writeData{Path: pl.path, Bytes: len(a.Content), Created: pl.info == nil}
	verb := "Replaced"
	if data.Created {
		verb = "Created"
	}
	got := answer{text: fmt.Sprintf("%s %s (%s)", verb, shown(pl.path), sized(int64(data.Bytes))), data: data}
	if err := p.replaceText(ctx, pl, a.Content, got); err != nil {
		return answer{}, fault("write", a.Path, err)
	}
	return got, nil
}

// planWrite is what write would do.
func (p *project) planWrite(ctx context.Context, a writeArgs) (*plan, error) {
	return p.planWriteAs(ctx, a, lookup{})
}

func (p *project) planWriteAs(ctx context.Context, a writeArgs, how lookup) (*plan, error) {
	how.dry = true
	pl, err := p.written(a, how)
	if err != nil {
		return nil, err
	}
	defer pl.close()
	if pl.info != nil {
		if err := pl.writable(); err != nil {
			return nil, fault("write", a.Path, err)
		}
	}
	return planText(ctx, pl, a.Content)
}

// planText plans new contents of the file at a place.
func planText(ctx context.Context, pl *place, text string) (*plan, error) {
	states, err := statesOf(ctx, pl, largestFile)
	if err != nil {
		return nil, err
	}
	if err := pl.changeableDir("write"); err != nil {
		return nil, err
	}
	now := &plan{states: states, results: []string{hashOf(text)}}
	now.folders(pl.absent)
	if s := states[0]; s.kind == "file" && s.sum == now.results[0] {
		now.patch.note(shown(pl.path) + " stays as it is: its contents are these already")
		return now, nil
	}
	now.changes++
	now.patch.replaced(states[0], text)
	return now, nil
}

// written resolves the file that is to be written.
func (p *project) written(a writeArgs, how lookup) (*place, error) {
	if n := int64(len(a.Content)); n > p.most {
		return nil, sdk.Errorf(sdk.Overflow, "the content is %s, and at most %s are written at once; write it in parts", sized(n), sized(p.most))
	}
	pl, err := p.target(a.Path, how)
	if err == nil && how.fresh && pl.info != nil {
		pl.close()
		return nil, sdk.Errorf(sdk.Conflict, "%s was made by somebody else in the meantime; nothing was written, read it and make the edit again", shown(a.Path))
	}
	return pl, err
}

// replaceText gives the file at the place new contents, and keeps what it takes
// to take that back.
func (p *project) replaceText(ctx context.Context, pl *place, text string, got answer) error {
	if pl.info != nil {
		if err := pl.writable(); err != nil {
			return err
		}
	}
	before, err := pl.keep(ctx, p.kept)
	if err != nil {
		return err
	}
	var was fs.FileInfo
	if before != nil {
		was = before.info
	}
	return p.put(pl, was, before, text, got)
}

// target resolves a path that is about to be changed, makes the folders above
// it, and refuses protected paths and the project itself.
func (p *project) target(name string, how lookup) (*place, error) {
	how.made = &p.changes
	return p.changeable(name, how)
}

// subject resolves a path that is there and about to be moved or deleted. A
// link at its end is meant itself.
func (p *project) subject(name string) (*place, error) {
	pl, err := p.present(name, lookup{nofollow: true}, "list_files shows what does")
	if err != nil {
		return nil, err
	}
	return pl, pl.readable(name)
}

// present is changeable for what has to be there; instead says what to do when it
// is not.
func (p *project) present(name string, how lookup, instead string) (*place, error) {
	pl, err := p.changeable(name, how)
	if err == nil && pl.info == nil {
		pl.close()
		return nil, sdk.Errorf(sdk.NotFound, "%s does not exist; %s", shown(name), instead)
	}
	return pl, err
}

// changeable resolves a path that may be changed. Where how says who hears of
// folders that are made, those above it are made.
func (p *project) changeable(name string, how lookup) (*place, error) {
	g, err := p.protection(name)
	if err != nil {
		return nil, err
	}
	g.whole = how.nofollow
	if how.made != nil {
		how.create = g
	}
	clean, err := p.clean(name)
	if err == nil { // before any folder is made
		err = p.checkName(clean)
	}
	if err != nil {
		return nil, err
	}
	pl, err := p.resolve(name, how)
	if err != nil {
		return nil, err
	}
	if pl.path == "." {
		err = sdk.Errorf(sdk.Validation, "%q is the project directory itself, which cannot be changed as a whole; name something in it", name)
	} else if err = g.check(pl); err == nil {
		err = p.given.check(pl, g.whole)
	}
	if err != nil {
		pl.close()
		return nil, err
	}
	pl.still = func() error { return p.still(pl) }
	return pl, nil
}
