package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/durable"
)

// FileName is the file of keys in the folder of the configuration: a JSON object from names to
// values, mode 0600. Only `bothy auth` writes it.
const FileName = "credentials.json"

// maxFile is the largest such file that is read, in bytes.
const maxFile = 1 << 20

// readFile reads the file of keys. One that is not there has none; one that others can read, or
// that is a link or of somebody else, is refused.
func readFile(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ELOOP):
		return nil, errors.New("it is a link, which is not followed")
	case err != nil:
		return nil, errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case !ok || int(owner.Uid) != os.Geteuid():
		return nil, errors.New("it belongs to somebody else")
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("others may read it: chmod 600 %s", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("it has more than 1 MiB")
	}
	if err != nil {
		return nil, err
	}
	return parseFile(text)
}

// parseFile reads the text of the file. No error has a part of it.
func parseFile(text []byte) (map[string]string, error) {
	var keys map[string]string
	if json.Unmarshal(text, &keys) != nil {
		return nil, errors.New(`it is no JSON object of texts, as {"NAME": "key"}`)
	}
	return keys, nil
}

// writeFile replaces the file in one step.
func writeFile(path string, keys map[string]string) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := durable.Write(path, append(text, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
