// Package policy decides about every action: allow, propose or deny, with the
// rule that decided. It is pure: a call goes in, a decision comes out, and
// nothing is read, asked or remembered.
package policy

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// The rules of the fixed policy, as a Decision names them.
const (
	RuleRead         = "read"          // a read-only tool of a pinned plugin
	RuleSandbox      = "sandbox"       // a pinned plugin that runs commands in the run's container
	RuleProject      = "project"       // a pinned plugin that writes below the project
	RuleUnpinned     = "unpinned"      // nothing vouches for what the plugin declares
	RuleAskMode      = "ask_mode"      // the loop may only read
	RuleOutside      = "outside"       // a path leaves the project
	RuleProtected    = "protected"     // a path that the host or Bothy trusts
	RuleUnknown      = "unknown"       // no rule allows it
	RuleBadArguments = "bad_arguments" // the arguments cannot be judged
)

// Fixed is the policy of an installation that has configured none: reads,
// sandboxed commands and writes inside the project run, everything else is
// denied. It proposes nothing, so nobody has to be there to answer.
type Fixed struct{}

// Decide rules on one action. What a tool declares about itself is believed
// only of a pinned plugin.
func (Fixed) Decide(a sdk.Action) sdk.Decision {
	tool := a.Tool
	if !tool.Pinned {
		return deny(RuleUnpinned, "plugin %q is not pinned, so nothing vouches for what its tool %q does; `bothy plugins lock` pins it", tool.Plugin, tool.Name)
	}
	sandboxed := slices.Contains(tool.Grants, sdk.GrantSandbox)
	inProject := slices.Contains(tool.Grants, sdk.GrantProject)
	readOnly := tool.Annotations.ReadOnly
	if a.Mode != sdk.ModeAct && !readOnly {
		return deny(RuleAskMode, "this prompt was asked in a mode that only reads, and %q may change things; answer without it, or say that the person should run the prompt with side effects allowed", tool.Name)
	}
	if !sandboxed || inProject {
		if d, bad := judgePaths(a); bad {
			return d
		}
	}
	switch {
	case readOnly:
		return allow(RuleRead, "%q only reads, and its plugin is pinned", tool.Name)
	case sandboxed:
		return allow(RuleSandbox, "%q runs in the sandbox of this run", tool.Name)
	case inProject:
		return allow(RuleProject, "%q changes files below the project only", tool.Name)
	default:
		return deny(RuleUnknown, "no rule allows %q: it has side effects and neither runs in the sandbox nor is confined to the project", tool.Name)
	}
}

func allow(rule, format string, args ...any) sdk.Decision {
	return sdk.Decision{Verdict: sdk.Allow, Rule: rule, Reason: fmt.Sprintf(format, args...)}
}

func deny(rule, format string, args ...any) sdk.Decision {
	return sdk.Decision{Verdict: sdk.Deny, Rule: rule, Reason: fmt.Sprintf(format, args...)}
}
