package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
)

// The grammar of workspace blocks stands already, so that files which have them
// will keep their meaning. Nothing heeds them yet.

// workspaceBlock chooses among what the user has configured, and denies.
type workspaceBlock struct {
	Agent *string  `hcl:"agent"`
	Model *string  `hcl:"model"`
	Deny  []string `hcl:"deny,optional"` // tools that no agent gets, as in an agent's tools
}

func (l *loader) noEffect(r hcl.Range, block string) {
	l.report(hcl.Diagnostics{{
		Severity: hcl.DiagWarning, Summary: "This " + block + " block has no effect yet", Subject: r.Ptr(),
		Detail: "It is read without a mistake and will count in a later version.",
	}})
}

// workspace checks a workspace block against what is configured.
func (l *loader) workspace(body hcl.Body) {
	var b workspaceBlock
	content, diags := body.Content(schemaOf(&b))
	l.report(diags)
	if diags.HasErrors() {
		return
	}
	diags = gohcl.DecodeBody(body, l.cfg.Context, &b)
	l.report(diags)
	if diags.HasErrors() {
		return
	}
	at := func(name string) hcl.Range { return content.Attributes[name].Expr.Range() }
	if _, known := l.cfg.Agents[or(b.Agent, "")]; b.Agent != nil && !known {
		l.reportAt(at("agent"), "Unknown agent", fmt.Sprintf("There is no agent %q in the configuration, and a workspace can only choose among them.", *b.Agent))
	}
	if b.Model != nil && !l.hasModel(*b.Model) {
		l.reportAt(at("model"), "Unknown model", fmt.Sprintf("%q is neither a model block of the configuration nor one of its providers with a model (provider/name), and a workspace can only choose among those.", *b.Model))
	}
	if slices.Contains(b.Deny, "") {
		l.reportAt(at("deny"), "Wrong value", "An empty name denies nothing; write the name of a tool, or a pattern such as \"files__*\".")
	}
}

func schemaOf(block any) *hcl.BodySchema {
	schema, _ := gohcl.ImpliedBodySchema(block)
	return schema
}

func (l *loader) hasModel(name string) bool {
	if slices.ContainsFunc(l.cfg.Models, func(m Model) bool { return m.Alias == name }) {
		return true
	}
	provider, model, _ := strings.Cut(name, "/")
	return model != "" && slices.ContainsFunc(l.cfg.Providers, func(p Plugin) bool { return p.Label == provider })
}
