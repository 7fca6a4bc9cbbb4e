// Package proposal knows what a person is asked about an action and what an answer
// is bound to: the hash over all that would run, what of it has changed since, and
// the writes that ask, edit, answer and expire. It is pure; the engine commits the
// writes, asks the hooks, and waits.
package proposal

import (
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Call is what would run. Arguments are canonical.
type Call struct {
	Run       sdk.Run
	Path      string // of the action
	Tool      sdk.Tool
	Arguments json.RawMessage
	Project   string
}

// Command is the command line in the arguments of a tool that runs commands; empty
// for any other.
func (c Call) Command() string {
	var all map[string]any
	if c.Tool.Command == "" || json.Unmarshal(c.Arguments, &all) != nil {
		return ""
	}
	line, _ := all[c.Tool.Command].(string)
	return line
}

// Seal computes the hash over everything that an answer agrees to, in the form
// in which it was proposed: who answers names the hash that was shown.
func Seal(p *sdk.ActionProposal, c Call) (err error) {
	agreed := map[string]any{
		"run": c.Run.Key, "path": c.Path, "tool": c.Tool.Name, "plugin": c.Tool.Plugin, "digest": p.Digest,
		"arguments": c.Arguments, "project": c.Project, "dir": p.Dir, "read_only": p.ReadOnly, "mode": p.Mode,
		"mounts": p.Mounts, "network": p.Network, "base": p.Base, "diff": p.Diff,
	}
	if t := c.Tool; t.Source != "" { // it may become another one while it waits
		agreed["of"] = []any{t.SourceName, t.Description, t.Parameters, t.Annotations}
	}
	if p.OldForm {
		agreed = sdk.ToOldForm(agreed)
	}
	p.Hash, err = sdk.HashOf(agreed)
	return err
}

// Holds is nil when a call is still what a person agreed to, and else Again. Now is what it would
// be bound to if it were proposed now.
func Holds(agreed, now sdk.ActionProposal) error {
	if agreed.Hash == now.Hash {
		return nil
	}
	return sdk.Errorf(sdk.Again, "this call was not made: what would run is no longer what was agreed to, because %s changed meanwhile", differs(agreed, now)).Tell("not made: make the call again, and a person is asked about it anew")
}

// differs names what of two proposals of one call is not the same.
func differs(p, now sdk.ActionProposal) string {
	switch {
	case p.Digest != now.Digest:
		return "the plugin's binary"
	case p.Dir != now.Dir, fmt.Sprint(p.Mounts) != fmt.Sprint(now.Mounts), p.Network != now.Network:
		return "what it could touch"
	case p.ReadOnly != now.ReadOnly, p.Mode != now.Mode:
		return "what the run may do"
	default:
		return "the call itself"
	}
}
