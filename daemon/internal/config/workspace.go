package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// Workspace is what a project's own file narrows, or what the user's workspace
// block says for all projects. The zero value says nothing.
type Workspace struct {
	Agent  string // of prompts that name none; empty says nothing
	Model  string
	Rules  []sdk.PolicyRule // deny and propose, never allow
	Shell  string           // "argv", or empty
	Guards sdk.Guards       // limits; 0 is none
	// Protect adds to what is refused and asked; it frees nothing.
	Protect sdk.Protection

	// Trust are patterns of the roots of projects whose own file may choose
	// among agents and models. Only the user's file has it.
	Trust []string

	// Broken is why the file of a project cannot be read, at BrokenAt. Who decides takes it for one that denies.
	Broken, BrokenAt string
}

// workspaceBlock chooses among what the user has configured, and denies.
type workspaceBlock struct {
	Agent string   `hcl:"agent,optional"`
	Model string   `hcl:"model,optional"`
	Deny  []string `hcl:"deny,optional"`  // tools that no agent gets, as in an agent's tools
	Trust []string `hcl:"trust,optional"` // in the user's file only
}

// Trusts reports whether the file of a project may choose among agents and models.
func (w Workspace) Trusts(root string) bool {
	return slices.ContainsFunc(w.Trust, func(pattern string) bool {
		g, err := match.ParseGlob(pattern[1:]) // Load has made it absolute
		return err == nil && len(root) > 1 && g.Match(root[1:])
	})
}

// workspace checks a workspace block against what is configured. It reports
// false when what the block denies is not known.
func (l *loader) workspace(body *hclsyntax.Body, prefix string) bool {
	var block workspaceBlock
	if !l.decode(body, &block) {
		return false
	}
	at := func(name string) hcl.Range { return attributeRange(body, name) }
	w := &l.cfg.Workspace
	if l.says(body, "agent") {
		chosen, here := l.cfg.Agents[block.Agent]
		if !here && block.Agent == sdk.TeamOfAll {
			chosen, here = l.cfg.TeamOf(sdk.TeamOfAll), true
		}
		switch {
		case prefix == "" && !here && !slices.Contains(l.knownAgents(), block.Agent):
			l.reportAt(at("agent"), "Unknown agent", fmt.Sprintf("There is no agent %q, and a workspace can only choose among them.", block.Agent))
		case prefix != "" && here && chosen.Mode.AsksLess(l.cfg.Agents["default"].Mode): // a person would be asked less often than without the choice
			l.reportAt(at("agent"), "Not for a workspace to say", fmt.Sprintf("The mode of agent %q is %s, which asks less than the %s of the agent default; a workspace cannot choose it.", block.Agent, chosen.Mode, l.cfg.Agents["default"].Mode))
		default: // which agents a project has in files is known when a prompt asks for this one, and they ask no less than default
			w.Agent = block.Agent
		}
	}
	if l.says(body, "model") {
		provider, model, _ := strings.Cut(block.Model, "/")
		if slices.ContainsFunc(l.cfg.Models, func(m Model) bool { return m.Alias == block.Model }) || model != "" && labelled(l.cfg.Providers, provider) {
			w.Model = block.Model
		} else {
			l.reportAt(at("model"), "Unknown model", fmt.Sprintf("%q is neither a model block of the configuration nor one of its providers with a model (provider/name), and a workspace can only choose among those.", block.Model))
		}
	}
	if len(block.Deny) > 0 {
		place := at("deny")
		rule := sdk.PolicyRule{Name: "workspace.deny", Source: prefix + placeOf(place), Verdict: sdk.Deny, Tools: block.Deny}
		if !l.checkRule(&rule, &hclsyntax.Body{Attributes: hclsyntax.Attributes{"tools": body.Attributes["deny"]}}, place) {
			return false
		}
		w.Rules = append(w.Rules, rule)
	}
	if block.Trust != nil {
		l.trust(block.Trust, at("trust"), prefix != "")
	}
	return true
}

// trust reads the patterns of the user's file.
func (l *loader) trust(patterns []string, at hcl.Range, ofProject bool) {
	if ofProject {
		l.reportAt(at, "Not for a workspace to say", "Which projects are trusted stands in your own configuration; the file of a project cannot say it of itself.")
		return
	}
	for _, p := range patterns {
		full := l.path(p)
		if full == "" {
			l.reportAt(at, "Wrong value", "trust holds an empty text; write the root of a project, or a pattern such as \"~/src/**\".")
		} else if _, err := match.ParseGlob(full[1:]); err != nil {
			l.reportAt(at, "Wrong value", fmt.Sprintf("trust holds %q: %s.", p, err))
		} else {
			l.cfg.Workspace.Trust = append(l.cfg.Workspace.Trust, full)
		}
	}
}
