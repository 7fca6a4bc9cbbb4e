package sdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Reply is what a model answered in a turn, beside its text. Its JSON is the
// attributes of the entry assistant://N, whose body is the text.
type Reply struct {
	Reasoning string `json:"reasoning,omitempty"`
	Calls     []Call `json:"calls,omitempty"` // as the model wrote them, with the ids that their actions carry
	// Found are the calls that stand in the text, in a dialect that has them there. The places are of the text as it is
	// recorded: whoever changes that moves them along, for actions have from there what they were called with.
	Found   []FoundCall `json:"found,omitempty"`
	Finish  string      `json:"finish,omitempty"`
	Extra   string      `json:"extra,omitempty"` // JSON as text: the provider wants it back to the byte
	Model   string      `json:"model"`
	Usage   *Usage      `json:"usage,omitempty"`
	Partial bool        `json:"partial,omitempty"` // cut off; its calls were never made

	// Narration is what the text says beside the calls that stand in it, where that is not all that stands outside of them; see Said.
	Narration *string `json:"narration,omitempty"`

	// Lost says that the answer had more calls than were read (Reading.Lost), so that it does not end its work by claiming that it is done.
	Lost bool `json:"lost,omitempty"`

	Context  int `json:"context,omitempty"`  // of the model, in tokens; 0 is unknown
	Estimate int `json:"estimate,omitempty"` // of what it was sent, in tokens, when Usage is missing

	// Ratio is what the server counted of the packet that it was sent for each token of an estimate that knew nothing of it. The
	// packets behind it are counted by that; absent is a conversation, or that nobody knows.
	Ratio float64 `json:"ratio,omitempty"`

	// Ceiling is how long the next prompts of its loop may be for Model, in tokens of an estimate, as a server taught that refused a
	// longer one; 0 is that none did.
	Ceiling int `json:"ceiling,omitempty"`
}

// FoundCall is a call that was read in the text of a reply.
type FoundCall struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	At   Span   `json:"at"`
	// Texts are arguments that stand in the text to the byte, and Quoted such that stand there as texts of JSON, without the
	// quotes around them (ActionCall.Refers).
	Texts  []Span `json:"texts,omitempty"`
	Quoted []Span `json:"quoted,omitempty"`
}

// Places are where the calls in the text, and what stands there of their arguments, begin and end, in their order: who changes the
// text sets them anew.
func (r *Reply) Places() []*int {
	var all []*int
	add := func(s *Span) { all = append(all, &s.Start, &s.End) }
	for i := range r.Found {
		f := &r.Found[i]
		add(&f.At)
		for j := range f.Texts {
			add(&f.Texts[j])
		}
		for j := range f.Quoted {
			add(&f.Quoted[j])
		}
	}
	slices.SortStableFunc(all, func(a, b *int) int { return *a - *b })
	return all
}

const replyPrefix = "assistant://"

// ReplyPath is where the reply of a turn is recorded. Below it, at
// assistant://N/partial_1 and so on, lie the parts of replies that were cut off.
func ReplyPath(turn int) string { return fmt.Sprintf("%s%d", replyPrefix, turn) }

// ParseReplyPath returns the turn of which a path is the reply; false for any
// other path, those of cut off parts included.
func ParseReplyPath(path string) (turn int, ok bool) {
	number, is := strings.CutPrefix(path, replyPrefix)
	turn, err := strconv.Atoi(number)
	return turn, is && err == nil
}

// Said is what a reply of this text says to people, beside calls.
func (r Reply) Said(text string) string {
	if r.Narration != nil {
		return *r.Narration
	}
	if len(r.Found) == 0 {
		return text
	}
	said, at := "", 0
	for _, f := range r.Found {
		if f.At.Start >= at && f.At.Start <= f.At.End && f.At.End <= len(text) { // else it is of one list with the call before, or of another text
			said, at = said+text[at:f.At.Start], f.At.End
		}
	}
	if said += text[at:]; strings.TrimSpace(said) == "" {
		return ""
	}
	return said
}

// SaidIn is what the entry of a reply says to people, beside calls; all its text where its attributes cannot be read.
func SaidIn(e Entry) string {
	r, err := ReplyOf(e.Attributes)
	if err != nil {
		return e.Body
	}
	return r.Said(e.Body)
}

// ReplyOf reads the reply that attributes hold; those of no reply are none.
func ReplyOf(attributes json.RawMessage) (Reply, error) {
	var r Reply
	if len(attributes) == 0 {
		return r, nil
	}
	err := json.Unmarshal(attributes, &r)
	return r, err
}
