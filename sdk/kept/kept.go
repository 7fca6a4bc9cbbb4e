// Package kept is the store of contents that were replaced: what a file held
// before a run changed it, compressed, once for each SHA-256 of its bytes. A tool
// puts contents there before it tells of the change (sdk.FileChange.Kept), and
// the daemon reads them to take the change back. Several processes may use one
// store at the same time.
//
// The contents are those of the person's own files, to the byte: no secret is
// taken out of them. Nobody else may enter the folder.
package kept

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sdk"
)

const (
	ending    = ".gz"   // of the name of what is kept, which is its digest otherwise
	newPrefix = ".new-" // of a file that is not whole yet
	lockName  = ".lock" // held by whoever removes, and shared by whoever adds
)

// Store is a folder of contents. It is made when something is put there.
type Store struct {
	Dir string // DATA/undo
}

// In is the store of a daemon with this data directory.
func In(data string) Store { return Store{Dir: filepath.Join(data, "undo")} }

// Beside is the store of the daemon whose data directory holds a run's folder
// (sdk.Invocation.RunDir, which is DATA/runs/KEY).
func Beside(runDir string) Store {
	return In(filepath.Dir(filepath.Dir(runDir)))
}

// Put keeps what it reads, and returns the digest by which it is found. It is
// durable then. Contents that are kept already count as used now. Who puts many
// at a time uses Begin, which syncs once.
func (s Store) Put(from io.Reader) (digest string, size int64, err error) {
	b := s.Begin()
	digest, size, err = b.Put(from)
	return digest, size, errors.Join(err, b.End())
}

// Open returns contents, which count as used now. NotFound is that they are kept
// no more, or never were. Reading ends with an error where they are not what was
// put there: what was read by then must not be used.
func (s Store) Open(digest string) (io.ReadCloser, error) {
	path, err := s.path(digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sdk.Errorf(sdk.NotFound, "the contents %.12s are not kept any more", digest)
	}
	if err != nil {
		return nil, fmt.Errorf("open kept contents: %w", err)
	}
	used(path)
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(damaged(digest, err), f.Close())
	}
	return &content{file: f, text: text, sum: sha256.New(), digest: digest}, nil
}

// Has reports whether contents are kept. They may be pruned the next moment.
func (s Store) Has(digest string) bool {
	path, err := s.path(digest)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// IsDigest reports whether a text can be what Put returned: a SHA-256 in lower-case
// hexadecimal digits.
func IsDigest(digest string) bool {
	sum, err := hex.DecodeString(digest)
	return err == nil && len(sum) == sha256.Size && hex.EncodeToString(sum) == digest
}

// path is where contents lie. A digest may come from anybody, and names no other file.
func (s Store) path(digest string) (string, error) {
	if !IsDigest(digest) {
		return "", sdk.Errorf(sdk.Validation, "%.80q is no digest of kept contents: that is a SHA-256 in hexadecimal digits", digest)
	}
	return filepath.Join(s.Dir, digest+ending), nil
}

// used keeps contents from being pruned as the oldest. That this fails costs no more
// than that.
func used(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// content is kept contents while they are read.
type content struct {
	file   *os.File
	text   *gzip.Reader
	sum    hash.Hash
	digest string
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.text.Read(p)
	c.sum.Write(p[:n]) // never fails
	switch {
	case err == nil:
	case err != io.EOF:
		err = damaged(c.digest, err)
	case hex.EncodeToString(c.sum.Sum(nil)) != c.digest:
		err = damaged(c.digest, errors.New("its digest is another"))
	}
	return n, err
}

func (c *content) Close() error { return errors.Join(c.text.Close(), c.file.Close()) }

func damaged(digest string, err error) error {
	return sdk.Errorf(sdk.Internal, "the kept contents %.12s are damaged: %w", digest, err)
}
