package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

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
	if s, _ := findSetting("policy", "mode"); now.Source == s.variable() && before.Value != string(sdk.ModeFull) {
		l.diags = append(l.diags, Diagnostic{Severity: "warning", Summary: "Ignored " + s.variable(),
			Detail: "policy.mode " + needsDangerous + "; the value from " + before.Source + " stays."})
		l.cfg.Policy.Mode, l.sources["policy.mode"] = sdk.Mode(before.Value), before
		return
	}
	l.reportAt(now.place, "Full mode is not allowed", "policy.mode "+needsDangerous+".")
}

// agentMode is the mode of an agent's block. Without one policy.mode rules, unless
// that is another than workspace and asks less than without does.
func (l *loader) agentMode(label string, word *string, body hcl.Body, without sdk.Mode) sdk.Mode {
	if word == nil {
		if l.cfg.Policy.Mode != sdk.ModeWorkspace && asks(without, l.cfg.Policy.Mode) {
			return without
		}
		return l.cfg.Policy.Mode
	}
	mode := sdk.Mode(*word)
	switch at := attributeRange(body, "mode"); {
	case !mode.Valid():
		l.reportAt(at, "Wrong value", fmt.Sprintf("mode of agent %q is %q; it may be %s.", label, mode, sdk.ModeWords()))
	case mode == sdk.ModeFull && !l.cfg.Policy.AllowDangerous:
		l.reportAt(at, "Full mode is not allowed", fmt.Sprintf("mode of agent %q %s.", label, needsDangerous))
	}
	return mode
}

// withoutView is the mode of an agent where workspace is not possible.
func (l *loader) withoutView(label string, word *string, body hcl.Body) sdk.Mode {
	mode := sdk.Mode(or(word, ""))
	if word != nil && mode != sdk.ModeInteractive && mode != sdk.ModeRestricted {
		l.reportAt(attributeRange(body, "without_view"), "Wrong value", fmt.Sprintf("without_view of agent %q is %q; it may be interactive or restricted.", label, mode))
	}
	return mode
}

// asks reports whether a mode is one, and asks more than another.
func asks(mode, other sdk.Mode) bool {
	order := sdk.ModeNames()
	at := slices.Index(order, string(mode))
	return at >= 0 && at < slices.Index(order, string(other))
}

// attributeRange is where the value of an attribute stands, which was decoded
// before.
func attributeRange(body hcl.Body, name string) hcl.Range {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	if a := content.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return hcl.Range{}
}
