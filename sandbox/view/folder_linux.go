package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// folder is the descriptor of an open folder.
type folder int

const none folder = -1

func (f folder) close() {
	if f >= 0 {
		_ = unix.Close(int(f))
	}
}

// proc is a path that leads to an open folder wherever that is now.
func (f folder) proc() string { return "/proc/self/fd/" + strconv.Itoa(int(f)) }

// openPath opens a folder by its path on the host.
func openPath(path string, flags int, resolve uint64) (folder, error) {
	return openat2(unix.AT_FDCWD, path, flags|unix.O_DIRECTORY, resolve)
}

// beneath is how everything in a project or in a view is opened.
const beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// longest is how much of a path is opened at a time; the kernel takes 4,095 bytes.
const longest = 3000

// open opens a folder below.
func (f folder) open(path string, flags int) (folder, error) {
	return f.openAny(path, flags|unix.O_DIRECTORY)
}

// openAny opens whatever is there below. Long paths are walked in parts.
func (f folder) openAny(path string, flags int) (folder, error) {
	at := f
	for len(path) > longest {
		cut := longest
		for cut > 0 && path[cut] != '/' {
			cut--
		}
		next, err := openat2(int(at), path[:cut], unix.O_PATH|unix.O_DIRECTORY, beneath)
		if at != f {
			at.close()
		}
		if err != nil {
			return none, err
		}
		at, path = next, path[cut+1:]
	}
	opened, err := openat2(int(at), path, flags, beneath)
	if at != f {
		at.close()
	}
	return opened, err
}

func openat2(at int, path string, flags int, resolve uint64) (folder, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: resolve}
	for {
		fd, err := unix.Openat2(at, path, &how)
		switch {
		case err == nil:
			return folder(fd), nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN): // EAGAIN is a rename elsewhere
			return none, &os.PathError{Op: "openat2", Path: path, Err: err}
		}
	}
}

// parent opens the folder that a path lies in, and names the path in it.
func (f folder) parent(path string) (folder, string, error) {
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return none, "", fmt.Errorf("%q names nothing in a folder", path)
	}
	if dir == "" {
		dir = "."
	}
	p, err := f.open(dir, unix.O_PATH)
	return p, name, err
}

// entries are the names in a folder, at most so many.
func (f folder) entries(most int) ([]string, error) {
	again, err := openat2(int(f), ".", unix.O_RDONLY|unix.O_DIRECTORY, beneath)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(again), "folder")
	defer file.Close()
	names, err := file.Readdirnames(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
