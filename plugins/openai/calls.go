package main

import (
	"bytes"
	"encoding/json"

	"github.com/bothyd/bothy/sdk/modelhttp"
)

// fragment is one piece of a call as the server sent it. Index is -1 when it
// gave none; whole says that the arguments came as an object, not as text.
type fragment struct {
	index     int
	id        string
	tool      string
	arguments []byte
	whole     bool
	extra     json.RawMessage
}

// slot is one call that is being put together.
type slot struct {
	serverIndex int
	serverID    string
	tool        string
	arguments   []byte // all so far
	join        modelhttp.Joiner
	held        string // not sent yet: the tool's name is still to come
	id          string // ours; "" until the first piece is sent
	index       int    // ours
	extra       json.RawMessage
}

func (s *slot) complete() bool {
	b := bytes.TrimSpace(s.arguments)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// another reports that a piece with the slot's name begins a new call: the
// arguments of this one are whole already, and the piece has some of its own.
func (s *slot) another(f fragment) bool {
	own := bytes.TrimSpace(f.arguments)
	if len(own) == 0 || len(s.arguments) == 0 {
		return false
	}
	return (f.whole || s.complete()) && !bytes.Equal(own, bytes.TrimSpace(s.arguments))
}

// calls puts the pieces of parallel calls together. Servers agree on neither
// index nor id: all parallel calls at index 0 (Ollama, several gateways), ids
// missing, ids new in every piece, the index missing, the name in every piece.
type calls struct {
	out   *modelhttp.Sender
	slots []*slot
}

func (c *calls) add(f fragment) error {
	s := c.pick(f)
	if s == nil {
		s = &slot{serverIndex: f.index, serverID: f.id, tool: f.tool}
		c.slots = append(c.slots, s)
	}
	if s.tool == "" {
		s.tool = f.tool
	}
	if s.serverID == "" {
		s.serverID = f.id
	}
	if len(f.extra) > 0 {
		s.extra = f.extra
	}
	if s.complete() && bytes.Equal(bytes.TrimSpace(s.arguments), bytes.TrimSpace(f.arguments)) {
		return nil // the whole call once more, at the end of the stream
	}
	s.arguments = append(s.arguments, f.arguments...)
	return c.push(s, s.join.Add(f.arguments))
}

// pick finds the call that a piece goes on with; nil is a new one. An id counts
// most, then a name that begins a call, then the index.
func (c *calls) pick(f fragment) *slot {
	at := c.last(func(s *slot) bool { return f.index < 0 || s.serverIndex < 0 || s.serverIndex == f.index })
	if f.id != "" {
		if same := c.last(func(s *slot) bool {
			return s.serverID == f.id && (f.tool == "" || f.index < 0 || s.serverIndex < 0 || s.serverIndex == f.index)
		}); same != nil {
			if f.tool != "" && same.another(f) {
				return nil // one id for all calls
			}
			return same
		}
		switch {
		case at == nil || f.tool == "": // a piece without a name goes on, whatever its id
			return at
		case at.serverID == "" && at.tool == "":
			return at
		default:
			return nil
		}
	}
	if at == nil || f.tool == "" || at.tool == "" {
		return at
	}
	if at.tool != f.tool || at.another(f) {
		return nil
	}
	if f.index < 0 && len(at.arguments) == 0 {
		return nil // whole calls without index or id, one after the other
	}
	return at // the name is repeated in every piece
}

func (c *calls) last(fits func(*slot) bool) *slot {
	for i := len(c.slots) - 1; i >= 0; i-- {
		if fits(c.slots[i]) {
			return c.slots[i]
		}
	}
	return nil
}

// push sends arguments. The first piece of a call waits for the tool's name.
func (c *calls) push(s *slot, arguments string) error {
	if s.tool == "" {
		s.held += arguments
		return nil
	}
	if s.id == "" {
		arguments = s.held + arguments
		s.held = ""
		begun, err := c.out.Begin(s.serverID, s.tool)
		if err != nil {
			return err
		}
		s.index, s.id = begun.Index, begun.ID
	}
	return c.out.Arguments(s.index, arguments)
}

// finish sends what was held back, and {} for calls without arguments.
func (c *calls) finish() error {
	for _, s := range c.slots {
		if s.tool == "" {
			s.tool = modelhttp.Unnamed
		}
		rest := s.join.Rest()
		if len(bytes.TrimSpace(s.arguments)) == 0 {
			rest = "{}"
		}
		if err := c.push(s, rest); err != nil {
			return err
		}
	}
	return nil
}

// extras are what the server wants back with each call, by our ids.
func (c *calls) extras() map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for _, s := range c.slots {
		if !present(s.extra) {
			continue
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[s.id] = s.extra
	}
	return out
}
