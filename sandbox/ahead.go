package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A view is mounted ahead of the command that will have it, behind the result of the
// one before: nobody waits for that. Until the command nobody looks anything up in the
// view, so that it shows the project as it is then, and it has no note: the note says
// since when somebody could have looked.

// aheadFor is how long a view waits for its command. The file system of the project is
// in use as long.
const aheadFor = 10 * time.Second

// ahead is a view that waits for its command.
type ahead struct {
	view *view
	top  topMode
	idle *time.Timer
}

// topMode is what a view copies of the project's own folder when it is mounted.
type topMode struct {
	mode     uint32
	uid, gid uint32
}

// topOf looks at the project's folder.
func topOf(project *os.File) (topMode, error) {
	info, err := project.Stat()
	if err != nil {
		return topMode{}, err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if st == nil {
		return topMode{mode: uint32(info.Mode())}, nil
	}
	return topMode{mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid}, nil
}

// mountAhead mounts the view of the run's next command. Who has the turn calls it, when
// the run has a container. What goes wrong is found again by that command.
func (s *session) mountAhead(run RunSpec, way *viewWay) {
	if s.ahead != nil || s.container == nil || s.manager.life.Err() != nil || isFolder(filepath.Join(s.viewsDir(way.upper), heldName)) {
		return
	}
	ctx, cancel := context.WithTimeout(s.manager.life, apiTimeout)
	defer cancel()
	v, top, err := s.mountView(ctx, run, way)
	if err != nil {
		s.manager.logger.Debug("no view is mounted ahead", "run", s.run, "error", err)
		return
	}
	a := &ahead{view: v, top: top}
	a.idle = time.AfterFunc(aheadFor, func() { s.tooLong(a) })
	s.ahead = a
}

// tooLong takes away a view whose command does not come. While somebody has the turn it
// looks again later.
func (s *session) tooLong(a *ahead) {
	select {
	case s.turn <- struct{}{}:
	default:
		time.AfterFunc(aheadFor, func() { s.tooLong(a) })
		return
	}
	defer s.give()
	if s.ahead == a {
		s.dropAhead()
	}
}

// takeAhead is the view that waits, if the command can have it, and otherwise none is
// left.
func (s *session) takeAhead(run RunSpec, way *viewWay) *view {
	a := s.ahead
	if a == nil {
		return nil
	}
	if !s.suits(a, run, way) {
		s.dropAhead()
		return nil
	}
	a.idle.Stop()
	s.ahead = nil
	return a.view
}

// suits says whether a view that waits is of the project as it is now.
func (s *session) suits(a *ahead, run RunSpec, way *viewWay) bool {
	if a.view.viewer != way.viewer || !way.viewer.alive() || filepath.Dir(a.view.spec.Dir) != s.viewsDir(way.upper) ||
		isFolder(filepath.Join(s.viewsDir(way.upper), heldName)) {
		return false
	}
	project, err := pinProject(run.Project)
	if err != nil {
		return false
	}
	defer func() { _ = project.Close() }()
	device, inode, err := identity(project)
	if err != nil || device != a.view.note.Device || inode != a.view.note.Inode || filepath.Clean(run.Project) != a.view.note.Project {
		return false
	}
	top, err := topOf(project)
	return err == nil && top == a.top
}

// dropAhead takes the view that waits away, if there is one. Who has the turn calls it.
func (s *session) dropAhead() {
	a := s.ahead
	if a == nil {
		return
	}
	s.ahead = nil
	a.idle.Stop()
	if err := a.view.discard(); err != nil {
		s.manager.logger.Debug("a view is left for the next command to take away", "run", s.run, "error", err)
	}
}
