package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// output reads one channel of a command to its end: it sends what is within
// the cap and counts the rest, so that a command never blocks on a full pipe.
type output struct {
	pipe    *os.File
	dropped int64
}

// newOutput makes the pipe of a channel. The second value is the command's end,
// to be closed once the command has it.
func newOutput() (*output, int, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("make a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
		return nil, -1, fmt.Errorf("make a pipe: %w", err)
	}
	return &output{pipe: os.NewFile(uintptr(fds[0]), "output")}, fds[1], nil
}

// drain copies until the pipe ends. A failed send only stops the sending: the
// manager is gone then, and what is kept is for the next one.
func (o *output) drain(id uint64, channel byte, limit int64, send func([]byte) error, kept *kept) {
	chunk := frame.NewChunkBuffer(id, channel)
	var taken int64
	alone := false
	for {
		n, err := o.pipe.Read(chunk.Space())
		within := min(int64(n), max(limit-taken, 0))
		o.dropped += int64(n) - within
		if within > 0 {
			taken += within
			kept.add(chunk.Space()[:within])
			alone = alone || send(chunk.Frame(int(within))) != nil
		}
		if err != nil {
			return
		}
	}
}

// abandon ends the drains of pipes that something unkillable may hold open. In
// the usual case it is not called: with every writer dead the pipes end by
// themselves, however slowly the manager takes the rest.
func abandon(limit time.Duration, outputs ...*output) {
	for _, o := range outputs {
		_ = o.pipe.SetReadDeadline(time.Now().Add(limit))
	}
}
