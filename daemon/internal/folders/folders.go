// Package folders puts files into the folders of private runs, where their tools and commands work, and reads what is
// there: for front ends elsewhere, whose people have no other way to a file.
package folders

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Files are those in the folders of private runs. All fields are required.
type Files struct {
	Data string // the daemon's data directory
	// Quota is how many bytes the home and the folder of a run may hold; below zero is no limit.
	Quota func() int64
}

// Write puts a piece of a file into the folder of a run. The first piece makes the file, under a name that is safe and
// free; each other one goes behind what is there.
func (f Files) Write(run sdk.Run, p rpc.WorkspaceWrite) (rpc.WorkspaceWritten, error) {
	switch n := int64(len(p.Data)); {
	case p.Size < 0 || p.Offset < 0 || p.Size > rpc.MaxWorkspaceFile:
		return rpc.WorkspaceWritten{}, sdk.Errorf(sdk.Overflow, "the file has %d bytes, and one may have %d", p.Size, rpc.MaxWorkspaceFile)
	case n > rpc.MaxWorkspacePiece || n == 0 && p.Size > 0:
		return rpc.WorkspaceWritten{}, sdk.Errorf(sdk.Validation, "a piece has 1 to %d bytes, and this one has %d", rpc.MaxWorkspacePiece, n)
	case p.Offset+n > p.Size:
		return rpc.WorkspaceWritten{}, sdk.Errorf(sdk.Validation, "the file has %d bytes, and this piece ends at %d", p.Size, p.Offset+n)
	}
	folder, err := f.folder(run)
	if err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	defer func() { _ = root.Close() }() // it was only opened
	var file *os.File
	if p.Offset == 0 {
		if err := f.room(run, p.Size); err != nil {
			return rpc.WorkspaceWritten{}, err
		}
		file, err = create(root, safeName(p.Name))
	} else {
		file, err = behind(root, p.Name, p.Offset)
	}
	if err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	_, err = file.Write(p.Data)
	if err = errors.Join(err, file.Close()); err != nil {
		return rpc.WorkspaceWritten{}, err
	}
	return rpc.WorkspaceWritten{Name: filepath.Base(file.Name()), Written: p.Offset + int64(len(p.Data))}, nil
}

// Read is a piece of a file in the folder of a run.
func (f Files) Read(run sdk.Run, p rpc.WorkspaceRead) (rpc.WorkspacePiece, error) {
	folder, err := f.folder(run)
	if err != nil {
		return rpc.WorkspacePiece{}, err
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = missing(p.Name)
	}
	if err != nil {
		return rpc.WorkspacePiece{}, err
	}
	defer func() { _ = root.Close() }() // it was only opened
	file, size, err := open(root, inFolder(p.Name), os.O_RDONLY)
	if err != nil {
		return rpc.WorkspacePiece{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if size > rpc.MaxWorkspaceFile {
		return rpc.WorkspacePiece{}, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and a file of up to %d can be fetched", p.Name, size, rpc.MaxWorkspaceFile)
	}
	if p.Offset < 0 || p.Offset > size {
		return rpc.WorkspacePiece{}, sdk.Errorf(sdk.Validation, "%s has %d bytes, and none at %d", p.Name, size, p.Offset)
	}
	data := make([]byte, min(size-p.Offset, rpc.MaxWorkspacePiece))
	n, err := file.ReadAt(data, p.Offset)
	if err != nil && !errors.Is(err, io.EOF) { // it may be shorter by now
		return rpc.WorkspacePiece{}, err
	}
	return rpc.WorkspacePiece{Data: data[:n], Size: size}, nil
}

// folder is that of a private run.
func (f Files) folder(run sdk.Run) (string, error) {
	folder := run.Folder(f.runDir(run))
	if folder == "" {
		return "", sdk.Errorf(sdk.Validation, "the run %s works in its project and has no folder of its own: put the file there", run.Alias)
	}
	return folder, nil
}

func (f Files) runDir(run sdk.Run) string { return filepath.Join(f.Data, "runs", run.Key) }

// room refuses a file for which a run has no quota left. What else is written meanwhile is found by the next command.
func (f Files) room(run sdk.Run, size int64) error {
	quota := f.Quota()
	if quota < 0 {
		return nil
	}
	used := int64(0)
	for _, folder := range []string{filepath.Join(f.runDir(run), "home"), run.Folder(f.runDir(run))} {
		_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what a command closed to others is not counted
			}
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				used += info.Size()
			}
			return nil
		})
	}
	if used+size > quota {
		return sdk.Errorf(sdk.Overflow, "the run holds %d bytes and may hold %d, so that %d more do not fit: have it remove what is not needed, or begin another run", used, quota, size)
	}
	return nil
}

// inFolder is the path of a file in the folder, also by the name that commands have for it.
func inFolder(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "/workspace/"), "./")
}

// behind opens a file to go on with it, where it has this many bytes.
func behind(root *os.Root, name string, offset int64) (*os.File, error) {
	if strings.ContainsRune(name, '/') {
		return nil, sdk.Errorf(sdk.Validation, "go on with a file by the name that the answer to its first piece has, which %q is not", name)
	}
	file, size, err := open(root, name, os.O_WRONLY|os.O_APPEND)
	if err == nil && size != offset {
		_ = file.Close() // nothing was written
		err = sdk.Errorf(sdk.Conflict, "%s has %d bytes, and the piece begins at %d: go on there, or begin anew at 0", name, size, offset)
	}
	return file, err
}

// open opens a regular file that lies below root, and tells its size. A command may have put anything in its place: what
// leads out is not followed, and what blocks is not waited for.
func open(root *os.Root, name string, how int) (*os.File, int64, error) {
	file, err := root.OpenFile(name, how|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) || name == "":
		return nil, 0, missing(name)
	case err != nil:
		return nil, 0, sdk.Errorf(sdk.Permission, "%s cannot be opened in the folder of the run", name)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = sdk.Errorf(sdk.Validation, "%s is no file with contents", name)
	}
	if err != nil {
		_ = file.Close() // nothing was done with it
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func missing(name string) error {
	return sdk.Errorf(sdk.NotFound, "there is no file %s in the folder of the run", name)
}
