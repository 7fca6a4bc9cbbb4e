package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// read is the content of a file of the view.
func (v *view) read(path string, most int) ([]byte, error) {
	upper, err := v.upper()
	if err != nil {
		return nil, err
	}
	defer upper.close()
	f, err := upper.file(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = &fault{code: frame.ViewLarge, text: fmt.Sprintf("%s has more than %d bytes", path, most)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// file opens a regular file below for reading.
func (f folder) file(path string) (*os.File, error) {
	fd, err := f.openAny(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		fd.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		fd.close()
		return nil, refused("%s is not a file", path)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// sync brings files and folders of the view to the disk; without paths everything
// on its file system.
func (v *view) sync(paths []string) error {
	upper, err := v.upper()
	if err != nil {
		return err
	}
	defer upper.close()
	if len(paths) == 0 {
		return unix.Syncfs(int(upper))
	}
	for _, path := range paths {
		if err := upper.syncAt(path); err != nil {
			return fmt.Errorf("bring %s to the disk: %w", path, err)
		}
	}
	return nil
}

func (f folder) syncAt(path string) error {
	at, name, err := f.parent(path)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	n, err := at.node(name)
	if err != nil || n.Kind != kindFile && n.Kind != kindDirectory {
		return err // a link or a mark is in its folder
	}
	fd, err := at.openAny(name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer fd.close()
	return unix.Fdatasync(int(fd))
}
