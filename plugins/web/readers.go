package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
)

// readers turn foreign bytes into text, each document in a process of its own that has walls around it
// (package reader): what a document does there costs nobody else. Processes are started ahead, and wait: there is one for each
// request that is under way, since its server is waited for meanwhile, and never none.
type readers struct {
	program  string
	patience time.Duration // with one document
	places   chan struct{} // as many documents are read at a time

	mu      sync.Mutex
	asked   int        // requests under way
	ahead   []*process // those that wait
	busy    int        // those that have the document of such a request
	closed  bool
	tending sync.WaitGroup // what starts and ends those that wait
	tends   sync.Mutex     // one of these at a time
}

// mostReading is how many documents are read at a time: more than there are processors, so that one that is read
// quickly does not wait for those that are not. Each may come to reader.Memory.
const mostReading = 8

// mostAhead is how many wait at most: each has 1.5 MB that it shares with no other, and the one that waits for no request 8.
const mostAhead = 64

func newReaders() *readers {
	return &readers{program: ownProgram(), patience: reader.Wait, places: make(chan struct{}, mostReading)}
}

// ownProgram is the plugin's program. On Linux it is the one that runs, though another lies at its path by now.
func ownProgram() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	program, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return program
}

// process is one reader.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	said head
}

// head is the beginning of what is written to it.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	const most = 4096
	_, _ = h.Buffer.Write(p[:min(len(p), most-h.Len())]) // a buffer takes all
	return len(p), nil
}

// start starts a process, which waits for its document.
func (s *readers) start(more ...string) (*process, error) {
	r := &process{cmd: exec.Command(s.program, append([]string{reader.Argument}, more...)...)}
	r.cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	r.cmd.Dir = "/"
	r.cmd.Stderr = &r.said
	var err error
	if r.in, err = r.cmd.StdinPipe(); err == nil {
		r.out, err = r.cmd.StdoutPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the process that documents are read in does not start: %w", err)
	}
	return r, nil
}

// expect is told of a request, of which a document may come, and that it is answered by what it returns.
func (s *readers) expect() (answered func()) {
	s.expected(1)
	return func() { s.expected(-1) }
}

func (s *readers) expected(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked += more
	if !s.closed {
		s.tending.Go(s.tend)
	}
}

// tend starts a process where too few wait, or ends those that are too many. Nobody waits for it.
func (s *readers) tend() {
	s.tends.Lock()
	defer s.tends.Unlock()
	few, idle, many := s.count()
	for _, r := range many {
		r.end()
	}
	if !few {
		return
	}
	var more []string
	if idle {
		more = []string{reader.AtRest}
	}
	r, err := s.start(more...)
	if err != nil {
		slog.Warn("no reader could be started ahead", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = append(s.ahead, r)
}

// count reports whether too few wait and whether no request is under way, and takes those that are too many.
func (s *readers) count() (few, idle bool, many []*process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := min(max(s.asked-s.busy, 1), mostAhead)
	if s.closed {
		most = 0
	}
	if n := len(s.ahead) - most; n > 0 {
		many, s.ahead = s.ahead[:n], s.ahead[n:]
	}
	return len(s.ahead) < most, s.asked == 0, many
}

// take is a process that waits, or a new one. It is not busy any more when done is called.
func (s *readers) take() (r *process, done func(), err error) {
	s.mu.Lock()
	if s.busy++; len(s.ahead) > 0 {
		r, s.ahead = s.ahead[0], s.ahead[1:]
	}
	s.mu.Unlock()
	done = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
	}
	if r == nil {
		if r, err = s.start(); err != nil {
			done()
		}
	}
	return r, done, err
}

// close ends the processes that wait; those that read end with their calls.
func (s *readers) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.tending.Wait()
	s.tend()
}

// letGo ends a process that has answered. Its caller does not wait for that: it takes as long as giving back what the
// document took.
func (s *readers) letGo(r *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		r.end()
		return
	}
	s.tending.Go(r.end)
}

// end kills a process, and waits for it.
func (r *process) end() {
	_ = r.cmd.Process.Kill() // it may have ended
	_ = r.cmd.Wait()         // with the signal
}

// read is the text of a document. Its errors are sentences about the address.
func (s *readers) read(ctx context.Context, d reader.Document, body []byte) (string, reader.Reading, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return "", reader.Reading{}, ctx.Err()
	}
	r, done, err := s.take()
	if err != nil {
		return "", reader.Reading{}, err
	}
	defer done()
	text, said, err := r.read(ctx, d, body, s.patience)
	if err == errLost {
		if r, err = s.start(); err != nil {
			return "", reader.Reading{}, err
		}
		text, said, err = r.read(ctx, d, body, s.patience)
	}
	if err == nil {
		s.letGo(r)
	}
	if err == errLost {
		err = sdk.Errorf(sdk.Unavailable, "the process that read the document at %s was ended by somebody else; try again", hostOf(d.Address))
	}
	return text, said, err
}

