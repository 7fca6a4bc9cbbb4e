package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// ProposalsParams is the parameters of proposals/list.
type ProposalsParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project; all when absent"`
	Run     string `json:"run,omitempty" access:"run" jsonschema:"alias of a run in the project, or its id; those of its children too"`
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

// RunResolve is the parameters of run/resolve: the answer to what a run proposes, as it was last sent over
// this connection. Where it is another by now, or was not sent, the answer is a conflict and nothing runs.
type RunResolve struct {
	Run        string     `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project    string     `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Resolution Resolution `json:"resolution" access:"approve"`
}

// Resolution is an answer to the entry that waits at Path.
type Resolution struct {
	Path   string        `json:"path" jsonschema:"of the entry that waits, as run/proposal tells it"`
	Action ResolveAction `json:"action" jsonschema:"accept, reject or error"`
	Output string        `json:"output,omitempty" jsonschema:"with accept: the answer to a question; with reject and error: what the model is told, which goes on by that at once"`
}

// ResolveAction is what is done with a proposal by run/resolve.
type ResolveAction string

// The actions of run/resolve.
const (
	ActionAccept ResolveAction = "accept"
	ActionReject ResolveAction = "reject" // without an output the work on the prompt ends
	ActionError  ResolveAction = "error"  // who would have done it could not: the model is told and goes on
)

// RunResolved answers run/resolve as soon as the answer is durable: how the run ends is told by run/state.
type RunResolved struct {
	Run    string `json:"run"`
	Status int    `json:"status"` // of the run now, mostly 102
	Seq    int64  `json:"seq"`    // what it causes is in the journal behind it
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
