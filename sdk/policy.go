package sdk

import "encoding/json"

// Action is a tool call that policy is asked about.
type Action struct {
	Tool      Tool
	Arguments json.RawMessage
	Project   string // absolute path
	Mode      Mode
}

// Verdict is what policy rules about an action.
type Verdict string

// The verdicts on an action.
const (
	Allow   Verdict = "allow"
	Propose Verdict = "propose"
	Deny    Verdict = "deny"
)

// Decision is a verdict with the rule that gave it, for people to look up.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`
	Reason  string  `json:"reason"`
}
