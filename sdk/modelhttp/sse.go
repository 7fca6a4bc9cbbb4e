package modelhttp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Event is one server-sent event (WHATWG HTML, section 9.2).
type Event struct {
	Name string // "" is an event that was given no name
	Data []byte

	// Whole says that it is the one document of a server that does not stream.
	Whole bool

	// Unended says that the stream ended before the blank line that ends an
	// event. Many servers leave it out after their last one, so it is given and
	// not dropped; that it was cut shows in its data.
	Unended bool
}

// MaxEvent bounds an event, and a line of one. A line is one JSON document, so it
// holds the whole arguments of a call with servers that do not cut them up.
const MaxEvent = 16 << 20

// ErrLongEvent ends a stream of which an event, or a line, is longer than MaxEvent.
var ErrLongEvent = errors.New("an event of the stream is longer than 16 MiB")

const byteOrderMark = "\xef\xbb\xbf"

// Events reads server-sent events. It is made by NewEvents or Answer.Events. Besides the
// standard it takes a bare line of JSON as data, for that is how some servers
// put an error into a stream.
type Events struct {
	lines   *bufio.Scanner
	began   bool
	afterCR bool // the last line ended with CR: a LF that follows belongs to it
	looked  int  // how much of the next line is known to have no end

	document io.Reader // is read first, and is no stream unless it shows to be one; nil is none
}

// NewEvents reads the events of r.
func NewEvents(r io.Reader) *Events {
	e := &Events{}
	e.read(r)
	return e
}

// Events reads the events of the answer. A server that does not stream, which it says by
// the type application/json, sends one: its whole document.
func (a *Answer) Events() *Events {
	e := NewEvents(a)
	if strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		e.document = a
	}
	return e
}

func (e *Events) read(r io.Reader) {
	e.lines = bufio.NewScanner(r)
	e.lines.Buffer(make([]byte, 32<<10), MaxEvent)
	e.lines.Split(e.split)
}

// whole reads the document; false is that it is a stream under the wrong name.
func (e *Events) whole() (ev Event, is bool, err error) {
	raw, err := io.ReadAll(io.LimitReader(e.document, MaxEvent+1))
	e.document = nil
	if err == nil && len(raw) > MaxEvent {
		err = ErrLongEvent
	}
	if begin := bytes.TrimSpace(raw); err != nil || len(begin) == 0 || begin[0] == '{' || begin[0] == '[' {
		return Event{Data: raw, Whole: true}, true, err
	}
	e.read(bytes.NewReader(raw))
	return Event{}, false, nil
}

// Next returns io.EOF after the last event. Comments, by which servers keep a
// connection alive, and events without data are passed over.
func (e *Events) Next() (Event, error) {
	if e.document != nil {
		if ev, is, err := e.whole(); is {
			return ev, err
		}
	}
	var ev Event
	size := 0
	add := func(data []byte) {
		if ev.Data == nil {
			ev.Data = []byte{}
		} else {
			ev.Data = append(ev.Data, '\n')
		}
		ev.Data = append(ev.Data, data...)
	}
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if !e.began {
			e.began, line = true, bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		switch {
		case len(line) == 0 && ev.Data != nil:
			return ev, nil
		case len(line) == 0:
			ev = Event{}
		case line[0] == '{':
			add(line)
		default:
			name, value := field(line)
			switch name {
			case "data":
				add(value)
			case "event":
				ev.Name = string(value)
			}
		}
		if size += len(line); size > MaxEvent {
			return Event{}, ErrLongEvent
		}
	}
	switch err := e.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Event{}, ErrLongEvent
	case err != nil:
		return Event{}, err
	case ev.Data == nil:
		return Event{}, io.EOF
	}
	ev.Unended = true
	return ev, nil
}

func field(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return string(name), bytes.TrimPrefix(value, []byte(" "))
}

// split takes a line off, which ends with CR LF, LF or CR. What stands before
// the end of the stream is a line too.
func (e *Events) split(data []byte, atEOF bool) (took int, line []byte, err error) {
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