var (
	errLate = errors.New("late") // the cause of a reader's end by the clock
	errLost = errors.New("lost") // somebody else ended a reader, perhaps while it waited
)

// read is the text that the process makes of a document. It is still to be ended where there is no error.
func (r *process) read(caller context.Context, d reader.Document, body []byte, patience time.Duration) (string, reader.Reading, error) {
	ctx, cancel := context.WithTimeoutCause(caller, patience, errLate)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = r.cmd.Process.Kill() }) // it may have ended
	defer stop()
	go r.hand(d, body)
	text, said, err := r.answer(d.Most)
	if err == nil && said.Failed == "" {
		return text, said, nil
	}
	if err != io.EOF {
		_ = r.cmd.Process.Kill() // whatever it still does, this was its answer
	}
	ended := r.cmd.Wait()
	switch {
	case caller.Err() != nil:
		return "", reader.Reading{}, caller.Err()
	case exited(ended, reader.ExitLate):
		return "", reader.Reading{}, sdk.Errorf(sdk.Timeout, "the document at %s takes more of a processor to read than the %v that one may", hostOf(d.Address), reader.Time)
	case context.Cause(ctx) == errLate:
		return "", reader.Reading{}, sdk.Errorf(sdk.Timeout, "the document at %s was not read within %v, perhaps since other work takes this machine's processors; try again when it has less to do", hostOf(d.Address), patience)
	case exited(ended, reader.ExitUnwalled):
		slog.Error("a reader could not give up its rights", "error", r.said.String())
		return "", reader.Reading{}, sdk.Errorf(sdk.Unavailable, "documents are not read here: the process for it cannot give up its rights, see `bothy logs`")
	case err == io.EOF && signalled(ended):
		return "", reader.Reading{}, errLost
	case err != nil && strings.Contains(r.said.String(), "memory"):
		return "", reader.Reading{}, sdk.Errorf(sdk.OutOfMemory, "the document at %s needs more memory to be read than the %d MB that one may", hostOf(d.Address), reader.Memory>>20)
	case err != nil:
		return "", reader.Reading{}, sdk.Errorf(sdk.Validation, "the document at %s broke its reader: it is not formed as it should be", hostOf(d.Address))
	}
	return "", reader.Reading{}, sdk.Errorf(sdk.Validation, "the document at %s %s", hostOf(d.Address), said.Failed)
}

// hand gives the process its document. One that ends before has no use for the rest.
func (r *process) hand(d reader.Document, body []byte) {
	defer func() { _ = r.in.Close() }() // which tells it that this is all
	line, err := json.Marshal(d)
	if err != nil {
		return // it has no channels or functions
	}
	if _, err := r.in.Write(append(line, '\n')); err == nil {
		_, _ = r.in.Write(body) // the same
	}
}

// answer is what the process makes of its document. What it says is believed as little as the document.
func (r *process) answer(most int) (string, reader.Reading, error) {
	const mostHead = 64 << 10
	in := bufio.NewReaderSize(io.LimitReader(r.out, int64(most)+mostHead), mostHead)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return "", reader.Reading{}, err
	}
	var said reader.Reading
	if err := json.Unmarshal(line, &said); err != nil {
		return "", reader.Reading{}, err
	}
	if said.Length < 0 || said.Length > most {
		return "", reader.Reading{}, io.ErrShortBuffer
	}
	text := make([]byte, said.Length)
	if _, err := io.ReadFull(in, text); err != nil {
		return "", reader.Reading{}, err
	}
	said.Title = titled(said.Title)
	return strings.ToValidUTF8(string(text), "\uFFFD"), said, nil
}

// exited reports whether a process ended with the code.
func exited(ended error, code int) bool {
	status, is := statusOf(ended)
	return is && status.Exited() && status.ExitStatus() == code
}

// signalled reports whether a process was killed.
func signalled(ended error) bool {
	status, is := statusOf(ended)
	return is && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func statusOf(ended error) (syscall.WaitStatus, bool) {
	failed, is := errors.AsType[*exec.ExitError](ended)
	if !is {
		return 0, false
	}
	status, is := failed.Sys().(syscall.WaitStatus)
	return status, is
}
