package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// Policy says how much runs may do without asking, and how long an answer is waited for.
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
func (l *loader) checkMode(now *Value, before Value) {
	if l.cfg.Policy.Mode != sdk.ModeFull || l.cfg.Policy.AllowDangerous {
		return
	}
	if s := findSetting("policy", "mode"); now.Source == s.variable() && before.text != string(sdk.ModeFull) {
		l.ignored(s, "policy.mode "+needsDangerous, before)
		l.cfg.Policy.Mode, *now = sdk.Mode(before.text), before
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
	case !l.says(body, "mode") && common != sdk.ModeWorkspace && a.WithoutView != "" && common.AsksLess(a.WithoutView):
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

func (l *loader) rule(b *block) {
	if rule, ok := l.readRule(b); ok {
		l.cfg.Rules = append(l.cfg.Rules, rule)
	}
}

// readRule decodes and checks a rule block. A rule with a mistake is none.
func (l *loader) readRule(b *block) (sdk.PolicyRule, bool) {
	rule := sdk.PolicyRule{Name: b.label, Source: placeOf(b.at)}
	return rule, l.decode(b.body, &rule) && l.checkRule(&rule, b.body, b.at)
}

// checkRule reports whether a rule can be used that stands in a body.
func (l *loader) checkRule(rule *sdk.PolicyRule, body *hclsyntax.Body, r hcl.Range) bool {
	before := len(l.diags)
	wrong := func(attribute, format string, args ...any) {
		l.wrong(body, attribute, "rule %q: %s %s.", rule.Name, attribute, fmt.Sprintf(format, args...))
	}
	if !slices.Contains([]sdk.Verdict{sdk.Allow, sdk.Propose, sdk.Deny}, rule.Verdict) {
		wrong("decision", "is %q; it may be allow, propose or deny", rule.Verdict)
	}
	for _, t := range rule.Tools {
		if t == "" || strings.ContainsAny(t, `[]{}\ `) {
			wrong("tools", "holds %q, which no tool is called: write a name, or one with stars such as \"read_*\" or \"files__*\"", t)
		}
	}
	for name := range rule.Arguments {
		if name == "" {
			wrong("arguments", "has an empty name: write the name of an argument, and a pattern such as \"main*\"")
		}
	}
	for _, p := range rule.Paths {
		if why := pathMistake(p); why != "" {
			wrong("paths", "holds %q: %s", p, why)
		}
	}
	for _, c := range rule.Commands {
		if len(strings.Fields(c)) == 0 || strings.ContainsAny(c, "|;&<>()$`\"'\\\n") {
			wrong("commands", "holds %q: write the first words of one command as they are, such as \"go test\"; what follows them is free", c)
		}
	}
	l.checkHosts(fmt.Sprintf("hosts of rule %q", rule.Name), rule.Hosts, attributeRange(body, "hosts"))
	for _, m := range rule.Modes {
		if !m.Valid() {
			wrong("modes", "holds %q; each may be %s", m, sdk.ModeWords())
		}
	}
	l.checkAllow(rule, r)
	return len(l.diags) == before
}

// checkAllow refuses what would allow more, or less, than its author can mean.
func (l *loader) checkAllow(rule *sdk.PolicyRule, r hcl.Range) {
	if rule.Verdict != sdk.Allow {
		return
	}
	all := func(list []string, any ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return slices.Contains(any, s) })
	}
	switch {
	case all(rule.Tools, "*", "**") && all(rule.Paths, "**", "**/*") && all(rule.Commands, "*") && all(rule.Hosts, "*") && len(rule.Arguments) == 0:
		l.reportAt(r, "A rule that allows everything", fmt.Sprintf("Name what rule %q is about: tools, arguments, paths, commands or hosts. To be asked about nothing there is the mode full.", rule.Name))
	case len(rule.Paths) > 0 && len(rule.Commands) > 0:
		l.reportAt(r, "A rule that never fits", fmt.Sprintf("Which paths a command touches is not known for sure, so that rule %q could allow nothing: name commands or paths.", rule.Name))
	}
}

func pathMistake(p string) string {
	_, err := match.ParseGlob(p)
	switch {
	case err != nil:
		return err.Error()
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, "~"), slices.Contains(strings.Split(p, "/"), ".."), strings.HasPrefix(p, "./"):
		return "paths are relative to the project, such as \"docs/**\""
	}
	return ""
}
