package sandbox

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bothyd/bothy/sandbox/frame"
)

// The nouns of views are those of the wire.
type (
	viewSpec     = frame.View
	viewIdentity = frame.ViewIdentity
	viewChange   = frame.ViewChange
	viewStep     = frame.ViewStep
	viewResult   = frame.ViewResult
	viewProbed   = frame.ViewProbed
)

var (
	// errViewBusy is of a view that cannot be unmounted: a process still uses it.
	errViewBusy = errors.New("a process still uses the view")
	// errViewLarge is of a list or a file with more than was allowed; the error
	// that wraps it is a sentence.
	errViewLarge = errors.New("it is more than allowed")
)

// viewer is the helper process that makes views. It may be used from any
// goroutine. A context ends the waiting for an answer, not what the helper does.
// When the helper dies, what waits and all that comes after is an [Error] with
// [CodeLost]: what was asked may be done, half done or not begun.
type viewer struct {
	proc  *child
	stdin io.Closer

	mu      sync.Mutex // of all below
	out     *gob.Encoder
	last    uint64
	waiting map[uint64]chan frame.ViewReply
	ended   bool
}

// serve hands each answer to who waits for it, until the helper ends.
func (v *viewer) serve(in *gob.Decoder) {
	for {
		var reply frame.ViewReply
		if in.Decode(&reply) != nil {
			break
		}
		v.mu.Lock()
		if to := v.waiting[reply.ID]; to != nil {
			to <- reply
			delete(v.waiting, reply.ID)
		}
		v.mu.Unlock()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	for id, to := range v.waiting {
		close(to)
		delete(v.waiting, id)
	}
}

// alive says whether the helper still answers.
func (v *viewer) alive() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.ended
}

func (v *viewer) lost() error {
	return &Error{Code: CodeLost, Message: "the program that makes views has ended" + v.proc.stderr.suffix(), Hint: "the next command starts it again"}
}

// ask makes one request.
func (v *viewer) ask(ctx context.Context, r frame.ViewRequest) (frame.ViewReply, error) {
	answer := make(chan frame.ViewReply, 1)
	v.mu.Lock()
	v.last++
	r.ID = v.last
	if v.ended || v.out.Encode(r) != nil {
		v.ended = true
		v.mu.Unlock()
		return frame.ViewReply{}, v.lost()
	}
	v.waiting[r.ID] = answer
	v.mu.Unlock()
	select {
	case reply, ok := <-answer:
		if !ok {
			return frame.ViewReply{}, v.lost()
		}
		return reply, viewError(reply)
	case <-ctx.Done():
		v.mu.Lock()
		delete(v.waiting, r.ID)
		v.mu.Unlock()
		return frame.ViewReply{}, context.Cause(ctx)
	}
}

// viewError is the error of an answer, or nil.
func viewError(reply frame.ViewReply) error {
	switch {
	case reply.Error == "":
		return nil
	case reply.Code == frame.ViewBusy:
		return errViewBusy
	case reply.Code == frame.ViewLarge:
		return fmt.Errorf("%w: %s", errViewLarge, reply.Error)
	case reply.Code == frame.ViewRefused:
		return unavailable(reply.Error, "", nil)
	case reply.Code == frame.ViewSwapped:
		return &Error{Code: CodeSwapped, Message: reply.Error}
	default:
		return failed("a view", errors.New(reply.Error))
	}
}

// slot makes the folder on which views are mounted, so that a container which
// binds it (read-only, with rslave) sees what is mounted there. A view that a dead
// manager left on it is unmounted; errViewBusy says that a container still uses
// that. Slots lie in a folder that only the user can enter. Make it before the
// container, and the container while nothing is mounted on it: else that is what
// the container has for ever.
func (v *viewer) slot(ctx context.Context, path string) error {
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewSlot, Path: path})
	return err
}

// unslot removes the folder, with a view that is on it.
func (v *viewer) unslot(ctx context.Context, path string) error {
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewUnslot, Path: path})
	return err
}

// mount mounts a view on its slot. Dir must exist and have no changes in it; a view is made
// of a folder once. A project or folders that do not suit are [CodeUnavailable], a
// project that is another one than was looked at is [CodeSwapped].
func (v *viewer) mount(ctx context.Context, s viewSpec) error {
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewMountOp, View: s})
	return err
}

// unmount takes the view off a slot; without one there is nothing to do. Alone
// says that no process of the container is left: then a view that stays busy for
// half a second is detached. Else that is errViewBusy, and the container must go
// first: a process that is left would go on to write.
func (v *viewer) unmount(ctx context.Context, slot string, alone bool) error {
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewUnmount, Path: slot, Alone: alone})
	return err
}

// list is what a command changed, parents before what is in them, beside what the
// project has there now. Folders that only lead on are left out. More changes than
// most are errViewLarge; so is, where most is 0, a folder that only leads on. The view
// must not be mounted any more, unless to see whether there is any change.
func (v *viewer) list(ctx context.Context, s viewSpec, most int) ([]viewChange, error) {
	reply, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewList, View: s, Most: most})
	return reply.Changes, err
}

// read is a file as the command left it; one of more than most bytes is
// errViewLarge, what is no file is [CodeUnavailable].
func (v *viewer) read(ctx context.Context, s viewSpec, path string, most int) ([]byte, error) {
	reply, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewRead, View: s, Path: path, Most: most})
	return reply.Data, err
}

// mostSynced is how many paths are brought to the disk one by one.
const mostSynced = 256

// sync brings what the command changed to the disk: the paths of a list, or, when
// there are many or none are named, everything on the file system of the view.
func (v *viewer) sync(ctx context.Context, s viewSpec, paths []string) error {
	if len(paths) > mostSynced {
		paths = nil
	}
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewSync, View: s, Paths: paths})
	return err
}

// remove removes a folder with all that is in it, such as the Dir of a view that
// is not mounted any more. One that is not there will do.
func (v *viewer) remove(ctx context.Context, dir string) error {
	_, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewRemove, Path: dir})
	return err
}

// leftovers are the slots at and below a folder on which a view is mounted: at a
// start, those of a manager that died.
func (v *viewer) leftovers(ctx context.Context, folder string) ([]string, error) {
	reply, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewLeftovers, Path: folder})
	return reply.Paths, err
}

// apply makes steps one after the other and answers each. A step that is a
// conflict does not end it; another failure does, with the results of the steps
// before. The same steps can be given again after a crash of whatever died: they
// end in the same state. What comes out of the project is in Dir until that is
// removed; where, says [viewResult.Old].
func (v *viewer) apply(ctx context.Context, s viewSpec, steps []viewStep) ([]viewResult, error) {
	reply, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewApply, View: s, Steps: steps})
	return reply.Results, err
}

// probe tries whether views of a project are possible, and where: in the first of
// some folders that suits. They are named for this alone, and one that is missing
// is made for the trial only. An empty project tries the folders. Whether a
// container sees what is mounted on a slot it cannot tell.
func (v *viewer) probe(ctx context.Context, project string, dirs []string) (viewProbed, error) {
	reply, err := v.ask(ctx, frame.ViewRequest{Op: frame.ViewProbe, Path: project, Paths: dirs})
	return reply.Probe, err
}
