package audit

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// Hidden stands where a secret was.
const Hidden = "[secret]"

// Redactor takes secrets out of texts: the live values that it was told of, in
// every form in which they may be written, and what looks like a well-known
// kind of key. It is safe for concurrent use; its zero value is ready.
//
// What went through it before a value was added is not taken back: whoever
// learns a secret adds it before the secret is used.
type Redactor struct {
	mu     sync.Mutex
	values map[string]bool
	forms  []form
	passes map[string][]passing
	names  map[string]string         // of values, for people (Name)
	made   atomic.Pointer[automaton] // nil when a value was added since
}

// Add tells of a value. One shorter than 6 bytes is none, nor is a number of less
// than 10 digits: it would be found everywhere.
func (r *Redactor) Add(value string) {
	if !counts(value) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values[value] {
		return
	}
	if r.values == nil {
		r.values = map[string]bool{}
	}
	for _, part := range partsOf(value) {
		if !r.values[part] {
			r.values[part] = true
			r.forms = append(r.forms, formsOf(part)...)
		}
	}
	r.values[value] = true
	r.made.Store(nil)
}

// counts reports whether a value can be a secret.
func counts(value string) bool {
	return len(value) >= shortest && (len(value) >= shortestNumber || strings.Trim(value, "0123456789") != "")
}

// automaton is the one of all values that were added by now.
func (r *Redactor) automaton() *automaton {
	if a := r.made.Load(); a != nil {
		return a
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.made.Load()
	if a == nil {
		a = newAutomaton(r.all(), keyRules)
		r.made.Store(a)
	}
	return a
}

// spans are where secrets stand in a text.
func (r *Redactor) spans(text string) []span {
	s := newScan(r.automaton())
	s.read(text, 0)
	s.end(len(text))
	return s.spans
}

// Redact puts Hidden in the place of every secret of a text.
func (r *Redactor) Redact(text string) string {
	spans := r.spans(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, x := range spans {
		b.WriteString(text[at:x.start])
		b.WriteString(Hidden)
		at = x.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// RedactAround is Redact for a text in which places stay apart: of a secret that reaches over one each side is hidden by
// itself. It says where the places are then; they are given in their order, and lie in the text.
func (r *Redactor) RedactAround(text string, places []int) (clean string, moved []int) {
	spans := r.spans(text)
	if len(spans) == 0 {
		return text, places
	}
	var b strings.Builder
	at := 0
	moved = make([]int, 0, len(places))
	// pass writes the text up to a place, and hide hides it.
	pass := func(upTo int) {
		for len(moved) < len(places) && places[len(moved)] <= upTo {
			moved = append(moved, b.Len()+places[len(moved)]-at)
		}
		b.WriteString(text[at:upTo])
		at = upTo
	}
	hide := func(upTo int) {
		b.WriteString(Hidden)
		at = upTo
		for len(moved) < len(places) && places[len(moved)] == upTo {
			moved = append(moved, b.Len())
		}
	}
	for _, x := range spans {
		pass(x.start)
		for len(moved) < len(places) && places[len(moved)] < x.end {
			hide(places[len(moved)])
		}
		hide(x.end)
	}
	pass(len(text))
	return b.String(), moved
}

// Stream redacts a text that comes in pieces.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Stream is one text on its way. However it is cut into pieces, what comes out
// is in all what Redact makes of the whole. It is for one goroutine.
type Stream struct {
	r    *Redactor
	scan *scan
	held string // what is not clear yet
	base int    // where held begins in the text
}

// Write takes a piece and returns what is clear by now. The end of a piece stays
// here as long as a secret may have begun in it.
func (s *Stream) Write(piece string) string {
	if a := s.r.automaton(); s.scan == nil || s.scan.a != a {
		s.again(a)
	}
	s.held += piece
	s.scan.read(piece, s.base+len(s.held)-len(piece))
	return s.pass(s.scan.clear(s.base + len(s.held)))
}

// again reads what is held once more, for a value was added since.
func (s *Stream) again(a *automaton) {
	old := s.scan
	s.scan = newScan(a)
	if old == nil {
		return
	}
	s.scan.level[0].prev = old.level[0].prev
	s.scan.spans, s.scan.line = old.spans, wide
	s.scan.read(s.held, s.base)
}

// End returns the rest.
func (s *Stream) End() string {
	if s.scan == nil {
		return ""
	}
	s.scan.end(s.base + len(s.held))
	rest := s.pass(s.base + len(s.held))
	s.scan = nil
	return rest
}

// pass returns what is held up to a place, redacted.
func (s *Stream) pass(upTo int) string {
	if upTo == s.base {
		return ""
	}
	var b strings.Builder
	at := s.base
	kept := s.scan.spans[:0]
	for _, x := range s.scan.spans {
		if x.end > upTo {
			kept = append(kept, x)
		}
		if x.start >= upTo || x.end <= at {
			continue
		}
		if x.start >= at { // else its place was passed on already
			b.WriteString(s.held[at-s.base : x.start-s.base])
			b.WriteString(Hidden)
		}
		at = min(x.end, upTo)
	}
	b.WriteString(s.held[at-s.base : upTo-s.base])
	s.held, s.base, s.scan.spans = s.held[upTo-s.base:], upTo, kept
	return b.String()
}

// Writer wraps w so that no secret reaches it. It works line by line: what is
// after the last line end is held until the line is whole, or too long.
func (r *Redactor) Writer(w io.Writer) io.Writer { return &lines{r: r, out: w} }

// longestLine is how much of an unfinished line is held.
const longestLine = 256 << 10

type lines struct {
	r    *Redactor
	out  io.Writer
	mu   sync.Mutex
	held []byte
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, p...)
	end := bytes.LastIndexByte(l.held, '\n') + 1
	if end == 0 && len(l.held) < longestLine {
		return len(p), nil
	}
	if end == 0 {
		end = len(l.held)
	}
	_, err := io.WriteString(l.out, l.r.Redact(string(l.held[:end])))
	l.held = append(l.held[:0], l.held[end:]...)
	return len(p), err
}
