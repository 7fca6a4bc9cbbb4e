package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// event is one server-sent event (WHATWG HTML, section 9.2).
type event struct {
	name string
	data []byte

	// unended says that the stream ended before the blank line that ends an
	// event. Many servers leave it out after their last one, so it is given and
	// not dropped; that it was cut shows in its data.
	unended bool
}

// Bounds of a stream. A line is one JSON document, so it holds the whole
// arguments of a call with servers that do not cut them up.
const (
	maxLine  = 16 << 20
	maxEvent = 16 << 20
)

var (
	errLongLine  = errors.New("a line of the stream is longer than 16 MiB")
	errLongEvent = errors.New("an event of the stream is longer than 16 MiB")
)

const byteOrderMark = "\xef\xbb\xbf"

// events reads server-sent events. Besides the standard it takes a bare line
// of JSON as data, for that is how some servers put an error into a stream.
type events struct {
	in     *bufio.Reader
	began  bool
	skipLF bool // the last line ended with CR: a LF that follows belongs to it
}

func newEvents(r io.Reader) *events { return &events{in: bufio.NewReaderSize(r, 32<<10)} }

// next returns io.EOF after the last event. Comments, by which servers keep a
// connection alive, and events without data are passed over.
func (e *events) next() (event, error) {
	var ev event
	var data [][]byte
	size := 0
	for {
		line, err := e.line()
		if err != nil {
			if errors.Is(err, io.EOF) && data != nil {
				ev.data, ev.unended = bytes.Join(data, []byte("\n")), true
				return ev, nil
			}
			return event{}, err
		}
		switch {
		case len(line) == 0 && data != nil:
			ev.data = bytes.Join(data, []byte("\n"))
			return ev, nil
		case len(line) == 0:
			ev = event{}
		case line[0] == '{':
			data = append(data, line)
		default:
			name, value := field(line)
			switch name {
			case "data":
				data = append(data, value)
			case "event":
				ev.name = string(value)
			}
		}
		if size += len(line); size > maxEvent {
			return event{}, errLongEvent
		}
	}
}

func field(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return string(name), bytes.TrimPrefix(value, []byte(" "))
}

// line reads up to CR LF, LF or CR. What stands before the end of the stream
// is a line too.
func (e *events) line() ([]byte, error) {
	if !e.began {
		e.began = true
		if mark, _ := e.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
			_, _ = e.in.Discard(len(mark)) // it is buffered
		}
	}
	var line []byte
	for {
		if _, err := e.in.Peek(1); err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				return line, nil
			}
			return nil, err
		}
		chunk, _ := e.in.Peek(e.in.Buffered())
		if e.skipLF {
			e.skipLF = false
			if chunk[0] == '\n' {
				_, _ = e.in.Discard(1) // it is buffered
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			line = append(line, chunk...)
			_, _ = e.in.Discard(len(chunk)) // it is buffered
		} else {
			line = append(line, chunk[:end]...)
			e.skipLF = chunk[end] == '\r'
			_, _ = e.in.Discard(end + 1) // it is buffered
		}
		if len(line) > maxLine {
			return nil, errLongLine
		}
		if end >= 0 {
			return line, nil
		}
	}
}

// isDone recognises the end mark of a Chat Completions stream.
func isDone(data []byte) bool { return strings.TrimSpace(string(data)) == "[DONE]" }
