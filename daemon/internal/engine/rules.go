package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// RuleScheme is where the rules of a project are kept that answers left: one
// entry of the project's scope each. Its attributes are the sdk.RememberedRule;
// a rule that was removed has the member "removed" (ruleOf).
const RuleScheme = "rule://"

// remembered is the rule that an answer leaves; nil when it leaves none.
func (q *question) remembered(what sdk.Remember, now time.Time) (*sdk.RememberedRule, error) {
	x := q.x
	if x.private && what != sdk.RememberNothing {
		return nil, sdk.Errorf(sdk.Validation, "nothing is remembered of a run that a channel made: a rule would hold for your own runs in the project; answer without remembering")
	}
	r := sdk.RememberedRule{Created: now.UTC(), From: x.Proposal.ID}
	r.Verdict, r.Source, r.Project = sdk.Allow, "remembered", q.a.project.Root
	r.Tools = []string{x.tool.Qualified()}
	var err error
	switch what {
	case sdk.RememberNothing:
		return nil, nil
	case sdk.RememberTool:
		if x.tool.Address != "" {
			err = sdk.Errorf(sdk.Validation, "%s would then ask any address that a model makes; remember the host or the call", x.tool.Name)
		}
	case sdk.RememberHost:
		r.Hosts, err = rememberedHost(x)
	case sdk.RememberCall:
		r.Exact, err = sdk.PolicyRequest{Tool: x.tool, Arguments: x.meant(), Project: q.a.project.Root}.Hash()
	case sdk.RememberCommand:
		r.Whole, err = wholeCommands(x)
	default:
		err = sdk.Errorf(sdk.Validation, "%q cannot be remembered; there are call, command, host and tool", what)
	}
	if err != nil {
		return nil, err
	}
	if r.ID, err = sdk.HashOf(ruleIdentity(r)); err != nil {
		return nil, err
	}
	r.ID = r.ID[:idLength]
	r.Name = "remembered_" + r.ID
	return &r, nil
}

// ruleIdentity is what a rule is told from others by. One without hosts has none in it, as those from before there were any.
func ruleIdentity(r sdk.RememberedRule) map[string]any {
	of := map[string]any{"tools": r.Tools, "whole": r.Whole, "exact": r.Exact, "project": r.Project}
	if len(r.Hosts) > 0 {
		of["hosts"] = r.Hosts
	}
	return of
}

// rememberedHost is the host that the call asks. In interactive mode a rule about it would allow nothing.
func rememberedHost(x *action) ([]string, error) {
	d := x.decision()
	switch {
	case d.Host == "":
		return nil, sdk.Errorf(sdk.Validation, "%s names no address, so no host can be remembered; remember the call or the tool", x.tool.Name)
	case d.Rule != "address" || x.Proposal != nil && x.Proposal.Mode == sdk.ModeInteractive:
		return nil, sdk.Errorf(sdk.Validation, "a rule about the host %s would allow no such call; remember the call", d.Host)
	}
	return []string{d.Host}, nil
}

// wholeCommands are the commands that were seen and are not allowed by themselves. All of
// them have to be known by their words alone.
func wholeCommands(x *action) ([]sdk.WholeCommand, error) {
	if x.tool.Command == "" {
		return nil, sdk.Errorf(sdk.Validation, "%s runs no commands, so none can be remembered; remember the call or the tool", x.tool.Name)
	}
	var all []sdk.WholeCommand
	for _, c := range x.decision().Commands {
		switch {
		case c.Verdict == sdk.Allow:
		case c.Whole == nil:
			return nil, sdk.Errorf(sdk.Validation, "the command %q cannot be remembered as a rule, for what it does is not in its words alone, or not known before it runs; remember the call", c.Text)
		case !slices.ContainsFunc(all, func(w sdk.WholeCommand) bool { return w.Dir == c.Whole.Dir && slices.Equal(w.Argv, c.Whole.Argv) }):
			all = append(all, *c.Whole)
		}
	}
	if len(all) == 0 {
		return nil, sdk.Errorf(sdk.Validation, "no command was seen in this call that could be remembered; remember the call")
	}
	return all, nil
}

func ruleWrite(r sdk.RememberedRule) sdk.Write {
	at := map[string]any{"removed": nil}
	if json.Unmarshal(encode(r), &at) != nil {
		at = nil
	}
	return sdk.Write{Path: RuleScheme + r.ID, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Attributes: encode(at)}
}

// ruleOf reads a rule from its entry; false when it was removed, or cannot be
// read.
func ruleOf(entry sdk.Entry) (sdk.RememberedRule, bool) {
	var at struct {
		sdk.RememberedRule
		Removed *time.Time `json:"removed"`
	}
	text, _ := sdk.FromOldForm(entry.Attributes)
	if json.Unmarshal(text, &at) != nil || at.Removed != nil || at.ID == "" {
		return sdk.RememberedRule{}, false
	}
	return at.RememberedRule, true
}

// Rules are the rules that answers left in a project.
func (e *Engine) Rules(ctx context.Context, project string) ([]sdk.RememberedRule, error) {
	entries, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Project: project, Pattern: RuleScheme + "**"})
	if err != nil {
		return nil, err
	}
	all := rulesOf(entries)
	slices.SortStableFunc(all, func(a, b sdk.RememberedRule) int { return a.Created.Compare(b.Created) })
	return all, nil
}

func rulesOf(entries []sdk.Entry) []sdk.RememberedRule {
	var all []sdk.RememberedRule
	for _, entry := range entries {
		if r, ok := ruleOf(entry); ok {
			all = append(all, r)
		}
	}
	return all
}

// Forget removes a rule from a project; not found when it has none of that id.
// Calls that were allowed by it and have not started are judged without it.
func (e *Engine) Forget(ctx context.Context, project, id string) (sdk.RememberedRule, error) {
	rules, err := e.Rules(ctx, project)
	if err != nil {
		return sdk.RememberedRule{}, err
	}
	i := slices.IndexFunc(rules, func(r sdk.RememberedRule) bool { return r.ID == id })
	if i < 0 {
		return sdk.RememberedRule{}, sdk.Errorf(sdk.NotFound, "no rule %s is remembered for %s; `bothy policy rules` shows what is", id, project)
	}
	removed := encode(map[string]time.Time{"removed": e.cfg.Clock().UTC()})
	if err := e.Keep(ctx, project, sdk.Write{Path: RuleScheme + id, Writer: sdk.WriterSystem, Attributes: removed}); err != nil {
		return sdk.RememberedRule{}, fmt.Errorf("forget the rule %s: %w", id, err)
	}
	e.cfg.Rules.changed()
	return rules[i], nil
}
