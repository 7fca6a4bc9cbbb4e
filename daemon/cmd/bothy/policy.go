package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type policyCmd struct {
	Rules  policyRulesCmd      `cmd:"" default:"withargs" help:"List the rules in force beside the built-in ones."`
	Forget policyForgetCmd     `cmd:"" help:"Remove a rule that an answer left."`
	Test   offline[policyTest] `cmd:"" help:"Say what policy would do with a command or an address, and why; nothing runs."`
}

// policyTest adds what bothyd takes as a flag of all its verbs.
type policyTest struct {
	verbs.PolicyTest
	Config string `placeholder:"FILE" complete:"file" help:"Configuration to read instead of the user's."`
}

type policyRulesCmd struct {
	Project string `placeholder:"DIR" complete:"dir" help:"What holds in this project; everywhere when absent."`
}

// Help adds to the verb's help.
func (policyRulesCmd) Help() string {
	return `A rule comes from the configuration, from a workspace file that can only forbid, or from an answer that was remembered. Of the rules that fit a call, one that denies goes before one that asks, and that before one that allows. 'bothy explain' tells which rule decided about an action.

Examples:

    bothy policy rules
    bothy policy forget 3f2a
`
}

// Run prints the rules, those that can be forgotten with their id.
func (cmd policyRulesCmd) Run(ctx context.Context, c *console) error {
	_, project, err := c.filter("", cmd.Project)
	if err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (rpc.Rules, error) { return cl.Rules(ctx, rpc.RulesParams{Project: project}) }, func(found rpc.Rules) error {
		if len(found.Configured)+len(found.Remembered) == 0 {
			c.say("there are only the built-in rules: a rule block of the configuration adds one, and so does `r` as the answer to a question")
			return nil
		}
		var rows [][]string
		for _, r := range found.Configured {
			rows = append(rows, []string{"", r.Name, r.Source, ruleText(r)})
		}
		for _, r := range found.Remembered {
			rows = append(rows, []string{r.ID, r.Name, "remembered " + show.When(r.Created), ruleText(r.PolicyRule)})
		}
		return c.table([]string{"ID", "RULE", "FROM", "WHAT IT SAYS"}, rows)
	})
}

// ruleText says a rule in words.
func ruleText(r sdk.PolicyRule) string {
	var b strings.Builder
	b.WriteString(string(r.Verdict) + " ")
	switch {
	case len(r.Commands) > 0:
		b.WriteString("the commands " + strings.Join(r.Commands, ", "))
	case len(r.Whole) > 0:
		b.WriteString("the commands " + strings.Join(each(r.Whole, wholeText), "; "))
	case r.Exact != "":
		b.WriteString("one call, " + r.Exact[:min(len(r.Exact), show.ShortHash)])
	default:
		b.WriteString("every call")
	}
	if len(r.Tools) > 0 {
		b.WriteString(" of " + strings.Join(r.Tools, ", "))
	}
	if len(r.Hosts) > 0 {
		b.WriteString(" to " + strings.Join(r.Hosts, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Arguments)) {
		fmt.Fprintf(&b, ", %s = %s", name, r.Arguments[name])
	}
	if len(r.Paths) > 0 {
		b.WriteString(", paths " + strings.Join(r.Paths, ", "))
	}
	if len(r.Modes) > 0 {
		b.WriteString(", in mode " + strings.Join(each(r.Modes, func(m sdk.Mode) string { return string(m) }), ", "))
	}
	if r.Project != "" {
		b.WriteString(", in " + r.Project)
	}
	return b.String()
}

// wholeText is exactly what a rule covers that is about a command as it stands.
func wholeText(w sdk.WholeCommand) string {
	words := each(w.Argv, func(word string) string {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'\\,;", r) }) {
			return strconv.Quote(word)
		}
		return word
	})
	text := strings.Join(words, " ")
	if len(w.Plain) > 0 {
		text += " (with or without " + strings.Join(w.Plain, ", ") + ")"
	}
	if w.Dir != "/workspace" {
		text += " in " + w.Dir
	}
	return text
}

type policyForgetCmd struct {
	ID      []string `arg:"" complete:"rule" help:"The rules' ids, as 'bothy policy rules' lists them."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project of the rule, where several have one of that id, as network."`
}

// Run removes rules, one after the other.
func (cmd policyForgetCmd) Run(ctx context.Context, c *console) error {
	_, project, err := c.filter("", cmd.Project)
	if err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (gone []sdk.RememberedRule, err error) {
		for _, id := range cmd.ID {
			rule, err := cl.Forget(ctx, rpc.RuleRef{ID: id, Project: project})
			if err != nil {
				return nil, fmt.Errorf("rule %s: %w", id, err)
			}
			gone = append(gone, rule)
			if !c.json {
				c.say("forgotten: %s", c.exact(ruleText(rule.PolicyRule)))
			}
		}
		return gone, nil
	}, func([]sdk.RememberedRule) error { return nil })
}
