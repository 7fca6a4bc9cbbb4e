package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/bothyd/bothy/sdk"
)

func sortBy[T any, K cmp.Ordered](list []T, key func(T) K) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// pluginBlock is the part of a plugin or provider block that is the host's.
type pluginBlock struct {
	Plugin   *string           `hcl:"plugin"`
	Path     *string           `hcl:"path"`
	Args     []string          `hcl:"args,optional"`
	Env      map[string]string `hcl:"env,optional"`
	Grants   []string          `hcl:"grants,optional"`
	Tools    []string          `hcl:"tools,optional"`
	Schemes  []string          `hcl:"schemes,optional"`
	Models   []string          `hcl:"models,optional"`
	Secrets  []string          `hcl:"secrets,optional"`
	SHA256   *string           `hcl:"sha256"`
	Enabled  *bool             `hcl:"enabled"`
	OnUse    *bool             `hcl:"on_use"`
	Model    *string           `hcl:"model"`
	Requires []string          `hcl:"requires,optional"`
	Projects []string          `hcl:"projects,optional"`
	Limits   []limitsBlock     `hcl:"limits,block"`
	Quota    []quotaBlock      `hcl:"quota,block"`
	Confine  []confineBlock    `hcl:"confine,block"`
	Price    []priceBlock      `hcl:"price,block"`
	Rest     hcl.Body          `hcl:",remain"`
}

// PluginAttributes are the names of what the host reads of such a block.
func PluginAttributes() []string {
	var names []string
	shape, _ := gohcl.ImpliedBodySchema(pluginBlock{})
	for _, a := range shape.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range shape.Blocks {
		names = append(names, b.Type)
	}
	return names
}

type modelBlock struct {
	Provider    string   `hcl:"provider"`
	Name        *string  `hcl:"name"`
	Context     *int     `hcl:"context"`
	Temperature *float64 `hcl:"temperature"`
	MaxTokens   *int     `hcl:"max_tokens"`
	Reasoning   *string  `hcl:"reasoning"`

	Fallback   []string `hcl:"fallback,optional"`
	FallbackOn []string `hcl:"fallback_on,optional"`

	Price []priceBlock `hcl:"price,block"`
}

type agentBlock struct {
	Model       *string  `hcl:"model"`
	Persona     *string  `hcl:"persona"`
	Tools       []string `hcl:"tools,optional"`
	Dialect     *string  `hcl:"dialect"`
	View        *string  `hcl:"view"`
	Temperature *float64 `hcl:"temperature"`
	MaxTokens   *int     `hcl:"max_tokens"`
	Reasoning   *string  `hcl:"reasoning"`
	Busy        *string  `hcl:"busy"`
	Mode        *string  `hcl:"mode"`
	WithoutView *string  `hcl:"without_view"`
	Rest        hcl.Body `hcl:",remain"` // the guards
}

// decodeLabelled decodes the blocks that all files together made.
func (l *loader) decodeLabelled() {
	l.each("plugin", func(label string, body hcl.Body, r hcl.Range) {
		if p, ok := l.plugin(label, body, r); ok {
			l.cfg.Plugins = append(l.cfg.Plugins, p)
		}
	})
	l.each("provider", func(label string, body hcl.Body, r hcl.Range) {
		if p, ok := l.plugin(label, body, r); ok {
			l.cfg.Providers = append(l.cfg.Providers, p)
		}
	})
	l.each("model", l.model)
	l.each("agent", l.agent)
	l.each("skill", l.skill)
	l.each("rule", l.rule)
	for _, b := range l.workspaces {
		l.workspace(b, "")
	}
}

func (l *loader) each(block string, do func(string, hcl.Body, hcl.Range)) {
	set := l.labelled[block]
	if set == nil {
		return
	}
	for _, label := range set.labels {
		do(label, set.bodies[label], set.ranges[label])
	}
}

// decode takes a block apart, and reports false when that has a mistake.
func (l *loader) decode(body hcl.Body, block any) bool {
	diags := gohcl.DecodeBody(body, l.cfg.Context, block)
	l.report(diags)
	return !diags.HasErrors()
}

func (l *loader) plugin(label string, body hcl.Body, r hcl.Range) (Plugin, bool) {
	var b pluginBlock
	if !l.decode(body, &b) {
		return Plugin{}, false
	}
	p := Plugin{
		Label: label, Binary: or(b.Plugin, label), Path: l.path(or(b.Path, "")), Args: b.Args, Env: b.Env,
		Grants: b.Grants, Tools: b.Tools, Models: b.Models, Secrets: b.Secrets, SHA256: or(b.SHA256, ""), Enabled: or(b.Enabled, true), OnUse: or(b.OnUse, false),
		Model: or(b.Model, ""), Body: b.Rest, Range: r,
		Schemes: b.Schemes, Requires: b.Requires, Projects: b.Projects,
	}
	l.bounds(&p, &b)
	p.Price = l.price(r, b.Price)
	if !labelPattern.MatchString(p.Binary) {
		l.reportAt(r, "Unusable plugin name", fmt.Sprintf("plugin = %q cannot be the NAME of a bothy-plugin-NAME; to run a file elsewhere, give its path.", p.Binary))
		return Plugin{}, false
	}
	for _, g := range p.Grants {
		if !slices.Contains(knownGrants, g) {
			l.reportAt(r, "Unknown grant", fmt.Sprintf("There is no grant %q; there are %v.", g, knownGrants))
		}
	}
	l.patterns(r, "tools", p.Tools)
	l.patterns(r, "models", p.Models)
	p.Digest = l.digest(p)
	return p, true
}

// patterns reports those that fit nothing because they are malformed.
func (l *loader) patterns(r hcl.Range, name string, patterns []string) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			l.reportAt(r, "Wrong value", fmt.Sprintf("%s holds %q, which is no pattern: write a name, or one with stars such as \"read_*\".", name, p))
		}
	}
}

