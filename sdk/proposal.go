package sdk

import (
	"encoding/json"
	"time"
)

// Proposal is an action that waits for a person: what exactly would run, where,
// and what an answer is bound to. All but Said is written by the daemon.
type Proposal struct {
	ID       string    `json:"id"`   // short, unique among those that wait
	Hash     string    `json:"hash"` // hex SHA-256 over all that an answer agrees to; an answer names it
	Run      int64     `json:"run"`
	Alias    string    `json:"alias"`
	Chain    []string  `json:"chain,omitempty"` // the aliases of the runs that delegated this one's work, the first of all first
	Project  string    `json:"project"`         // root
	Path     string    `json:"path"`            // the action's entry
	Tool     string    `json:"tool"`
	Plugin   string    `json:"plugin"`
	Digest   string    `json:"digest,omitempty"` // of the plugin's binary
	ReadOnly bool      `json:"read_only"`        // of the loop
	Mode     Mode      `json:"mode"`             // of the loop, when it was proposed
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`

	Arguments json.RawMessage `json:"arguments"`         // canonical (RFC 8785): what runs
	Command   string          `json:"command,omitempty"` // of a tool that runs commands: the line, byte for byte
	Dir       string          `json:"dir,omitempty"`     // where it would run
	Bytes     int             `json:"bytes"`             // of Command, else of Arguments
	Mounts    []string        `json:"mounts,omitempty"`  // what it could touch, such as "/workspace (read and write): /home/me/p"
	Network   bool            `json:"network"`
	Diff      string          `json:"diff,omitempty"` // unified; what a file tool would change
	Decision  Decision        `json:"decision"`       // why it is asked

	// Said is what the model wrote beside the call. It is untrusted: it is shown
	// apart, quoted, and decides nothing.
	Said string `json:"said,omitempty"`

	State   State   `json:"state"`
	Outcome Outcome `json:"outcome,omitempty"`

	// Question is what the person is asked, of a proposal whose answer is data: nothing runs
	// when it is accepted, and what it is answered with goes to Plugin alone.
	Question *Question `json:"question,omitempty"`

	// Offers are the rules that an answer could leave, while it waits.
	Offers []Offer `json:"offers,omitempty"`
}

// Offer is a rule that an accepted answer leaves when it says so by Remember, as it would
// be written.
type Offer struct {
	Remember Remember   `json:"remember"`
	Text     string     `json:"text"` // "always allow ...", for a person
	Rule     PolicyRule `json:"rule"`
}

// Reach is where the calls of a tool run, and what they could touch there.
type Reach struct {
	Digest  string   // of what runs the calls, where that is not the tool's binary
	Dir     string   // empty is the project's
	Mounts  []string // for people to read, in a fixed order
	Network bool     // whether it is open
}

// Answer is what a person says to a proposal.
type Answer string

// The answers.
const (
	Accept Answer = "accept"
	Reject Answer = "reject"
	Edit   Answer = "edit"   // with other arguments: they are judged again, and asked about again unless they need no asking
	Cancel Answer = "cancel" // of a question alone: the person neither answers nor says no
)

// Remember says for how long an accepted answer is to count as a rule.
type Remember string

// What may be remembered of an answer.
const (
	RememberNothing Remember = ""
	RememberCall    Remember = "call"    // this very call, in this project
	RememberCommand Remember = "command" // these commands as they stand (WholeCommand) in this project
	RememberTool    Remember = "tool"    // this tool in this project; of one that asks an address only its host is remembered
	RememberHost    Remember = "host"    // the host of the call's address, for this tool in this project
)

// Staged is what a call would do to files, worked out without doing it.
type Staged struct {
	Diff string `json:"diff"` // unified, of texts
	// Base stands for the state that the difference is against. A call that
	// carries it (Invocation.Base) is refused with Conflict when that state is
	// no longer the one on disk.
	Base string `json:"base"`
	// Command is the line that the call would run, of a tool that finds it itself (ToolSpec.FindsCommand).
	Command string `json:"command,omitempty"`
}
