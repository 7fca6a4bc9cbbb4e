package rpc

import "time"

// What usage/list sorts by.
const (
	UsageByDay     = "day" // in the daemon's time zone
	UsageByProject = "project"
	UsageByRun     = "run"
	UsageByModel   = "model"
)

// UsageParams is the parameters of usage/list.
type UsageParams struct {
	By      string    `json:"by,omitempty" access:"free" jsonschema:"a row for each day (which is the default), project, run or model"`
	Since   time.Time `json:"since,omitzero" access:"free" jsonschema:"not before; all there is when absent"`
	Project string    `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project; all when absent"`
}

// Usage answers usage/list. What deleted runs used is in it.
type Usage struct {
	By   string     `json:"by"`
	Rows []UsageRow `json:"rows"` // days in their order; of all else the dearest first, then the most tokens
	All  UsageSum   `json:"all"`
}

// UsageRow is what was used in a day, or by a project, run or model.
type UsageRow struct {
	Day     string `json:"day,omitempty"` // 2026-01-31
	Model   string `json:"model,omitempty"`
	Project string `json:"project,omitempty"` // its root; of a run that of its project
	Run     string `json:"run,omitempty"`     // its alias; empty when it was deleted
	RunID   int64  `json:"run_id,omitempty"`
	UsageSum
}

// UsageSum is what completions used together.
type UsageSum struct {
	Requests  int      `json:"requests"`            // that were answered, those of plugins among them
	Untold    int      `json:"untold,omitempty"`    // of them: their provider told no tokens
	Estimated int      `json:"estimated,omitempty"` // of them: tokens were counted here, and the most counts that they could cost
	Unpriced  int      `json:"unpriced,omitempty"`  // of them: what they cost is not known, and not in Cost
	Prompt    int      `json:"prompt_tokens"`
	Cached    int      `json:"cached_tokens"`
	Completed int      `json:"completion_tokens"`
	Cost      *float64 `json:"cost,omitempty"` // in the currency of the prices; nil while nothing is known
}
