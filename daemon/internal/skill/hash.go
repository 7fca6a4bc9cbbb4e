package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// Contents is what a skill's folder holds: what is trusted and what is pinned.
type Contents struct {
	Hash  string // hex; of every file's path, executable bit and bytes
	Files []File // by path
}

// Hold reports whether they are those that the skill was read from: what a person
// trusts and what a model reads must be one thing.
func (c Contents) Hold(d sdk.Skill) bool {
	name := filepath.Base(d.Path)
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == name && f.Hash == d.Hash })
}

// FolderHash is the hash of all that a skill's folder holds. It is Validation
// when something in it cannot be part of a skill: a link that leads out, a
// pipe, too many files.
func FolderHash(folder string) (string, error) {
	c, err := ReadContents(context.Background(), folder, 0)
	return c.Hash, err
}

// maxText is the longest file whose text ReadContents keeps.
const maxText = MaxFile

// ReadContents reads a skill's folder as it is to be trusted, whole or not at all. It
// keeps texts, those of scripts and all others, up to so many bytes together.
func ReadContents(ctx context.Context, folder string, texts int) (Contents, error) {
	root, err := openFolder(folder)
	if err != nil {
		return Contents{}, err
	}
	defer func() { _ = root.Close() }()
	w := walk{root: root, strict: true}
	if err := w.all(); err != nil {
		return Contents{}, err
	}
	return w.read(ctx, func(f *File) (io.WriteCloser, error) {
		if f.Size > maxText || f.Size > int64(texts) {
			return nil, nil
		}
		texts -= int(f.Size)
		return &keptText{file: f}, nil
	})
}

// keptText makes what is written to it the text of a file, if it is one.
type keptText struct {
	file *File
	bytes.Buffer
}

func (k *keptText) Close() error {
	if text := k.String(); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		k.file.Text = text
	}
	return nil
}

// read reads every file that was found, once: what into makes for it gets the
// very bytes that are hashed, and is closed.
func (w *walk) read(ctx context.Context, into func(f *File) (io.WriteCloser, error)) (Contents, error) {
	var c Contents
	sum := sha256.New()
	fmt.Fprint(sum, "bothy skill folder 1\n")
	for _, x := range w.found {
		if err := ctx.Err(); err != nil {
			return Contents{}, err
		}
		f, err := readFile(w.root, x, into)
		var said *sdk.Error
		switch {
		case errors.As(err, &said):
			return Contents{}, err
		case err != nil:
			if err := w.leave(x.path, "cannot be read: "+watch.Cause(err).Error()); err != nil {
				return Contents{}, err
			}
			continue
		}
		addFile(sum, &f)
		c.Files = append(c.Files, f)
	}
	c.Hash = hex.EncodeToString(sum.Sum(nil))
	return c, nil
}

func readFile(root *os.Root, x found, into func(*File) (io.WriteCloser, error)) (f File, err error) {
	in, err := x.open(root)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	f = File{Path: x.path, Size: x.info.Size(), Executable: x.info.Mode().Perm()&0o111 != 0}
	sum := sha256.New()
	var out io.Writer = sum
	to, err := into(&f)
	if err != nil {
		return File{}, err
	}
	if to != nil {
		defer func() { err = errors.Join(err, to.Close()) }()
		out = io.MultiWriter(sum, to)
	}
	n, err := io.Copy(out, io.LimitReader(in, f.Size+1))
	if err == nil && n != f.Size {
		err = x.changed()
	}
	if err != nil && sdk.OutcomeOf(err) == sdk.Internal { // half a file is no file that is left out
		err = sdk.Errorf(sdk.Unavailable, "%q cannot be read: %w", x.path, err)
	}
	if err != nil {
		return File{}, err
	}
	var begin [2]byte
	_, _ = in.ReadAt(begin[:], 0) // a shorter file is no script
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	f.Script = f.Executable || string(begin[:]) == "#!"
	return f, nil
}

// addFile adds a file to the hash of a folder. Its path has its length before it,
// so that no two folders give one text.
func addFile(sum hash.Hash, f *File) {
	_ = binary.Write(sum, binary.BigEndian, uint64(len(f.Path)))
	fmt.Fprint(sum, f.Path)
	mode := byte('-')
	if f.Executable {
		mode = 'x'
	}
	sum.Write([]byte{mode})
	content, _ := hex.DecodeString(f.Hash)
	sum.Write(content)
}
