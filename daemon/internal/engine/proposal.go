package engine

import (
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Access tells what the calls of tools could touch. Answers to proposals are bound
// to what it says.
type Access interface {
	Reach(tool sdk.Tool, arguments json.RawMessage, project, runDir string) sdk.Reach
	// Network reports whether the network was opened for a project.
	Network(project string) bool
}

// proposalAttributes is what an action's entry holds of its proposal beside the
// call itself. None of its members is left out when it is empty, so that an
// edit leaves nothing of what it replaces.
type proposalAttributes struct {
	ID       string    `json:"id"`
	Hash     string    `json:"hash"`
	Digest   string    `json:"digest"`
	ReadOnly bool      `json:"read_only"`
	Mode     sdk.Mode  `json:"mode"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
	Command  string    `json:"command"`
	Dir      string    `json:"dir"`
	Bytes    int       `json:"bytes"`
	Mounts   []string  `json:"mounts"`
	Network  bool      `json:"network"`
	Diff     string    `json:"diff"`
	Base     string    `json:"base"`

	oldForm bool // it was proposed in the form that sdk.FromOldForm reads, and hashed in it
}

// UnmarshalJSON reads a proposal of either form.
func (p *proposalAttributes) UnmarshalJSON(text []byte) error {
	type plain proposalAttributes
	now, old := sdk.FromOldForm(text)
	if err := json.Unmarshal(now, (*plain)(p)); err != nil {
		return err
	}
	p.oldForm = old
	return nil
}

// answerGiven is what it holds of the answer.
type answerGiven struct {
	Answer sdk.Answer `json:"answer"`
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
	Reason string     `json:"reason,omitempty"`
	Rule   string     `json:"rule,omitempty"` // that was left, by its id
}

// idLength is how much of the first hash names a proposal.
const idLength = 8

// bind makes arguments canonical and works out what an answer to the call would
// agree to. Base and Diff are still to come, and the hash with them.
func (e *Engine) bind(a *activeLoop, x *action) (proposalAttributes, error) {
	arguments, err := sdk.Canonical(x.arguments)
	if err != nil {
		return proposalAttributes{}, err
	}
	x.arguments, x.changed = arguments, true
	p := proposalAttributes{ReadOnly: a.loop.ReadOnly, Mode: a.mode, Dir: x.project, Digest: x.tool.Digest, Bytes: len(arguments)}
	if e.cfg.Access != nil {
		r := e.cfg.Access.Reach(x.tool, arguments, x.project, e.runDir(a.run))
		p.Digest, p.Dir, p.Mounts, p.Network = first(r.Digest, p.Digest), first(r.Dir, x.project), r.Mounts, r.Network
	}
	if p.Command = commandOf(x.tool, arguments); p.Command != "" {
		p.Bytes = len(p.Command)
	}
	return p, nil
}

// commandOf is the command line in the arguments of a tool that runs commands.
func commandOf(tool sdk.Tool, arguments json.RawMessage) string {
	var all map[string]any
	if tool.Command == "" || json.Unmarshal(arguments, &all) != nil {
		return ""
	}
	line, _ := all[tool.Command].(string)
	return line
}

// seal computes the hash over everything that an answer agrees to, in the form
// in which it was proposed: who answers names the hash that was shown.
func (p *proposalAttributes) seal(run sdk.Run, x *action) (err error) {
	agreed := map[string]any{
		"run": run.Key, "path": x.path, "tool": x.tool.Name, "plugin": x.tool.Plugin, "digest": p.Digest,
		"arguments": x.arguments, "project": x.project, "dir": p.Dir, "read_only": p.ReadOnly, "mode": p.Mode,
		"mounts": p.Mounts, "network": p.Network, "base": p.Base, "diff": p.Diff,
	}
	if p.oldForm {
		agreed = sdk.ToOldForm(agreed)
	}
	p.Hash, err = sdk.HashOf(agreed)
	return err
}

// sealed says what the action would be bound to if it were proposed now, with
// the difference that was shown then.
func (e *Engine) sealed(a *activeLoop, x *action) (proposalAttributes, error) {
	now, err := e.bind(a, x)
	if err != nil {
		return now, err
	}
	now.Base, now.Diff, now.oldForm = x.proposal.Base, x.proposal.Diff, x.proposal.oldForm
	return now, now.seal(a.run, x)
}

// heldCall is a call as its entry holds it.
type heldCall struct {
	callAttributes
	args json.RawMessage // to the byte, once it was proposed
}

func readCall(entry sdk.Entry) (heldCall, error) {
	var c heldCall
	if err := json.Unmarshal(entry.Attributes, &c.callAttributes); err != nil {
		return c, sdk.Errorf(sdk.Internal, "what is recorded of the call %s cannot be read: %w", entry.Path, err)
	}
	c.args = json.RawMessage(c.Changed)
	if c.Changed == "" {
		c.args = encode(c.Arguments)
	}
	return c, nil
}

// proposalOf is the proposal of an action's entry for people to see; false when
// it was never proposed.
func proposalOf(run sdk.Run, project sdk.Project, entry sdk.Entry, said string) (sdk.Proposal, bool) {
	c, err := readCall(entry)
	if err != nil || c.Proposal == nil {
		return sdk.Proposal{}, false
	}
	kept := c.Proposal
	p := sdk.Proposal{
		ID: kept.ID, Hash: kept.Hash, Run: run.ID, Alias: run.Alias, Project: project.Root, Path: entry.Path,
		Tool: c.Tool, Plugin: c.Plugin, Digest: kept.Digest, ReadOnly: kept.ReadOnly, Mode: kept.Mode, Created: kept.Created, Expires: kept.Expires,
		Arguments: c.args, Command: kept.Command, Dir: kept.Dir, Bytes: kept.Bytes, Mounts: kept.Mounts, Network: kept.Network,
		Diff: kept.Diff, Said: said, State: entry.State, Outcome: entry.Outcome,
	}
	if c.Decision != nil {
		p.Decision = *c.Decision
	}
	return p, true
}
