package config

import (
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// decodeKept decodes the blocks that all files together made.
func (l *loader) decodeKept() {
	for _, x := range []struct {
		kind string
		do   func(*block)
	}{
		{"plugin", func(b *block) { l.plugin(&l.cfg.Plugins, b) }}, {"provider", func(b *block) { l.plugin(&l.cfg.Providers, b) }}, {"mcp", l.mcp},
		{"model", l.model}, {"agent", l.agent}, {"team", l.team}, {"skill", l.skill}, {"rule", l.rule}, {"person", l.person}, {"workspace", func(b *block) { l.workspace(b.body, "") }},
		{"hosts", func(b *block) { l.openHosts(b.body, "") }},
	} {
		for _, b := range l.kept[x.kind] {
			x.do(b)
		}
	}
}

// labels are the blocks of a type that were written, also with a mistake inside.
func (l *loader) labels(kind string) (labels []string) {
	for _, b := range l.kept[kind] {
		labels = append(labels, b.label)
	}
	return labels
}

// labelled reports whether one of a list has a label.
func labelled(list []Plugin, label string) bool {
	return slices.ContainsFunc(list, func(p Plugin) bool { return p.Label == label })
}

// decode takes a block apart, and reports false when that has a mistake. What the block does not say,
// or says is null, stays as it is in block.
func (l *loader) decode(body hcl.Body, block any) bool {
	schema, _ := gohcl.ImpliedBodySchema(block)
	diags := gohcl.DecodeBody(l.said(body.(*hclsyntax.Body), schema.Attributes), l.cfg.Context, block)
	l.report(diags)
	return !diags.HasErrors()
}

// said is a body, with the blocks in it, without what is null of the attributes that are read here: with nil all.
func (l *loader) said(body *hclsyntax.Body, read []hcl.AttributeSchema) *hclsyntax.Body {
	out := *body
	out.Attributes, out.Blocks = maps.Clone(body.Attributes), slices.Clone(body.Blocks)
	maps.DeleteFunc(out.Attributes, func(name string, _ *hclsyntax.Attribute) bool {
		return (read == nil || slices.ContainsFunc(read, func(a hcl.AttributeSchema) bool { return a.Name == name })) && !l.says(body, name)
	})
	for i, b := range body.Blocks {
		inner := *b
		inner.Body, out.Blocks[i] = l.said(b.Body, nil), &inner
	}
	return &out
}

// says reports whether a block has an attribute that is not null.
func (l *loader) says(body *hclsyntax.Body, name string) bool {
	a := body.Attributes[name]
	if a == nil {
		return false
	}
	v, _ := a.Expr.Value(l.cfg.Context) // what is wrong with it is reported when it is decoded
	return !v.IsNull()
}

// attributeRange is where the value of an attribute stands, or the block that should have it.
func attributeRange(body *hclsyntax.Body, name string) hcl.Range {
	if a := body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return body.MissingItemRange()
}

// wrong reports what is wrong with the value of an attribute.
func (l *loader) wrong(body *hclsyntax.Body, name, format string, args ...any) {
	l.reportAt(attributeRange(body, name), "Wrong value", fmt.Sprintf(format, args...))
}

func (l *loader) plugin(list *[]Plugin, b *block) {
	a := b.body.Attributes["plugin"]
	switch {
	case strings.HasPrefix(b.label, sdk.MCPPrefix):
		l.reportAt(b.at, "A name of MCP servers", fmt.Sprintf("%s stands before the names of MCP servers: write an mcp block %q.", sdk.MCPPrefix, strings.TrimPrefix(b.label, sdk.MCPPrefix)))
	case a != nil && textOf(a.Expr, l.cfg.Context) == mcpBinary:
		l.wrong(b.body, "plugin", "plugin = %q is what an mcp block runs: write an mcp block.", mcpBinary)
	default:
		l.instance(list, Plugin{Label: b.label, Binary: b.label, Enabled: true, Confined: true, Range: b.at}, b.body)
	}
}

// instance adds a plugin that is as p says, but for what its block says.
func (l *loader) instance(list *[]Plugin, p Plugin, body *hclsyntax.Body) {
	p.Limits, p.Quota, p.Answers = &Limits{}, &Quota{}, &Answers{}
	if !l.decode(body, &p) {
		return
	}
	if p.Server != nil {
		p.serve()
	}
	p.Path = l.path(p.Path)
	l.bounds(&p, body)
	if !labelPattern.MatchString(p.Binary) {
		l.reportAt(attributeRange(body, "plugin"), "Unusable plugin name", fmt.Sprintf("plugin = %q cannot be the NAME of a bothy-plugin-NAME; to run a file elsewhere, give its path.", p.Binary))
	}
	for _, g := range p.Grants {
		if !slices.Contains(sdk.Grants(), g) {
			l.reportAt(attributeRange(body, "grants"), "Unknown grant", fmt.Sprintf("There is no grant %q; there are %v.", g, sdk.Grants()))
		}
	}
	l.patterns(body, "tools", p.Tools)
	l.patterns(body, "models", p.Models)
	if answers := inner(body, "answers"); len(p.Answers.Tools) > 0 {
		l.patterns(answers, "tools", p.Answers.Tools)
		if !slices.Contains(p.Grants, sdk.GrantAnswers) {
			l.wrong(answers, "tools", "answers is what people may accept by a channel, and this one is not granted it: write \"answers\" into grants, or leave the block out.")
		}
	}
	l.taken(body, p)
	p.Digest = l.digest(p)
	*list = append(*list, p)
}

// taken checks which agents of a plugin are taken. Which it has is for the plugin to say.
func (l *loader) taken(body *hclsyntax.Body, p Plugin) {
	for _, name := range p.Agents {
		switch {
		case name == sdk.DefaultAgent:
			l.wrong(body, "agents", "agents holds %q, which is the agent of whoever names none: it stands in an agent block alone.", name)
		case !labelPattern.MatchString(name):
			l.wrong(body, "agents", "agents holds %q, which is no name of an agent: write each one that you take, such as \"reviewer\".", name)
		}
	}
	if l.patterns(body, "agent_tools", p.AgentTools); l.says(body, "agent_tools") && len(p.Agents) == 0 {
		l.wrong(body, "agent_tools", "agent_tools is of the agents that are taken, and agents names none: write agents = [\"NAME\"] beside it.")
	}
}

// patterns reports those that fit nothing because they are malformed.
func (l *loader) patterns(body *hclsyntax.Body, name string, patterns []string) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			l.wrong(body, name, "%s holds %q, which is no pattern: write a name, or one with stars such as \"read_*\".", name, p)
		}
	}
}

