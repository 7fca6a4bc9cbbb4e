package skill

import (
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
	return w.read(ctx, func(x found, f *File, r io.Reader) error {
		size := x.info.Size()
		if size > maxText || size > int64(texts) {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		var b strings.Builder
		if _, err := io.Copy(&b, r); err != nil {
			return err
		}
		if text := b.String(); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
			f.Text = text
			texts -= len(text)
		}
		return nil
	})
}

// read reads every file that was found, once: take gets the very bytes that
// are hashed.
func (w *walk) read(ctx context.Context, take func(x found, f *File, r io.Reader) error) (Contents, error) {
	var c Contents
	sum := sha256.New()
	fmt.Fprint(sum, "bothy skill folder 1\n")
	for _, x := range w.found {
		if err := ctx.Err(); err != nil {
			return Contents{}, err
		}
		f, err := readFile(w.root, x, take)
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

func readFile(root *os.Root, x found, take func(found, *File, io.Reader) error) (_ File, err error) {
	in, err := x.open(root)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	f := File{Path: x.path, Executable: x.info.Mode().Perm()&0o111 != 0}
	content := &meter{in: io.LimitReader(in, x.info.Size()+1), sum: sha256.New()}
	if err := take(x, &f, content); err != nil {
		return File{}, err
	}
	if content.n != x.info.Size() {
		return File{}, x.changed()
	}
	f.Size, f.Hash = content.n, hex.EncodeToString(content.sum.Sum(nil))
	f.Script = f.Executable || string(content.begin) == "#!"
	return f, nil
}

// meter counts and hashes what is read through it.
type meter struct {
	in    io.Reader
	n     int64
	sum   hash.Hash
	begin []byte // the first two bytes
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	m.sum.Write(p[:n])
	m.n += int64(n)
	if need := 2 - len(m.begin); need > 0 {
		m.begin = append(m.begin, p[:min(n, need)]...)
	}
	return n, err
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
