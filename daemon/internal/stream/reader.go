package stream

import (
	"encoding/json"
	"math"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Limits on an answer. What exceeds them ends it: no model writes that much on
// purpose.
const (
	maxAnswer = 16 << 20 // bytes of text, reasoning and arguments together
	maxDeltas = 1000     // calls
)

// Reader puts a completion together from its pieces.
type Reader struct {
	stream *Stream           // commits what may be lost otherwise
	show   func(rpc.Preview) // nil where nobody watches
	watch  func() Watch      // begins to watch a text

	mu       sync.Mutex
	closed   bool
	size     int
	c        sdk.Completion
	text     []byte
	thought  []byte
	calls    []openCall
	byIndex  map[int]int
	finished bool
	fault    error
	shown    shown
}

// Watch says what people are shown of a text that comes in pieces, of which the last is last: what is said in it, and the calls of
// which it is known now what they are about. Nil is that of a text in which all is said.
type Watch = func(piece string, last bool) (text string, begun []sdk.Forming)

// shown is what was shown of an answer before it is committed.
type shown struct {
	begun         bool
	text, thought Pieces
	watch         Watch
}

type openCall struct {
	id, tool  string
	arguments []byte
}

// Read is a reader of an answer, whose stream keeps it. Show gets what is clear of it, and must return at once; it may
// be nil. Watch begins a Watch of the text.
func Read(s *Stream, show func(rpc.Preview), watch func() Watch) *Reader {
	return &Reader{stream: s, show: show, watch: watch}
}

// Take is the sink of a completion. It refuses pieces once the answer is closed,
// so that a provider that was given up cannot change it.
func (r *Reader) Take(d sdk.Delta) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.size += len(d.Text) + len(d.Reasoning)
	var begun []sdk.Forming
	switch {
	case d.Text != "":
		r.text = append(r.text, d.Text...)
	case d.Reasoning != "":
		r.thought = append(r.thought, d.Reasoning...)
	case d.Call != nil:
		begun = r.takeCall(d.Call)
	case d.Usage != nil:
		r.c.Usage = Plausible(d.Usage)
	case d.Finish != nil:
		r.c.Finish, r.c.Extra, r.finished = d.Finish.Reason, nil, true
		if json.Valid(d.Finish.Extra) {
			r.c.Extra = d.Finish.Extra
		}
	}
	if r.size > maxAnswer || len(r.calls) > maxDeltas {
		r.fault = sdk.Errorf(sdk.Overflow, "the model's answer is too large (more than %d MiB or %d calls)", maxAnswer>>20, maxDeltas)
		return r.fault
	}
	if d.Usage == nil && d.Finish == nil {
		failpoint.Hit(failpoint.StreamPartial)
	}
	if err := r.keep(d); err != nil {
		return err
	}
	r.preview(d, begun)
	return nil
}

// preview passes on what is clear of an answer, to who watches: what may be the
// beginning of a secret comes with a later piece, or at the end. Begun are calls beside the text.
func (r *Reader) preview(d sdk.Delta, begun []sdk.Forming) {
	if r.show == nil || d.Text == "" && d.Reasoning == "" && d.Finish == nil && begun == nil {
		return
	}
	if r.shown.text == nil {
		r.shown.text, r.shown.thought, r.shown.watch = r.stream.to.Redacting(), r.stream.to.Redacting(), r.watch()
	}
	text, thought := r.shown.text.Write(d.Text), r.shown.thought.Write(d.Reasoning)
	if d.Text != "" { // the thought has come to its end, and its rest belongs before the text
		thought += r.shown.thought.End()
	}
	if d.Finish != nil {
		text, thought = r.shown.text.End(), r.shown.thought.End()
	}
	if r.shown.watch != nil {
		var calls []sdk.Forming
		text, calls = r.shown.watch(text, d.Finish != nil)
		begun = append(begun, calls...)
	}
	for _, p := range []rpc.Preview{{Reasoning: thought}, {Text: text, Calls: begun}} {
		if p.Text == "" && p.Reasoning == "" && p.Calls == nil {
			continue
		}
		p.Run, p.Loop, p.Turn, p.First = r.stream.run, r.stream.loop, r.stream.turn, !r.shown.begun
		r.shown.begun = true
		r.show(p)
	}
}

// keep passes on what is worth keeping of an answer that is cut off. Calls are
// not: those of half an answer are never made.
func (r *Reader) keep(d sdk.Delta) error {
	switch {
	case d.Text != "":
		return r.stream.Chunk(ChannelText, []byte(d.Text))
	case d.Reasoning != "":
		return r.stream.Chunk(ChannelReasoning, []byte(d.Reasoning))
	}
	return nil
}

// takeCall returns the call that begins with the piece.
func (r *Reader) takeCall(d *sdk.CallDelta) (begun []sdk.Forming) {
	i, ok := r.byIndex[d.Index]
	if !ok {
		if r.byIndex == nil {
			r.byIndex = map[int]int{}
		}
		i = len(r.calls)
		r.byIndex[d.Index] = i
		r.calls = append(r.calls, openCall{})
		clear := r.stream.to.Redacting()
		begun = []sdk.Forming{{Tool: clear.Write(d.Tool) + clear.End()}}
	}
	c := &r.calls[i]
	if d.ID != "" {
		c.id = d.ID
	}
	if d.Tool != "" {
		c.tool = d.Tool
	}
	c.arguments = append(c.arguments, d.Arguments...)
	r.size += len(d.Arguments)
	return begun
}

// Plausible drops usage that cannot be true, so that nobody counts with it.
func Plausible(u *sdk.Usage) *sdk.Usage {
	if u.Prompt < 0 || u.Completion < 0 || u.Total < 0 || u.Cached < 0 || u.Reasoning < 0 || u.Cost != nil && !(*u.Cost >= 0 && *u.Cost <= math.MaxFloat64) {
		return nil
	}
	return u
}

// Restart forgets what came so far: the completion begins anew. An error is that the answer is closed.
func (r *Reader) Restart() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.c, r.text, r.thought, r.calls, r.byIndex, r.finished, r.size = sdk.Completion{}, nil, nil, nil, nil, false, 0
	r.shown = shown{}
	r.stream.restart()
	if r.show != nil {
		r.show(rpc.Preview{Run: r.stream.run, Loop: r.stream.loop, Turn: r.stream.turn, Restart: true})
	}
	return nil
}

// Close returns the answer so far, whether it came to its end, and what is wrong with it.
func (r *Reader) Close() (c sdk.Completion, finished bool, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	c = r.c
	c.Text, c.Reasoning = string(r.text), string(r.thought)
	for _, call := range r.calls {
		c.Calls = append(c.Calls, sdk.Call{ID: call.id, Tool: call.tool, Arguments: string(call.arguments)})
	}
	return c, r.finished, r.fault
}
