package server

import (
	"encoding/json"
	"sync"
)

// outbox holds what is to be written to one connection, in order, and writes
// it from one goroutine. Putting never blocks: who puts bounds what it puts (a
// request's slot and a watch's ring are free again only when their line was
// written).
type outbox struct {
	to     sender
	redact func(json.RawMessage) json.RawMessage // of every line; nil leaves it

	writes sync.Mutex // held from the begin of a write until those whose lines it has were told

	mu     sync.Mutex
	queue  []line
	closed bool
	wake   chan struct{}
}

type line struct {
	text []byte // what the transport divides messages by is not in it
	row  []byte // when not nil, text is what stands before it, and many lines have it
	done func() // called when it was written, or never will be; may be nil
}

func newOutbox(to sender, redact func(json.RawMessage) json.RawMessage) *outbox {
	return &outbox{to: to, redact: redact, wake: make(chan struct{}, 1)}
}

// put queues a line. The room behind it is the outbox's own, so a text that is
// put twice has none (slices.Clip).
func (o *outbox) put(text []byte, done func()) {
	if o.redact != nil {
		text = o.redact(text)
	}
	o.add(line{text, nil, done})
}

// row queues a row of the journal, from which secrets were taken. It is put together when it is
// written, so that it takes no room for each who waits for it.
func (o *outbox) row(head, row []byte, done func()) { o.add(line{head, row, done}) }

func (o *outbox) add(l line) {
	o.mu.Lock()
	closed := o.closed
	if !closed {
		o.queue = append(o.queue, l)
	}
	o.mu.Unlock()
	if closed && l.done != nil {
		l.done()
	}
	o.signal()
}

// note queues a notification. Its parameters are names and numbers, which JSON
// always has.
func (o *outbox) note(method string, params any, done func()) {
	if text, err := encodeNote(method, params); err == nil {
		o.put(text, done)
	}
}

// close lets run write what is queued and then end.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
}

// told waits until those were told whose lines are being written.
func (o *outbox) told() {
	o.writes.Lock()
	defer o.writes.Unlock()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// joined is how much of what waits goes into one write.
const joined = 32 << 10

// run writes until close. After a failed write it closes the connection, so
// that the reader ends too, and drops the rest.
func (o *outbox) run() {
	broken := false
	var room []byte
	for {
		o.mu.Lock()
		queue, closed := o.queue, o.closed
		o.queue = nil
		o.mu.Unlock()
		for rest := queue; len(rest) > 0; {
			text, n := rest[0].text, 1
			if rest[0].row != nil || len(rest) > 1 && o.to.joins() {
				room, n = o.join(room[:0], rest)
				text = room
			}
			o.writes.Lock()
			if !broken && o.to.write(text) != nil {
				broken = true
				o.to.close()
			}
			for _, l := range rest[:n] {
				if l.done != nil {
					l.done()
				}
			}
			o.writes.Unlock()
			if rest = rest[n:]; cap(room) > 2*joined {
				room = nil
			}
		}
		if len(queue) == 0 {
			if closed {
				return
			}
			<-o.wake
		}
	}
}

// join puts together what one write takes: the first line, and those behind it that fit where the
// transport divides them by newlines.
func (o *outbox) join(room []byte, queue []line) (text []byte, n int) {
	for n < len(queue) && (n == 0 || o.to.joins() && len(room)+len(queue[n].text)+len(queue[n].row) < joined) {
		if n > 0 {
			room = append(room, '\n')
		}
		room = append(room, queue[n].text...)
		if queue[n].row != nil {
			room = append(append(room, queue[n].row...), '}', '}')
		}
		n++
	}
	return room, n
}
