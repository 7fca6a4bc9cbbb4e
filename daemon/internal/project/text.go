package project

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// Text reads the file of an entry for a run that wants it in sight: as it is now, with its facts. Refused is what policy would
// refuse a tool that reads files, or ask a person about.
func (t *Tree) Text(ctx context.Context, run sdk.Run, at string) (string, sdk.FileFacts, error) {
	none := sdk.FileFacts{}
	if run.Private {
		return "", none, sdk.Errorf(sdk.Permission, "%s is a file of the project, and this run has nothing of that: a channel made it", at)
	}
	p, err := t.kept.Project(ctx, run.Project)
	if err != nil {
		return "", none, err
	}
	if protect.Secret(at) {
		return "", none, refusedSecret(at)
	}
	if err := t.may(p.Root)(at); err != nil {
		return "", none, err
	}
	root, _, err := openFiles(p.Root)
	if err != nil {
		return "", none, err
	}
	defer func() { _ = root.Close() }() // it was only read
	f, err := openPlain(root, at)
	if errors.Is(err, fs.ErrNotExist) {
		return "", none, sdk.Errorf(sdk.NotFound, "the file %s is not there any more", at)
	}
	if err != nil {
		return "", none, sdk.Errorf(sdk.Permission, "%s cannot be read: %s", at, reason(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	return textOf(f, at)
}

func textOf(f *os.File, at string) (string, sdk.FileFacts, error) {
	info, err := f.Stat()
	if err != nil {
		return "", sdk.FileFacts{}, sdk.Errorf(sdk.Unavailable, "read %s: %w", at, err)
	}
	facts := factsOf(info)
	text, err := io.ReadAll(io.LimitReader(f, mostGotten+1))
	switch {
	case err != nil:
		return "", facts, sdk.Errorf(sdk.Unavailable, "read %s: %w", at, err)
	case len(text) > mostGotten:
		return "", facts, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and %d is the most that an entry of a file can show: read_file reads ranges of its lines", at, info.Size(), mostGotten)
	case !isText(text):
		return "", facts, sdk.Errorf(sdk.Validation, "%s is no text, so there is nothing to see of its %d bytes", at, len(text))
	}
	c := contentsOf(facts, text)
	return string(text), c.FileFacts, nil
}