var knownGrants = []string{sdk.GrantSandbox, sdk.GrantProject, sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantSecrets, sdk.GrantChannel}

func (l *loader) model(label string, body hcl.Body, r hcl.Range) {
	var b modelBlock
	if !l.decode(body, &b) {
		return
	}
	if !slices.ContainsFunc(l.cfg.Providers, func(p Plugin) bool { return p.Label == b.Provider }) {
		l.reportAt(r, "Unknown provider", fmt.Sprintf("model %q names provider %q, and there is no such block; there are the providers %v.", label, b.Provider, l.labels("provider")))
		return
	}
	l.notNegative(r, "context", b.Context)
	l.notNegative(r, "max_tokens", b.MaxTokens)
	l.notCold(r, b.Temperature)
	for _, name := range b.Fallback {
		switch {
		case name == label:
			l.reportAt(attributeRange(body, "fallback"), "Wrong value", fmt.Sprintf("model %q cannot fall back to itself.", label))
		case !l.isModel(name):
			l.reportAt(attributeRange(body, "fallback"), "Unknown model", fmt.Sprintf("model %q falls back to %q, which is neither a model block nor provider/name; there are the models %v and the providers %v.", label, name, l.labels("model"), l.labels("provider")))
		}
	}
	for _, on := range b.FallbackOn {
		l.oneOf(attributeRange(body, "fallback_on"), "fallback_on", on, FallbackUnreachable)
	}
	l.cfg.Models = append(l.cfg.Models, Model{
		Alias: label, Provider: b.Provider, Name: or(b.Name, label), Context: or(b.Context, 0),
		Temperature: b.Temperature, MaxTokens: or(b.MaxTokens, 0), Reasoning: l.reasoning(r, b.Reasoning), Price: l.price(r, b.Price), Range: r,
		Fallback: b.Fallback, FallbackOn: b.FallbackOn,
	})
}

func (l *loader) agent(label string, body hcl.Body, r hcl.Range) {
	var b agentBlock
	content, diags := body.Content(agentSchema())
	l.report(diags)
	if !l.decode(body, &b) || diags.HasErrors() {
		return
	}
	without := l.withoutView(label, b.WithoutView, body)
	a := sdk.Agent{
		Name: label, WithoutView: without, Model: or(b.Model, ""), Persona: or(b.Persona, ""), Tools: b.Tools,
		Dialect: or(b.Dialect, "tools"), View: or(b.View, "transcript"),
		Temperature: b.Temperature, MaxTokens: or(b.MaxTokens, 0), Reasoning: l.reasoning(r, b.Reasoning), Busy: or(b.Busy, "queue"),
		Guards: l.ownGuards(label, content.Attributes), Mode: l.agentMode(label, b.Mode, body, without),
	}
	l.notNegative(r, "max_tokens", b.MaxTokens)
	l.notCold(r, b.Temperature)
	l.oneOf(r, "dialect", a.Dialect, "tools")
	l.oneOf(r, "view", a.View, "transcript")
	l.oneOf(r, "busy", a.Busy, "queue", "refuse")
	l.canBeModel(a, body)
	l.cfg.Agents[label] = a
}

// agentSchema is what an agent's block may hold.
func agentSchema() *hcl.BodySchema {
	schema := schemaOf(agentBlock{})
	for _, f := range guardFields {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: attributeName(f)})
	}
	return schema
}

// canBeModel reports an agent's model that nothing configured can be: it is a
// model block, a provider, or provider/name. Which names a provider knows is its
// own business.
func (l *loader) canBeModel(a sdk.Agent, body hcl.Body) {
	if a.Model == "" || l.isModel(a.Model) {
		return
	}
	l.reportAt(attributeRange(body, "model"), "Unknown model", fmt.Sprintf("agent %q names %q, which is neither a model block nor provider/name; there are the models %v and the providers %v.", a.Name, a.Model, l.labels("model"), l.labels("provider")))
}

// isModel reports whether a name can be that of a model.
func (l *loader) isModel(name string) bool {
	provider, _, _ := strings.Cut(name, "/")
	return slices.Contains(l.labels("model"), name) || slices.Contains(l.labels("provider"), provider)
}

// FallbackUnreachable has a model on this machine give way to one elsewhere also when its
// server does not answer (fallback_on).
const FallbackUnreachable = "unreachable"

// labels are the blocks of a type that were written, also with a mistake inside.
func (l *loader) labels(block string) []string {
	if set := l.labelled[block]; set != nil {
		return set.labels
	}
	return nil
}

func (l *loader) notNegative(r hcl.Range, name string, n *int) {
	if n != nil && *n < 0 {
		l.reportAt(r, "Wrong value", fmt.Sprintf("%s is %d and cannot be negative.", name, *n))
	}
}

// reasoning is how much is thought where a block says so.
func (l *loader) reasoning(r hcl.Range, level *string) sdk.Reasoning {
	if level == nil {
		return ""
	}
	l.oneOf(r, "reasoning", *level, string(sdk.ReasoningOff), string(sdk.ReasoningLow), string(sdk.ReasoningMedium), string(sdk.ReasoningHigh))
	return sdk.Reasoning(*level)
}

func (l *loader) notCold(r hcl.Range, temperature *float64) {
	if temperature != nil && *temperature < 0 {
		l.reportAt(r, "Wrong value", fmt.Sprintf("temperature is %g and cannot be negative.", *temperature))
	}
}

func (l *loader) oneOf(r hcl.Range, name, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		l.reportAt(r, "Wrong value", fmt.Sprintf("%s is %q; it may be %v.", name, value, allowed))
	}
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
