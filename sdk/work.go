package sdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Work is a result that an agent hands over by ToolFinish, and what was done for it: by the run since its prompt, and
// by its children. Whoever judges it reads this and nothing else.
type Work struct {
	Agent  string          `json:"agent"`
	Run    string          `json:"run"` // its alias
	Prompt string          `json:"prompt"`
	Result json.RawMessage `json:"result"` // the arguments of the call: an object that satisfies the schema
	Done   []WorkDone      `json:"done"`   // in the order in which it ended

	// Key, Model, Project and RunDir are of the run, for the plugin that judges it, and CallID is of the call that hands
	// the result over, on whose behalf the plugin may call back: all as in a SkillCall.
	Key     string `json:"-"`
	Model   string `json:"-"`
	Project string `json:"-"`
	RunDir  string `json:"-"`
	CallID  string `json:"-"`
	// Deadline is of the judgement; the host fills it in.
	Deadline time.Time `json:"-"`
}

// WorkDone is one call that was made.
type WorkDone struct {
	Run        string          `json:"run"`              // the alias of the run that made it
	Path       string          `json:"path"`             // of its action
	Parent     string          `json:"parent,omitempty"` // of the call whose plugin made it, or whose result asked for it
	Tool       string          `json:"tool"`             // as its plugin declares it; a run_tests that proves nothing is PLUGIN__run_tests
	Plugin     string          `json:"plugin,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Success    bool            `json:"success"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	ReadOnly   bool            `json:"read_only,omitempty"` // the call is proven to change nothing
	OpenWorld  bool            `json:"open_world,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	// Changed are the paths of the project that it changed, as far as its tool tells; with Untold there may be more.
	Changed []string `json:"changed,omitempty"`
	Untold  bool     `json:"untold,omitempty"`
	// Cut says that Structured, Arguments and Changed are left out, because all of it together was too large.
	Cut bool `json:"cut,omitempty"`
	// Began and Ended are the positions of the journal at which it was started and ended, for all runs alike; Began
	// is 0 of a call that was not made.
	Began int64 `json:"began,omitempty"`
	Ended int64 `json:"ended,omitempty"`
}

// MaxWork is how many bytes of JSON are told of a Work to a plugin that judges it.
const MaxWork = 8 << 20

// Fitted is the work as it is told in at most so many bytes of JSON, where that can be: of the calls that ended first no
// more is told than that they were made. A copy, unless it fits as it is.
func (w Work) Fitted(most int) Work {
	size := encodedSize(w)
	if size <= most {
		return w
	}
	w.Done = slices.Clone(w.Done)
	for n := range w.Done {
		if size <= most {
			break
		}
		d := &w.Done[n]
		before := encodedSize(*d)
		d.Arguments, d.Structured, d.Changed, d.Cut = nil, nil, nil, true
		d.Untold = d.Untold || !d.ReadOnly // what it changed is told no more
		size -= before - encodedSize(*d)
	}
	return w
}

// encodedSize is how long something is as JSON; zero for what is none.
func encodedSize(v any) int {
	b, _ := json.Marshal(v) // what is no JSON is told when it is sent
	return len(b)
}

// What is kept of a Judgement: each thing that is missing is a sentence that a model reads.
const (
	MaxMissing     = 20
	MaxMissingText = 1 << 10 // bytes
)

// Judgement is what somebody says of a Work. The zero value refuses it.
type Judgement struct {
	Accepted bool `json:"accepted"`
	// Missing says what has to be done before it can be accepted, for the model, one thing each.
	Missing []string `json:"missing,omitempty"`
}

// Bounded is the judgement with as much of what is missing as a model is told.
func (j Judgement) Bounded() Judgement {
	var kept []string
	for _, text := range j.Missing {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if len(kept) == MaxMissing {
			kept = append(kept, fmt.Sprintf("and more, of %d in all", len(j.Missing)))
			break
		}
		if len(text) > MaxMissingText {
			text = Head(text, MaxMissingText) + " …"
		}
		kept = append(kept, text)
	}
	j.Missing = kept
	return j
}
