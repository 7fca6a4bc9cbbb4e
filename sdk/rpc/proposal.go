package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// ProposalsParams is the parameters of proposals/list.
type ProposalsParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project; all when absent"`
	Run     string `json:"run,omitempty" access:"run" jsonschema:"alias of a run in the project, or its id"`
	Ended   bool   `json:"ended,omitempty" access:"free" jsonschema:"those that were answered or expired too, newest first"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
}

// Proposals answers proposals/list, oldest first.
type Proposals struct {
	Proposals []sdk.Proposal `json:"proposals"`
}

// ProposalRef names one proposal.
type ProposalRef struct {
	ID string `json:"id" access:"proposal" jsonschema:"the proposal's id"`
}

// Resolve is the parameters of proposals/resolve: the answer of a person. Hash
// is that of the proposal as it was shown; when it is another by now the answer
// is a conflict and nothing runs.
type Resolve struct {
	ID        string          `json:"id" access:"proposal" jsonschema:"the proposal's id"`
	Hash      string          `json:"hash" access:"free" jsonschema:"the proposal's hash as it was shown"`
	Answer    sdk.Answer      `json:"answer" access:"free" jsonschema:"accept, reject or edit; of a question accept, reject or cancel"`
	Reason    string          `json:"reason,omitempty" access:"free" jsonschema:"what the model is told with a rejection: it goes on by that at once; without one its work ends"`
	Arguments json.RawMessage `json:"arguments,omitempty" access:"free" jsonschema:"with edit: the arguments to take instead"`
	Data      json.RawMessage `json:"data,omitempty" access:"free" jsonschema:"with accept of a question that has a schema: the answer, an object that fits it; only who asks is given it"`
	Remember  sdk.Remember    `json:"remember,omitempty" access:"approve" jsonschema:"with accept: leave a rule that allows the like: call, command or tool"`
}

// Resolved answers proposals/resolve as soon as the answer is durable; what it
// causes is in the journal behind Seq.
type Resolved struct {
	Proposal sdk.Proposal        `json:"proposal"` // as it is now; after an edit it may wait again, with another hash
	Status   int                 `json:"status"`   // of the run, now
	Seq      int64               `json:"seq"`
	Rule     *sdk.RememberedRule `json:"rule,omitempty"` // that was left
}

// RulesParams is the parameters of rules/list.
type RulesParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project; all when absent"`
}

// Rules answers rules/list: the rules that are in force beside the built-in
// ones, in the order in which they are shown.
type Rules struct {
	Configured []sdk.PolicyRule     `json:"configured"` // of the configuration and, with a project, of its workspace file
	Remembered []sdk.RememberedRule `json:"remembered"`
}

// RuleRef names a remembered rule.
type RuleRef struct {
	ID      string `json:"id" access:"free" jsonschema:"the rule's id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the rule's project; needed where several have a rule of that id, such as network"`
}

// ExplainParams is the parameters of policy/explain.
type ExplainParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project"`
	Run     string `json:"run,omitempty" access:"run" jsonschema:"alias or id of the run; the newest of the project when absent"`
	Action  string `json:"action" access:"free" jsonschema:"path of the action's entry, its end (turn_2/bash/...), or a proposal's id"`
}

// Explained answers policy/explain: why an action ran, waited or was refused.
type Explained struct {
	Run        string          `json:"run"`
	Path       string          `json:"path"`
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Command    string          `json:"command,omitempty"`
	Decision   sdk.Decision    `json:"decision"`      // as it was made
	Now        *sdk.Decision   `json:"now,omitempty"` // what the rules in force would say, when that differs
	Answer     sdk.Answer      `json:"answer,omitempty"`
	AnsweredBy string          `json:"answered_by,omitempty"` // "a person", "remembered", "yolo"
	Status     int             `json:"status"`
	Outcome    sdk.Outcome     `json:"outcome,omitempty"`
}
