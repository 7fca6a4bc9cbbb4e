// Package rulebook knows the rules that answers to proposals left: which one an answer leaves, how it is written, and
// which hold in a project. It writes nothing itself: what a rule is kept by is given to it.
package rulebook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// scheme is where the rules of a project are kept that answers left: one
// entry of the project's scope each. Its attributes are the sdk.RememberedRule;
// a rule that was removed has the member "removed" (ruleOf).
const scheme = "rule://"

// idLength is how much of the hash of a rule names it.
const idLength = 8

// Call is a call that was proposed, as far as a rule speaks of it.
type Call struct {
	Tool      sdk.Tool
	Arguments json.RawMessage // of the tool that runs
	Project   string          // its root
	Private   bool            // its run is
	Decision  sdk.Decision
	Proposal  *sdk.ActionProposal
}

// Rule is the rule that an answer to the call leaves; nil when it leaves none.
func (c Call) Rule(what sdk.Remember, now time.Time) (*sdk.RememberedRule, error) {
	if c.Private && what != sdk.RememberNothing {
		return nil, sdk.Errorf(sdk.Validation, "nothing is remembered of a run that a channel made: a rule would hold for your own runs in the project; answer without remembering")
	}
	r := sdk.RememberedRule{Created: now.UTC(), From: c.Proposal.ID}
	r.Verdict, r.Source, r.Project = sdk.Allow, "remembered", c.Project
	r.Tools = []string{c.Tool.Qualified()}
	var err error
	switch what {
	case sdk.RememberNothing:
		return nil, nil
	case sdk.RememberTool:
		if c.Tool.Address != "" {
			err = sdk.Errorf(sdk.Validation, "%s would then ask any address that a model makes; remember the host or the call", c.Tool.Name)
		}
	case sdk.RememberHost:
		r.Hosts, err = c.host()
	case sdk.RememberCall:
		r.Exact, err = sdk.PolicyRequest{Tool: c.Tool, Arguments: c.Arguments, Project: c.Project}.Hash()
	case sdk.RememberCommand:
		r.Whole, err = c.commands()
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

// host is the host that the call asks. In interactive mode a rule about it would allow nothing.
func (c Call) host() ([]string, error) {
	d := c.Decision
	switch {
	case d.Host == "":
		return nil, sdk.Errorf(sdk.Validation, "%s names no address, so no host can be remembered; remember the call or the tool", c.Tool.Name)
	case d.Rule != "address" || c.Proposal != nil && c.Proposal.Mode == sdk.ModeInteractive:
		return nil, sdk.Errorf(sdk.Validation, "a rule about the host %s would allow no such call; remember the call", d.Host)
	}
	return []string{d.Host}, nil
}

// commands are those that were seen and are not allowed by themselves. All of
// them have to be known by their words alone.
func (c Call) commands() ([]sdk.WholeCommand, error) {
	if c.Tool.Command == "" {
		return nil, sdk.Errorf(sdk.Validation, "%s runs no commands, so none can be remembered; remember the call or the tool", c.Tool.Name)
	}
	var all []sdk.WholeCommand
	for _, seen := range c.Decision.Commands {
		switch {
		case seen.Verdict == sdk.Allow:
		case seen.Whole == nil:
			return nil, sdk.Errorf(sdk.Validation, "the command %q cannot be remembered as a rule, for what it does is not in its words alone, or not known before it runs; remember the call", seen.Text)
		case !slices.ContainsFunc(all, func(w sdk.WholeCommand) bool { return w.Dir == seen.Whole.Dir && slices.Equal(w.Argv, seen.Whole.Argv) }):
			all = append(all, *seen.Whole)
		}
	}
	if len(all) == 0 {
		return nil, sdk.Errorf(sdk.Validation, "no command was seen in this call that could be remembered; remember the call")
	}
	return all, nil
}

// Write is how a rule is kept.
func Write(r sdk.RememberedRule) sdk.Write {
	at := map[string]any{"removed": nil}
	if json.Unmarshal(encode(r), &at) != nil {
		at = nil
	}
	return sdk.Write{Path: scheme + r.ID, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Attributes: encode(at)}
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

func rulesOf(entries []sdk.Entry) []sdk.RememberedRule {
	var all []sdk.RememberedRule
	for _, entry := range entries {
		if r, ok := ruleOf(entry); ok {
			all = append(all, r)
		}
	}
	return all
}

// Offers are the rules that an answer to the call could leave, as they would be written.
func (c Call) Offers(now time.Time) []sdk.Offer {
	var all []sdk.Offer
	for _, what := range []sdk.Remember{sdk.RememberCall, sdk.RememberCommand, sdk.RememberHost, sdk.RememberTool} {
		if rule, err := c.Rule(what, now); err == nil {
			all = append(all, sdk.Offer{Remember: what, Text: offerText(*rule, c.Tool), Rule: rule.PolicyRule})
		}
	}
	return all
}

// offerText says what a rule allows, for a person.
func offerText(r sdk.RememberedRule, tool sdk.Tool) string {
	switch {
	case len(r.Whole) > 0:
		var commands []string
		for _, w := range r.Whole {
			text := "`" + words(w.Argv) + "`"
			if len(w.Plain) > 0 {
				text += " (with or without " + strings.Join(w.Plain, ", ") + ")"
			}
			if w.Dir != commandsRoot {
				text += " in " + w.Dir
			}
			commands = append(commands, text)
		}
		return "always allow " + strings.Join(commands, " and ")
	case len(r.Hosts) > 0:
		return fmt.Sprintf("always allow %s to ask %s, whatever stands in the address", tool.Name, strings.Join(r.Hosts, " and "))
	case r.Exact != "":
		return fmt.Sprintf("always allow this call of %s, with exactly these arguments", tool.Name)
	default:
		return fmt.Sprintf("always allow %s, whatever it is called with", tool.Name)
	}
}

// words are those of a command in a line, each so that it is seen where it ends.
func words(argv []string) string {
	shown := make([]string, len(argv))
	for i, word := range argv {
		if shown[i] = word; word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'\\`", r) }) {
			shown[i] = strconv.Quote(word)
		}
	}
	return strings.Join(shown, " ")
}

// commandsRoot is where commands have the project.
const commandsRoot = "/workspace"

// encode makes the JSON of attributes, whose types always can be encoded.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
