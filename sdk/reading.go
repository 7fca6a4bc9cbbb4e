package sdk

import "encoding/json"

// Reading is what a dialect made of a completion: the calls to record, in the
// model's order, and what it had to put right or leave out.
type Reading struct {
	Calls    []ReadCall
	Warnings []string // one sentence each, written for the model
}

// ReadCall is one call as the engine records it. ID is never empty and unique
// in its reading.
type ReadCall struct {
	ID        string
	Tool      string          // as the model wrote it; perhaps no tool there is
	Arguments json.RawMessage // a JSON object; nil when Fault is set
	Raw       string          // the model's own text, possibly shortened when Fault is set
	Fault     string          // why the call cannot run, for the model; empty when it can
}
