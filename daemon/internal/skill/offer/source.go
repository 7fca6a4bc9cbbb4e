package offer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

const skillFile = "SKILL.md"

// source is what a skill is made of, within the limits of one.
type source struct {
	at    string // as it was asked for
	name  string // for a skill that gives itself none
	parts []part
	size  int64

	folders map[string]bool // that its files lie in
}

// part is one file.
type part struct {
	path       string // with slashes
	executable bool
	content    []byte
}

// single is a skill of one file.
func single(at string, text []byte) source {
	base := path.Base(filepath.ToSlash(at))
	if strings.EqualFold(base, skillFile) {
		base = path.Base(path.Dir(filepath.ToSlash(at)))
	}
	return source{at: at, name: strings.TrimSuffix(base, path.Ext(base)), parts: []part{{skillFile, false, text}}}
}

// add takes a file, of which at most one byte more than the limits leave is read.
func (s *source) add(name string, executable bool, content io.Reader) error {
	if len(s.parts) == skill.MaxFiles {
		return sdk.Errorf(sdk.Validation, "%.200q is no skill: it has more than %d files", s.at, skill.MaxFiles)
	}
	if err := s.place(name); err != nil {
		return err
	}
	left := skill.MaxBytes - s.size
	text, err := io.ReadAll(io.LimitReader(content, left+1))
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%.200q in %.200q cannot be read: %w", name, s.at, err)
	}
	if s.size += int64(len(text)); int64(len(text)) > left {
		return sdk.Errorf(sdk.Validation, "%.200q is no skill: its files have more than %d MiB together", s.at, skill.MaxBytes>>20)
	}
	s.parts = append(s.parts, part{name, executable, text})
	return nil
}

// place counts the folders that a file lies in: all of them are made where the skill is kept, and a path of an archive may have
// thousands.
func (s *source) place(name string) error {
	if len(name) > skill.MaxPath {
		return sdk.Errorf(sdk.Validation, "%.200q has a path of more than %d bytes: %.200q", s.at, skill.MaxPath, name)
	}
	for at := path.Dir(name); at != "." && !s.folders[at]; at = path.Dir(at) {
		if s.folders == nil {
			s.folders = map[string]bool{}
		}
		if s.folders[at] = true; len(s.folders) > mostNames {
			return sdk.Errorf(sdk.Validation, "%.200q is no skill: its files lie in more than %d folders", s.at, mostNames)
		}
	}
	return nil
}

// write writes the files into a folder that is empty, and never out of it. Whether the names can be
// those of a skill says who reads them there.
func (s *source) write(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "the skill cannot be kept: %w", err)
	}
	defer root.Close()
	for _, p := range s.parts {
		mode := fs.FileMode(0o600)
		if p.executable {
			mode = 0o700
		}
		err := root.MkdirAll(path.Dir(p.path), 0o700)
		var f *os.File
		if err == nil {
			f, err = root.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		}
		if err == nil {
			_, err = f.Write(p.content)
			err = errors.Join(err, f.Chmod(mode), f.Close())
		}
		switch {
		case errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
			return sdk.Errorf(sdk.Validation, "%.200q has %.200q twice, or as a file and a folder", s.at, p.path)
		case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
			return sdk.Errorf(sdk.Validation, "%.200q has a name that no file can have: %.200q", s.at, p.path)
		case err != nil:
			return sdk.Errorf(sdk.Unavailable, "the skill cannot be kept: %w", err)
		}
	}
	return nil
}

// read reads what is at a path below the project, where each file may be read. Nothing is read through a link that leads
// out of it.
func read(ctx context.Context, project, at string, may func(path string) error) (source, error) {
	within := at
	if filepath.IsAbs(at) {
		rel, err := filepath.Rel(project, at)
		if err != nil {
			rel = ".." // it is refused
		}
		within = rel
	}
	if within = filepath.Clean(within); !filepath.IsLocal(within) || within == "." {
		return source{}, sdk.Errorf(sdk.Permission, "%.200q does not lie below the project: a skill is taken from there, or is one of the list", at)
	}
	within = filepath.ToSlash(within)
	root, err := os.OpenRoot(project)
	if err != nil {
		return source{}, sdk.Errorf(sdk.Unavailable, "the project cannot be looked into: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(within)
	switch kind := strings.ToLower(path.Ext(within)); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return source{}, sdk.Errorf(sdk.NotFound, "there is no file or folder %.200q in the project", at)
	case err != nil:
		return source{}, sdk.Errorf(sdk.Permission, "%.200q cannot be taken as a skill: %w", at, err)
	case info.IsDir():
		return readFolder(ctx, root, within, at, may)
	case info.Mode().IsRegular() && (kind == ".md" || kind == ".zip"):
		if err := may(within); err != nil {
			return source{}, err
		}
		return readFile(ctx, root, within, at, kind == ".zip")
	}
	return source{}, sdk.Errorf(sdk.Validation, "%.200q is no skill: that is a folder with a %s, one Markdown file (.md), or a .zip of such a folder", at, skillFile)
}

// readFile takes one file as a SKILL.md, or what it holds as an archive.
func readFile(ctx context.Context, project *os.Root, within, at string, archive bool) (source, error) {
	found := single(within, nil)
	found.at, found.parts = at, nil
	if err := found.file(project, within, skillFile); err != nil || !archive {
		return found, err
	}
	packed := found.parts[0].content
	found.parts, found.size = nil, 0
	return found, found.unzip(ctx, packed)
}

// file takes one file. It never waits: what became a pipe meanwhile is no file any more.
func (s *source) file(root *os.Root, at, name string) error {
	f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "%.200q cannot be read: %w", at, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return sdk.Errorf(sdk.Validation, "%.200q is no file", at)
	}
	return s.add(name, info.Mode().Perm()&0o111 != 0, f)
}

// mostNames is how many names a folder or an archive may have, whatever they stand for.
const mostNames = 4 * skill.MaxFiles

// readFolder takes the files below a folder of the project. A link among them is refused.
func readFolder(ctx context.Context, project *os.Root, within, at string, may func(path string) error) (source, error) {
	found := source{at: at, name: path.Base(within)}
	root, err := project.OpenRoot(within)
	if err != nil {
		return found, sdk.Errorf(sdk.Unavailable, "%.200q cannot be looked into: %w", at, err)
	}
	defer root.Close()
	if _, err := root.Lstat(skillFile); err != nil { // a project is not read for nothing
		return found, sdk.Errorf(sdk.Validation, "%.200q is no skill: it has no %s", at, skillFile)
	}
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if seen++; seen > mostNames {
			return sdk.Errorf(sdk.Validation, "%.200q is no skill: it holds more than %d names", at, mostNames)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return sdk.Errorf(sdk.Unavailable, "%.200q in %.200q cannot be read: %w", name, at, err)
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return sdk.Errorf(sdk.Validation, "%.200q in %.200q is no file: put the file itself in its place", name, at)
		}
		if err := may(path.Join(within, name)); err != nil {
			return err
		}
		return found.file(root, name, name)
	})
	return found, err
}
