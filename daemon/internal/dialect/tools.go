// Package dialect reads what a model wrote into calls. A dialect never fails:
// whatever a model produces becomes calls, faults on calls and warnings, all of
// which the model is told.
package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// MaxCalls is how many calls of one completion are taken. What exceeds it is
// left out with a warning, so that a broken model cannot flood a run.
const MaxCalls = 99

// Tools is the dialect of native function calling: the provider delivers the
// calls, and their arguments are the only text to be read.
type Tools struct{}

// Read takes a completion's calls in the model's order. Each one that is taken
// has an id that is unique in the reading; the provider's own is kept where it
// can be. A call whose arguments cannot be used is kept, with a Fault for the
// model. Whether a tool exists is not asked here.
func (Tools) Read(c sdk.Completion, _ []sdk.Tool) sdk.Reading {
	calls := c.Calls
	r := sdk.Reading{Lost: c.Lost}
	if len(calls) > MaxCalls {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"%d calls were left out: at most %d are taken from one answer. Make the rest in the next one.",
			len(calls)-MaxCalls, MaxCalls))
		calls, r.Lost = calls[:MaxCalls], true
	}
	taken := make(map[string]bool, len(calls))
	for i, call := range calls {
		read := sdk.ReadCall{ID: uniqueID(call.ID, i, taken), Tool: call.Tool, Raw: call.Arguments}
		read.Arguments, read.Fault = readArguments(call.Arguments)
		if (c.Finish == "length" || c.Finish == "filter") && strings.TrimSpace(call.Arguments) == "" {
			// Not a call without arguments, but one that ended before them.
			read.Arguments, read.Fault = nil, "the answer was cut off before the arguments of this call. Send the call again."
		}
		if read.Fault != "" {
			read.Raw = shorten(call.Arguments)
		}
		r.Calls = append(r.Calls, read)
	}
	return r
}

// maxID keeps ids to what servers are known to accept back.
const maxID = 256

// uniqueID keeps id unless it is missing, too long, or taken by an earlier
// call of the same completion.
func uniqueID(id string, index int, taken map[string]bool) string {
	id = strings.TrimSpace(strings.ToValidUTF8(id, ""))
	if id == "" || len(id) > maxID {
		id = "call_" + strconv.Itoa(index+1)
	}
	unique := id
	for n := 2; taken[unique]; n++ {
		unique = id + "_" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

// Native implements the engine's Dialect: the provider is sent the tools, and delivers the calls.
func (Tools) Native() bool { return true }

// Whole is an answer as it is recorded and read: as it came.
func (Tools) Whole(c sdk.Completion) sdk.Completion { return c }

// Watch is nil: all of the text is shown as it comes.
func (Tools) Watch([]sdk.Tool) func(piece string, last bool) (string, []sdk.Forming) { return nil }
