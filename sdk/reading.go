package sdk

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Reading is what a dialect made of a completion: the calls to record, in the
// model's order, and what it had to put right or leave out.
type Reading struct {
	Calls    []ReadCall
	Warnings []string // one sentence each, written for the model
	// Lost says that some of what was left out may have been meant as a call: what an answer claims to have done is not all done then.
	Lost bool
	// Narration is the text outside of calls, where the calls stand in the text; empty where they do not.
	Narration string
}

// ReadCall is one call as the engine records it. ID is never empty and unique
// in its reading.
type ReadCall struct {
	ID        string
	Tool      string          // as the model wrote it; perhaps no tool there is
	Arguments json.RawMessage // a JSON object; nil when Fault is set
	Raw       string          // the model's own text, possibly shortened when Fault is set
	Fault     string          // why the call cannot run, for the model; empty when it can

	// At is where the call stands in the answer's text, in a dialect whose calls are part of it, and BodyAt where in it
	// an argument stands to the byte; empty where none does. They are of the text as it is recorded: valid UTF-8.
	At, BodyAt Span

	// Behind is what stands before it in such a text that may have been meant as a call and is none, in a word; empty where nothing does.
	// The call was written as if that one were made: it is not made, and its recorded end says so, for who reads it again does not ask.
	Behind string
}

// Span is a part of a text: the bytes from Start up to End. Its JSON is [Start, End].
type Span struct{ Start, End int }

// Empty reports whether nothing is in it.
func (s Span) Empty() bool { return s.Start >= s.End }

// Of is that part of a text; false when the text has none, or a character is cut.
func (s Span) Of(text string) (part string, ok bool) {
	if s.Start < 0 || s.End < s.Start || s.End > len(text) {
		return "", false
	}
	part = text[s.Start:s.End]
	return part, utf8.ValidString(part)
}

// MarshalJSON implements json.Marshaler.
func (s Span) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d]", s.Start, s.End), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Span) UnmarshalJSON(text []byte) error {
	var both [2]int
	if err := json.Unmarshal(text, &both); err != nil {
		return err
	}
	s.Start, s.End = both[0], both[1]
	return nil
}

// Forming is a call that a model is still writing, as far as people are told of it.
type Forming struct {
	Tool   string `json:"tool"`
	Target string `json:"target,omitempty"` // what it is about, cut where it is long; empty while that has not come
}
