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

	mu     sync.Mutex
	queue  []line
	closed bool
	wake   chan struct{}
}

type line struct {
	text []byte // without its newline
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
	o.mu.Lock()
	closed := o.closed
	if !closed {
		o.queue = append(o.queue, line{text, done})
	}
	o.mu.Unlock()
	if closed && done != nil {
		done()
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

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until close. After a failed write it closes the connection, so
// that the reader ends too, and drops the rest.
func (o *outbox) run() {
	broken := false
	for {
		o.mu.Lock()
		queue, closed := o.queue, o.closed
		o.queue = nil
		o.mu.Unlock()
		for _, l := range queue {
			if !broken && o.to.write(l.text) != nil {
				broken = true
				o.to.close()
			}
			if l.done != nil {
				l.done()
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