func (l *loader) model(b *block) {
	label, body := b.label, b.body
	m := Model{Alias: label, Name: label}
	apart, rest, _ := l.said(body, nil).PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: contextBlock}}})
	if !l.decode(rest, &m) {
		return
	}
	m.Use = l.contextUse("model "+label, apart.Blocks)
	if !labelled(l.cfg.Providers, m.Provider) {
		l.reportAt(attributeRange(body, "provider"), "Unknown provider", fmt.Sprintf("model %q names provider %q, and there is no such block; there are the providers %v.", label, m.Provider, l.labels("provider")))
	}
	l.bearable(body, m, m.Reasoning)
	l.notNegative(inner(body, "price"), "price: ", m.Price)
	for _, name := range m.Fallback {
		if name == label {
			l.wrong(body, "fallback", "model %q cannot fall back to itself.", label)
		} else {
			l.canBeModel(body, "fallback", fmt.Sprintf("model %q falls back to", label), name)
		}
	}
	for _, on := range m.FallbackOn {
		l.oneOf(body, "fallback_on", on, FallbackUnreachable)
	}
	l.cfg.Models = append(l.cfg.Models, m)
}

// canBeModel reports a name that nothing configured can be: that of a model block, of a
// provider, or provider/name. Which names a provider knows is its own business.
func (l *loader) canBeModel(body *hclsyntax.Body, attribute, what, name string) {
	provider, _, _ := strings.Cut(name, "/")
	if !slices.Contains(l.labels("model"), name) && !slices.Contains(l.labels("provider"), provider) {
		l.reportAt(attributeRange(body, attribute), "Unknown model", fmt.Sprintf("%s %q, which is neither a model block nor provider/name; there are the models %v and the providers %v.", what, name, l.labels("model"), l.labels("provider")))
	}
}

// FallbackUnreachable has a model on this machine give way to one elsewhere also when its
// server does not answer (fallback_on).
const FallbackUnreachable = "unreachable"

// bearable checks what models and agents say alike.
func (l *loader) bearable(body *hclsyntax.Body, block any, reasoning sdk.Reasoning) {
	l.notNegative(body, "", block)
	if l.says(body, "reasoning") {
		l.oneOf(body, "reasoning", string(reasoning), string(sdk.ReasoningOff), string(sdk.ReasoningLow), string(sdk.ReasoningMedium), string(sdk.ReasoningHigh))
	}
}

// notNegative checks all numbers of a block, or of a pointer to one that may be nil.
func (l *loader) notNegative(body *hclsyntax.Body, in string, block any) {
	v := reflect.Indirect(reflect.ValueOf(block))
	for i := 0; v.IsValid() && i < v.NumField(); i++ {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("hcl"), ",")
		x := reflect.Indirect(v.Field(i))
		if n := name != "" && (x.CanInt() || x.CanFloat()); n && !(number(x) >= 0 && number(x) <= math.MaxFloat32) {
			l.wrong(body, name, "%s%s is %g and cannot be negative.", in, name, number(x))
		}
	}
}

func (l *loader) oneOf(body *hclsyntax.Body, name, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		l.wrong(body, name, "%s is %q; it may be %v.", name, value, allowed)
	}
}
