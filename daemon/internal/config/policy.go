package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// Policy says how much runs may do without asking, and how long an answer is
// waited for.
type Policy struct {
	Mode           sdk.Mode      `name:"mode" default:"workspace" doc:"what agents that name no mode may do unasked: {modes}"`
	AllowDangerous bool          `name:"allow_dangerous" default:"false" doc:"full may be the mode of an agent, or policy.mode"`
	Expiry         time.Duration `name:"expiry" default:"24h" doc:"time in which a proposal can be answered"`
	AnswerWithin   time.Duration "name:\"answer_within\" default:\"5m\" doc:\"how long `bothy run` without a terminal waits for somebody else's answer; the proposal stays\""
}

// needsDangerous is what is wrong with a mode of full.
const needsDangerous = "is \"full\", in which nobody is asked about anything that is not on the deny-list; with allow_dangerous = true in the policy block you say that you want that"

// checkMode reports a policy.mode that is not allowed to be what it is. One of
// the environment is ignored: a variable must not take the daemon down.
func (l *loader) checkMode(before Value) {
	now := l.sources["policy.mode"]
	if l.cfg.Policy.Mode != sdk.ModeFull || l.cfg.Policy.AllowDangerous {
		return
	}
	if s := findSetting("policy", "mode"); now.Source == s.variable() && before.Value != string(sdk.ModeFull) {
		l.diags = append(l.diags, Diagnostic{Severity: "warning", Summary: "Ignored " + s.variable(),
			Detail: "policy.mode " + needsDangerous + "; the value from " + before.Source + " stays."})
		l.cfg.Policy.Mode, l.sources["policy.mode"] = sdk.Mode(before.Value), before
		return
	}
	l.reportAt(now.place, "Full mode is not allowed", "policy.mode "+needsDangerous+".")
}

// agentMode is the mode of an agent's block. Without one policy.mode rules, unless
// that is another than workspace and asks less than without_view does.
func (l *loader) agentMode(a sdk.Agent, body *hclsyntax.Body) sdk.Mode {
	if l.says(body, "without_view") && a.WithoutView != sdk.ModeInteractive && a.WithoutView != sdk.ModeRestricted {
		l.wrong(body, "without_view", "without_view of agent %q is %q; it may be interactive or restricted.", a.Name, a.WithoutView)
	}
	switch common := l.cfg.Policy.Mode; {
	case !l.says(body, "mode") && common != sdk.ModeWorkspace && asks(a.WithoutView, common):
		return a.WithoutView
	case !l.says(body, "mode"):
		return common
	case !a.Mode.Valid():
		l.wrong(body, "mode", "mode of agent %q is %q; it may be %s.", a.Name, a.Mode, sdk.ModeWords())
	case a.Mode == sdk.ModeFull && !l.cfg.Policy.AllowDangerous:
		l.reportAt(attributeRange(body, "mode"), "Full mode is not allowed", fmt.Sprintf("mode of agent %q %s.", a.Name, needsDangerous))
	}
	return a.Mode
}

// asks reports whether a mode is one, and asks more than another.
func asks(mode, other sdk.Mode) bool {
	order := sdk.ModeNames()
	at := slices.Index(order, string(mode))
	return at >= 0 && at < slices.Index(order, string(other))
}
