// Package project knows what a project directory tells Bothy about itself.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// instructionNames are the files that tell agents what to do, the first that a
// folder has counts (https://agents.md).
var instructionNames = []string{"AGENTS.md", "CLAUDE.md"}

// Limits on what is read of them.
const (
	MaxInstructions = 64 << 10 // of one file, in bytes
	MaxNested       = 8        // files that one call is told of
	maxFolders      = 256      // that are looked at for one call
)

// InstructionFiles reads what files tell agents. Those of a project are opened
// without leaving it, so a link out of it is an error; so is anything but a regular
// file, which is never waited for. What exceeds MaxInstructions is left out, and the
// text says so.
type InstructionFiles struct {
	Folder  func() string          // where the user's lie; empty is nowhere
	Trusted func(root string) bool // whether a person agreed to those of a project
}

// User reads the user's own. They are the person's, so that links are followed.
func (f InstructionFiles) User() (sdk.Instructions, error) {
	dir := f.Folder()
	if dir == "" {
		return sdk.Instructions{}, nil
	}
	found, _, err := instructionsIn(dir, ".", func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
	return found, err
}

// Project reads those at the root of a project. Where nobody agreed to them they
// are named and not opened.
func (f InstructionFiles) Project(root string) (sdk.Instructions, error) {
	dir, err := openRoot(root)
	if err != nil {
		return sdk.Instructions{}, err
	}
	defer dir.Close()
	return f.read(dir, root, ".")
}

// Show reads those at the root of a project for a person who is asked about them,
// with the size of the whole file.
func (f InstructionFiles) Show(root string) (found sdk.Instructions, size int64, err error) {
	dir, err := openRoot(root)
	if err != nil {
		return found, 0, err
	}
	defer dir.Close()
	return readInstructions(dir, root, ".")
}

// Nested reads those of the folders between the root of a project, which is none of
// them, and the paths, which are relative to it and may be folders themselves: the
// outermost first, and of those that are fresh no more than MaxNested. The error
// tells of files that could not be read, beside what was found.
func (f InstructionFiles) Nested(root string, paths []string, fresh func(sdk.Instructions) bool) ([]sdk.Instructions, error) {
	folders := foldersTo(paths)
	if len(folders) == 0 {
		return nil, nil
	}
	dir, err := openRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var all []sdk.Instructions
	var failed error
	for _, folder := range folders {
		found, err := f.read(dir, root, folder)
		switch {
		case err != nil && failed == nil:
			failed = err
		case err != nil, found.File == "", !found.Untrusted && found.Text == "", !fresh(found):
		default:
			all = append(all, found)
		}
		if len(all) == MaxNested {
			break
		}
	}
	return all, failed
}

// foldersTo are the folders on the way to paths of a project, and the paths, without
// the root: outermost first.
func foldersTo(paths []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, p := range paths {
		if p = path.Clean(p); !filepath.IsLocal(p) || strings.ContainsRune(p, 0) {
			continue
		}
		for ; p != "." && !seen[p]; p = path.Dir(p) {
			seen[p] = true
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return all[:min(len(all), maxFolders)]
}

func openRoot(root string) (*os.Root, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project %s: %w", root, err)
	}
	return dir, nil
}

// read reads what a folder of a project has, if a person agreed to it.
func (f InstructionFiles) read(dir *os.Root, root, folder string) (sdk.Instructions, error) {
	if f.Trusted(root) {
		found, _, err := readInstructions(dir, root, folder)
		return found, err
	}
	for _, name := range instructionNames {
		file := path.Join(folder, name)
		switch _, err := dir.Lstat(file); {
		case err == nil:
			return sdk.Instructions{File: file, Untrusted: true}, nil
		case !missing(err):
			return sdk.Instructions{}, fmt.Errorf("look for %s of %s: %w", file, root, err)
		}
	}
	return sdk.Instructions{}, nil
}

func readInstructions(dir *os.Root, root, folder string) (sdk.Instructions, int64, error) {
	return instructionsIn(root, folder, func(name string) (*os.File, error) {
		return dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
}

// instructionsIn reads the first of the files that a folder below root has. open must
// not block: a named pipe of that name must not hold up a turn.
func instructionsIn(root, folder string, open func(name string) (*os.File, error)) (found sdk.Instructions, size int64, err error) {
	for _, name := range instructionNames {
		file := path.Join(folder, name)
		f, err := open(file)
		switch {
		case err == nil:
			defer f.Close()
			text, size, err := readText(f, name)
			if err != nil {
				return sdk.Instructions{}, 0, fmt.Errorf("read %s of %s: %w", file, root, err)
			}
			return sdk.Instructions{File: file, Text: text}, size, nil
		case !missing(err):
			return sdk.Instructions{}, 0, fmt.Errorf("open %s of %s: %w", file, root, err)
		}
	}
	return sdk.Instructions{}, 0, nil
}

// missing reports whether there is no such file: what would be its folder may be a
// file, or a name that no folder can have.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// readText is what an open file says: no byte order mark, valid UTF-8, line ends as on
// Unix, cut at the limit.
func readText(f *os.File, name string) (string, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, errors.New("it is no regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxInstructions+1))
	if err != nil {
		return "", 0, err
	}
	cut := len(b) > MaxInstructions
	if cut {
		b = b[:MaxInstructions]
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\uFEFF"), "")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if cut {
		text += fmt.Sprintf("\n\n[%s is longer than %d KiB; the rest was left out here and can be read as a file.]", name, MaxInstructions>>10)
	}
	return text, info.Size(), nil
}
