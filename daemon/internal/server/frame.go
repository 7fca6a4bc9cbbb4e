package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// frameReader reads one message a line. A client may be silent for as long as
// it likes between messages, but must begin within FirstByte and must end a
// message within Partial of its first byte.
type frameReader struct {
	conn   net.Conn
	in     *bufio.Reader
	limits Limits
	begun  bool
}

func newFrameReader(c net.Conn, limits Limits) *frameReader {
	return &frameReader{conn: c, in: bufio.NewReaderSize(c, 32<<10), limits: limits}
}

// errTooLong ends a connection: what follows in the stream is the rest of the
// message, and reading on to its end is what the limit is there to avoid.
var errTooLong = errors.New("message too long")

// next returns the next message without its newline. Empty lines are skipped.
// A message that the end of the stream cuts is still a message.
func (f *frameReader) next() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (f *frameReader) line() ([]byte, error) {
	var first time.Time
	if !f.begun {
		first = time.Now().Add(f.limits.FirstByte)
	}
	if err := f.conn.SetReadDeadline(first); err != nil {
		return nil, err
	}
	if _, err := f.in.Peek(1); err != nil {
		return nil, err
	}
	f.begun = true
	if err := f.conn.SetReadDeadline(time.Now().Add(f.limits.Partial)); err != nil {
		return nil, err
	}
	var line []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if len(line)+len(part) > f.limits.Frame+1 { // the newline is free
			return nil, errTooLong
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		return line, nil
	}
}

// checkFrame refuses what the decoder would let pass: deep nesting, text that
// is not UTF-8, and objects that name a member twice, of which two readers may
// believe different ones.
func checkFrame(frame []byte, depth int) *rpc.Error {
	if !utf8.Valid(frame) {
		return rpc.Errorf(rpc.CodeParse, sdk.Validation, "the message is not valid UTF-8")
	}
	fault := sdk.CheckJSON(frame, depth)
	switch {
	case fault == nil:
		return nil
	case fault.Kind == sdk.JSONDeep:
		return rpc.Errorf(rpc.CodeInvalid, sdk.Validation, fmt.Sprintf("the message is nested deeper than %d levels", depth))
	case fault.Kind == sdk.JSONTwice:
		return rpc.Errorf(rpc.CodeInvalid, sdk.Validation, fmt.Sprintf("the message names %q twice in one object", fault.Name))
	default:
		return rpc.Errorf(rpc.CodeParse, sdk.Validation, fmt.Sprintf("the message is no JSON: %v", fault.Err))
	}
}
