package sdk

import (
	"encoding/json"
	"fmt"
)

// HoldPath is the entry of a run that says whether its prompts which wait are held: not
// begun until a person says so. See Entry.Holds.
const HoldPath = "run://hold"

// Holds reports whether the entry of HoldPath holds the prompts of a run now. That which
// a fork sees of the run that it was forked from holds nothing of the fork.
func (e Entry) Holds(run int64) bool {
	var at struct {
		Held bool `json:"held"`
	}
	return e.Path == HoldPath && e.Writer == WriterSystem && e.Scope == fmt.Sprintf("run:%d", run) && json.Unmarshal(e.Attributes, &at) == nil && at.Held
}
