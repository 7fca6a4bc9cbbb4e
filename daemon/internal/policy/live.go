package policy

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Remembered is what answers of people left in a project.
type Remembered interface {
	// Allowing are the rules that allow calls.
	Allowing(project string) []sdk.PolicyRule
	// Open reports whether a person opened the network for commands.
	Open(project string) bool
}

// Live decides by what holds when it is asked: what is written down for a
// project, and what answers left there.
type Live struct {
	Written    func(project string) Settings
	Sandbox    func() sdk.Sandbox // as it is configured
	Remembered Remembered
}

// Decide rules on a call.
func (l Live) Decide(r sdk.PolicyRequest) sdk.Decision {
	set := l.Written(r.Project)
	set.Rules = append(set.Rules, l.Remembered.Allowing(r.Project)...)
	return New(set).Decide(r)
}

// Configured are the rules that are written down: of the configuration and, with
// a project, of its workspace.
func (l Live) Configured(project string) []sdk.PolicyRule { return l.Written(project).Rules }

// Network reports whether commands in a project have the network.
func (l Live) Network(project string) bool { return l.Remembered.Open(project) }

// Reach is what a call could touch as it is now: an answer to a proposal is bound
// to that.
func (l Live) Reach(tool sdk.Tool, arguments json.RawMessage, project, runDir string) sdk.Reach {
	return reach(tool, arguments, l.Sandbox(), project, runDir, l.Network(project))
}
