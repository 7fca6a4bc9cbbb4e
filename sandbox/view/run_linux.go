package main

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// run serves one manager until it ends its side.
func run() error {
	unix.Umask(0)
	debug.SetGCPercent(400) // what is made is answered and forgotten
	s := &server{out: gob.NewEncoder(os.Stdout)}
	if err := s.out.Encode(frame.ViewHello{Version: frame.ViewVersion}); err != nil {
		return fmt.Errorf("greet the manager: %w", err)
	}
	in := gob.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var r frame.ViewRequest
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		go s.serve(r)
	}
}

type server struct {
	mu  sync.Mutex
	out *gob.Encoder
}

func (s *server) serve(r frame.ViewRequest) {
	reply := frame.ViewReply{ID: r.ID}
	if err := answer(r, &reply); err != nil {
		reply.Error = err.Error()
		if f, ok := errors.AsType[*fault](err); ok {
			reply.Code = f.code
		}
	}
	hit()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.out.Encode(reply); err != nil {
		fmt.Fprintln(os.Stderr, "bothy-view: answer:", err)
		os.Exit(1)
	}
}

// fault is an error that the manager knows by its code.
type fault struct{ code, text string }

func (f *fault) Error() string { return f.text }

func refused(format string, args ...any) error {
	return &fault{code: frame.ViewRefused, text: fmt.Sprintf(format, args...)}
}

func answer(r frame.ViewRequest, to *frame.ViewReply) (err error) {
	switch r.Op {
	case frame.ViewSlot:
		return makeSlot(r.Path)
	case frame.ViewUnslot:
		return removeSlot(r.Path)
	case frame.ViewUnmount:
		return unmount(r.Path, r.Alone)
	case frame.ViewLeftovers:
		to.Paths, err = leftovers(r.Path)
		return err
	case frame.ViewRemove:
		return remove(r.Path)
	case frame.ViewProbe:
		to.Probe, err = probe(r.Path, r.Paths)
		return err
	}
	v, err := openView(r.View)
	if err != nil {
		return err
	}
	defer v.close()
	switch r.Op {
	case frame.ViewMountOp:
		err = v.mount()
	case frame.ViewList:
		to.Changes, err = v.list(r.Most)
	case frame.ViewRead:
		to.Data, err = v.read(r.Path, r.Most)
	case frame.ViewSync:
		err = v.sync(r.Paths)
	case frame.ViewApply:
		to.Results, err = v.apply(r.Steps)
	default:
		err = fmt.Errorf("there is no request %q", r.Op)
	}
	return err
}
