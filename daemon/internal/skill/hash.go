package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// Contents is what a skill's folder holds: what is trusted and what is pinned.
type Contents struct {
	Hash  string `json:"hash"`  // hex; of every file's path, executable bit and bytes
	Files []File `json:"files"` // by path
}

// Hold reports whether they are those that the skill was read from: what a person
// trusts and what a model reads must be one thing.
func (c Contents) Hold(d sdk.Skill) bool {
	name := filepath.Base(d.Path)
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == name && f.Hash == d.Hash })
}

// hashFolder is the hash of all that a skill's folder holds. It tells enter of each
// folder in it before that is read.
func hashFolder(folder string, enter func(dir string)) (string, error) {
	c, err := readContents(context.Background(), folder, 0, enter)
	return c.Hash, err
}

// ReadContents reads a skill's folder as it is to be trusted, whole or not at all. It
// keeps texts, of at most MaxFile bytes each, up to so many bytes together. It is
// Validation when something in the folder cannot be part of a skill: a link that leads
// out, a pipe, too many files.
func ReadContents(ctx context.Context, folder string, texts int) (Contents, error) {
	return readContents(ctx, folder, texts, func(string) {})
}

func readContents(ctx context.Context, folder string, texts int, enter func(dir string)) (Contents, error) {
	w := walk{strict: true, enter: func(dir string) { enter(filepath.Join(folder, dir)) }}
	if err := w.all(folder); err != nil {
		return Contents{}, err
	}
	defer w.end()
	return w.read(ctx, func(f *File, content []byte) error {
		if len(content) <= min(MaxFile, texts) {
			texts -= len(content)
			if utf8.Valid(content) && !slices.Contains(content, 0) {
				f.Text = string(content)
			}
		}
		return nil
	})
}

// read reads every file that was found, once, and hands each on with the very bytes
// that are hashed.
func (w *walk) read(ctx context.Context, each func(f *File, content []byte) error) (Contents, error) {
	var c Contents
	sum := sha256.New()
	fmt.Fprint(sum, "bothy skill folder 1\n")
	for _, x := range w.found {
		if err := ctx.Err(); err != nil {
			return Contents{}, err
		}
		content, err := x.read(w.root)
		var said *sdk.Error
		if err != nil && !errors.As(err, &said) {
			if err = w.leave(x.path, "cannot be read: "+watch.Cause(err).Error()); err == nil {
				continue
			}
		}
		if err != nil {
			return Contents{}, err
		}
		own, mode := sha256.Sum256(content), '-'
		f := File{Path: x.path, Size: x.info.Size(), Executable: x.info.Mode().Perm()&0o111 != 0, Hash: hex.EncodeToString(own[:])}
		f.Script = f.Executable || bytes.HasPrefix(content, []byte("#!"))
		if err := each(&f, content); err != nil {
			return Contents{}, err
		}
		c.Files = append(c.Files, f)
		if f.Executable {
			mode = 'x'
		}
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f.Path)))) // so that no two folders give one text
		fmt.Fprintf(sum, "%s%c%s", f.Path, mode, own[:])
	}
	c.Hash = hex.EncodeToString(sum.Sum(nil))
	return c, nil
}
