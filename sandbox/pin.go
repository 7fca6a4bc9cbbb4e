package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sandbox/frame"
)

// Podman mounts by path, and a command of another run may have the folder that a
// project lies in: between a look at the project and its mount it can put a link
// there. So what is mounted is opened first, without following any link, and
// stays open, so that no other file gets its inode; the runner says what it
// found inside before it gets a command.

// pin is an open directory or file of the host, and where a container has it.
type pin struct {
	file  *os.File
	place frame.Place
}

type pins []pin

// errShifted says that a path in a project is no longer what it was when the
// container was planned. Nothing was run: it is planned again.
var errShifted = errors.New("it is no longer what it was")

// pinProject opens the directory of a project.
func pinProject(path string) (*os.File, error) {
	project, err := pinAt(nil, path, true)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, invalid(fmt.Sprintf("project %s is a symbolic link, or one is on its way; name the directory itself", path))
	case errors.Is(err, syscall.ENOTDIR):
		return nil, invalid(fmt.Sprintf("project %s is not a directory", path))
	case errors.Is(err, syscall.ENOSYS):
		return nil, unavailable("this kernel cannot open a project without following links", "use Linux 5.6 or later", err)
	case err != nil:
		return nil, &Error{Code: CodeInvalid, Message: "project directory cannot be used", Err: err}
	}
	return project, nil
}

// pin opens the directories that a run's container mounts; the workspace comes
// first. What leads to the run's directory is the operator's.
func (r RunSpec) pin() (_ pins, err error) {
	runDir, err := os.Open(r.RunDir)
	if err != nil {
		return nil, failed("open the run's directory", err)
	}
	defer runDir.Close()
	var all pins
	defer func() {
		if err != nil {
			all.close()
		}
	}()
	open := func() (*os.File, error) { return pinAt(runDir, "workspace", true) }
	switch {
	case r.slot != "":
		open = func() (*os.File, error) { return pinAt(nil, r.slot, true) }
	case r.Project != "":
		open = func() (*os.File, error) { return pinProject(r.Workspace()) }
	}
	for _, root := range r.roots() {
		file, err := open()
		if err = all.add(file, root, err); err != nil {
			return nil, err
		}
	}
	for inside, path := range map[string]string{Home: "home", Skills: "skills"} {
		file, err := pinAt(runDir, path, true)
		if err := all.add(file, inside, err); err != nil {
			return nil, failed("open the run's directories", err)
		}
	}
	return all, nil
}

// below opens what of the project is mounted over itself.
func (ps pins) below(run RunSpec, p *protection) (pins, error) {
	var all pins
	for _, root := range run.roots() {
		for _, m := range p.mounts {
			file, err := pinAt(ps[0].file, m.Path, false)
			if err := all.add(file, root+"/"+filepath.ToSlash(m.Path), err); err != nil {
				all.close()
				return nil, fmt.Errorf("%s: %w: %w", m.Path, errShifted, err)
			}
		}
	}
	return all, nil
}

func (ps *pins) add(file *os.File, inside string, err error) error {
	if err != nil {
		return err
	}
	place := frame.Place{Path: inside}
	if place.Device, place.Inode, err = identity(file); err != nil {
		return errors.Join(err, file.Close())
	}
	*ps = append(*ps, pin{file: file, place: place})
	return nil
}

func (ps pins) close() {
	for _, p := range ps {
		_ = p.file.Close()
	}
}

// other is the first pin that is not among the places, or nil.
func (ps pins) other(places []frame.Place) *pin {
	for i := range ps {
		if !slices.Contains(places, ps[i].place) {
			return &ps[i]
		}
	}
	return nil
}

// swapped is an [Error] when a container has another directory than was opened.
func (ps pins) swapped(places []frame.Place) error {
	p := ps.other(places)
	if p == nil {
		return nil
	}
	return &Error{Code: CodeSwapped, Message: fmt.Sprintf("the command was not run: something else was put in the place of %s while its container was being made", p.file.Name()),
		Hint: "look at what other runs do in the folders above it, and try again"}
}

// shifted is the same for what lies in the project.
func (ps pins) shifted(places []frame.Place) error {
	p := ps.other(places)
	if p == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.TrimPrefix(p.place.Path, Workspace+"/"), errShifted)
}

// swapped is the violation of a container that was made of something else.
func (s *session) swapped(err error) []Violation {
	found := append(s.pending, Violation{Path: ".", Action: ActionReported, Detail: err.Error()})
	s.pending = nil
	s.manager.logger.Warn("something else was put in the place of what a container mounts", "run", s.run, "error", err)
	return found
}
