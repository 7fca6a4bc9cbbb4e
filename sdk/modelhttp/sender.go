package modelhttp

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Bounds of a completion: of all that is read of one, so that no server can fill
// the memory, and of one delta, far below the message caps of the plugin wire.
const (
	MaxStream = 64 << 20
	MaxPiece  = 64 << 10
)

// Unnamed is the tool of a call whose name the server never sent. The engine
// answers it as an unknown tool, so that the model learns of it.
const Unnamed = "unnamed"

// Sender passes on the deltas of one completion, in pieces that are small
// enough, and numbers its calls.
type Sender struct {
	Streamed bool // something was sent
	Calls    int  // how many calls began

	client *Client
	out    func(sdk.Delta) error
	read   int
	ids    map[string]bool
}

// NewSender makes a sender of what client's server answers.
func NewSender(client *Client, out func(sdk.Delta) error) *Sender {
	return &Sender{client: client, out: out, ids: map[string]bool{}}
}

// Took counts what was read of the answer. An error is that it was too much.
func (s *Sender) Took(size int) error {
	if s.read += size; s.read > MaxStream {
		return s.client.Faulty(sdk.ClassNever, "sent more than %d MiB in one answer", MaxStream>>20)
	}
	return nil
}

// Send passes on one delta.
func (s *Sender) Send(d sdk.Delta) error {
	s.Streamed = true
	return s.out(d)
}

// Say sends reasoning and text.
func (s *Sender) Say(said, thought string) error {
	for _, piece := range Pieces(thought, MaxPiece) {
		if err := s.Send(sdk.Delta{Reasoning: piece}); err != nil {
			return err
		}
	}
	for _, piece := range Pieces(said, MaxPiece) {
		if err := s.Send(sdk.Delta{Text: piece}); err != nil {
			return err
		}
	}
	return nil
}

// Begin sends the beginning of the next call, and returns it. Its id is the
// server's, or one of ours when the server gave none or gave it twice.
func (s *Sender) Begin(id, tool string) (sdk.CallDelta, error) {
	if id == "" || s.ids[id] {
		id = "call_" + strings.ToLower(rand.Text())
	}
	s.ids[id] = true
	call := sdk.CallDelta{Index: s.Calls, ID: id, Tool: tool}
	s.Calls++
	return call, s.Send(sdk.Delta{Call: &call})
}

// Arguments sends more of the arguments of a call that began.
func (s *Sender) Arguments(index int, arguments string) error {
	for _, piece := range Pieces(arguments, MaxPiece) {
		if err := s.Send(sdk.Delta{Call: &sdk.CallDelta{Index: index, Arguments: piece}}); err != nil {
			return err
		}
	}
	return nil
}

// Ended is the error of the completion, which says whether something was sent.
func (s *Sender) Ended(err error) error {
	var e *sdk.ProviderError
	if errors.As(err, &e) {
		e.Streamed = s.Streamed
	}
	return err
}

// Object makes a JSON object of what a model once wrote as arguments, which may
// be anything: servers read a conversation's calls, and some would refuse all of
// it from then on.
func Object(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) == nil && object != nil {
		return json.RawMessage(arguments)
	}
	wrapped, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil {
		return json.RawMessage("{}") // a map of strings always marshals
	}
	return wrapped
}

// ToolName makes a name that servers accept ([A-Za-z0-9_-], 64 at most) of what a
// model once made up.
func ToolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return Unnamed
	}
	return name[:min(len(name), 64)]
}
