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
	lines   *bufio.Scanner
	began   bool
	afterCR bool // the last line ended with CR: a LF that follows belongs to it
	looked  int  // how much of the next line is known to have no end
}

func newEvents(r io.Reader) *events {
	e := &events{lines: bufio.NewScanner(r)}
	e.lines.Buffer(make([]byte, 32<<10), maxLine)
	e.lines.Split(e.split)
	return e
}

// next returns io.EOF after the last event. Comments, by which servers keep a
// connection alive, and events without data are passed over.
func (e *events) next() (event, error) {
	var ev event
	size := 0
	add := func(data []byte) {
		if ev.data == nil {
			ev.data = []byte{}
		} else {
			ev.data = append(ev.data, '\n')
		}
		ev.data = append(ev.data, data...)
	}
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if !e.began {
			e.began, line = true, bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		switch {
		case len(line) == 0 && ev.data != nil:
			return ev, nil
		case len(line) == 0:
			ev = event{}
		case line[0] == '{':
			add(line)
		default:
			name, value := field(line)
			switch name {
			case "data":
				add(value)
			case "event":
				ev.name = string(value)
			}
		}
		if size += len(line); size > maxEvent {
			return event{}, errLongEvent
		}
	}
	switch err := e.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return event{}, errLongLine
	case err != nil:
		return event{}, err
	case ev.data == nil:
		return event{}, io.EOF
	}
	ev.unended = true
	return ev, nil
}

func field(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return string(name), bytes.TrimPrefix(value, []byte(" "))
}

// split takes a line off, which ends with CR LF, LF or CR. What stands before
// the end of the stream is a line too.
func (e *events) split(data []byte, atEOF bool) (took int, line []byte, err error) {
	if len(data) > 0 && e.afterCR {
		e.afterCR = false
		rest := bytes.TrimPrefix(data, []byte("\n"))
		took, data = len(data)-len(rest), rest
	}
	end := bytes.IndexAny(data[e.looked:], "\r\n") + e.looked
	switch {
	case end >= e.looked:
		e.looked, e.afterCR = 0, data[end] == '\r'
		return took + end + 1, data[:end], nil
	case atEOF && len(data) > 0:
		e.looked = 0
		return took + len(data), data, nil
	}
	e.looked = len(data)
	return took, nil, nil
}

// isDone recognises the end mark of a Chat Completions stream.
func isDone(data []byte) bool { return strings.TrimSpace(string(data)) == "[DONE]" }
