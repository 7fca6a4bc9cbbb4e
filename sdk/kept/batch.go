package kept

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// manyFiles is from how many on the whole file system is synced instead of each.
const manyFiles = 256

// Batch is contents that become durable together. It is no good to several
// goroutines at a time.
type Batch struct {
	store Store
	gzip  *gzip.Writer
	files map[string]string // by digest: what is written, and has not its name yet
}

// Begin begins a batch. It must be ended, whatever becomes of it.
func (s Store) Begin() *Batch { return &Batch{store: s, files: map[string]string{}} }

// Put is Store.Put, but that the contents are found only once End has returned
// nil. An error leaves the rest of the batch as it was.
func (b *Batch) Put(from io.Reader) (digest string, size int64, err error) {
	digest, size, name, err := b.write(from)
	if err != nil {
		return "", 0, fmt.Errorf("keep contents that are replaced: %w", err)
	}
	if b.files[digest] != "" {
		return digest, size, os.Remove(name)
	}
	b.files[digest] = name
	return digest, size, nil
}

// write compresses what it reads into a file of no name.
func (b *Batch) write(from io.Reader) (digest string, size int64, name string, err error) {
	if err := os.MkdirAll(b.store.Dir, 0o700); err != nil {
		return "", 0, "", err
	}
	f, err := os.CreateTemp(b.store.Dir, newPrefix+"*")
	if err != nil {
		return "", 0, "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if b.gzip == nil {
		if b.gzip, err = gzip.NewWriterLevel(f, gzip.BestSpeed); err != nil {
			return "", 0, "", errors.Join(err, f.Close())
		}
	} else {
		b.gzip.Reset(f)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(b.gzip, sum), from)
	if err := errors.Join(err, b.gzip.Close(), f.Close()); err != nil {
		return "", 0, "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), size, f.Name(), nil
}

// End makes durable what was put, and gives it its names. What an error left
// without a name is gone with the next Prune that comes an hour later.
func (b *Batch) End() error {
	if len(b.files) == 0 {
		return nil
	}
	if err := b.end(); err != nil {
		return fmt.Errorf("keep contents that are replaced: %w", err)
	}
	clear(b.files)
	return nil
}

func (b *Batch) end() error {
	dir, err := os.Open(b.store.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing is written through it
	if err := b.sync(dir); err != nil {
		return err
	}
	unlock, err := b.store.lock(shared)
	if err != nil {
		return err
	}
	defer unlock()
	for digest, name := range b.files {
		path := filepath.Join(b.store.Dir, digest+ending)
		if b.store.Has(digest) {
			used(path)
			err = os.Remove(name)
		} else {
			err = os.Rename(name, path) // another may do it now, with the very contents
		}
		if err != nil {
			return err
		}
		delete(b.files, digest)
	}
	return dir.Sync()
}

// sync makes the contents durable, before they have a name.
func (b *Batch) sync(dir *os.File) error {
	if len(b.files) > manyFiles {
		if done, err := syncAll(dir); done {
			return err
		}
	}
	for _, name := range b.files {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
