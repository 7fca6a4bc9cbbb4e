package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/sdk"
)

// Origin is where an agent of the configuration stands.
type Origin struct {
	Bundled bool   // only the default configuration has its block
	Place   string // file:line
	// Attributes are the places of what holds for it, by attribute: file:line, or what else says it. What it
	// inherits is where the other block has it.
	Attributes map[string]string
}

// agentSchema is what of an agent's block is not decoded into its fields.
var agentSchema = hcl.BodySchema{Attributes: guardSchema.Attributes, Blocks: []hcl.BlockHeaderSchema{{Type: "finish"}, {Type: contextBlock}}}

// inheriting is what an agent's block says of another one.
type inheriting struct {
	Inherits string   `hcl:"inherits,optional"`
	Rest     hcl.Body `hcl:",remain"`
}

// finishBlock is what an agent must hand back.
type finishBlock struct {
	Schema    cty.Value `hcl:"schema"` // an object, or a text that is the JSON of one
	Prove     []string  `hcl:"prove,optional"`
	Validator string    `hcl:"validator,optional"`
}

func (l *loader) agent(b *block) { l.heir(b, nil) }

// heir decodes an agent block that those of heirs inherit from, after the one that it inherits from itself. It
// reports false where one of them has a mistake, which is told once, at its own place.
func (l *loader) heir(b *block, heirs []string) bool {
	sound, done := l.sound[b.label]
	if !done {
		before := len(l.diags)
		sound = l.inherit(b, append(slices.Clip(heirs), b.label))
		if sound {
			l.profile(b)
		}
		sound = sound && !l.diags[before:].HasErrors()
		l.sound[b.label] = sound
	}
	return sound
}

// inherit puts a block over the one that it inherits from, if it names any.
func (l *loader) inherit(b *block, heirs []string) bool {
	var says inheriting
	if !l.decode(b.body, &says) {
		return false
	}
	body := b.body
	if says.Inherits != "" || l.says(body, "inherits") {
		blocks := l.kept["agent"]
		i := slices.IndexFunc(blocks, func(other *block) bool { return other.label == says.Inherits })
		switch {
		case i < 0:
			l.wrong(body, "inherits", "agent %q inherits from %q, and there is no such agent block; there are %v.", b.label, says.Inherits, l.labels("agent"))
			return false
		case slices.Contains(heirs, says.Inherits):
			l.wrong(body, "inherits", "agent %q inherits from itself: %s.", b.label, strings.Join(append(heirs, says.Inherits), " from "))
			return false
		case !l.heir(blocks[i], heirs):
			return false
		}
		body = over(body, blocks[i].body)
	}
	own := *body
	own.Attributes = maps.Clone(body.Attributes)
	delete(own.Attributes, "inherits")
	b.body = &own
	return true
}

// profile decodes an agent block that has what it inherits.
func (l *loader) profile(b *block) {
	label, body := b.label, b.body
	apart, rest, _ := l.said(body, nil).PartialContent(&agentSchema) // what is not of it is decoded below
	a := sdk.Agent{Name: label, Dialect: sdk.DialectTools, View: sdk.ViewTranscript, Busy: "queue"}
	if !l.decode(rest, &a) {
		return
	}
	a.Guards = l.agentGuards(label, a.Dialect, apart.Attributes, b.at)
	a.Mode = l.agentMode(a, body)
	l.bearable(body, a, a.Reasoning)
	l.oneOf(body, "dialect", a.Dialect, sdk.DialectTools, sdk.DialectTags)
	l.oneOf(body, "view", a.View, sdk.ViewTranscript, sdk.ViewPacket)
	l.oneOf(body, "busy", a.Busy, "queue", "refuse")
	if a.Model != "" {
		l.canBeModel(body, "model", fmt.Sprintf("agent %q names", label), a.Model)
	}
	for _, word := range a.Capabilities {
		if strings.TrimSpace(word) == "" {
			l.wrong(body, "capabilities", "capabilities of agent %q holds an empty text; write words for what it is good at.", label)
		}
	}
	for i, name := range a.Skills {
		if why := SkillNameMistake(name); why != "" {
			l.wrong(body, "skills", "skills of agent %q holds %q. %s", label, name, why)
		}
		a.Skills[i] = norm.NFC.String(name)
	}
	l.delegates(body, a)
	finish, use := apart.Blocks.ByType()["finish"], apart.Blocks.ByType()[contextBlock]
	a.Finish, a.Context = l.finish(label, body, finish), l.contextUse("agent "+label, use)
	l.cfg.Agents[label], l.cfg.Origins[label] = a, l.origin(b, a.Dialect)
}

// delegates checks the names of those that an agent may delegate to.
func (l *loader) delegates(body *hclsyntax.Body, a sdk.Agent) {
	known := append(l.knownAgents(), l.labels("team")...)
	for _, name := range a.Agents {
		if !slices.Contains(known, name) {
			l.reportAt(attributeRange(body, "agents"), "Unknown agent", fmt.Sprintf("agent %q may delegate to %q, and there is no such agent; there are %v.", a.Name, name, known))
		}
	}
}

// knownAgents are the names of all agents: those of blocks, of plugins and of files of the user's.
func (l *loader) knownAgents() []string {
	known := l.labels("agent")
	for _, p := range slices.Concat(l.cfg.Plugins, l.cfg.Providers) {
		known = append(known, p.Agents...) // those that it brings, which it may not have
	}
	if l.src.Agents != nil {
		known = append(known, l.src.Agents(l.cfg)...)
	}
	return known
}

// finish reads what an agent must hand back; nil is an agent whose plain answer ends the work.
func (l *loader) finish(label string, body *hclsyntax.Body, blocks hcl.Blocks) *sdk.FinishSpec {
	if len(blocks) == 0 {
		return nil
	}
	if len(blocks) > 1 {
		l.reportAt(blocks[1].DefRange, "Block given twice", fmt.Sprintf("Agent %q has one finish block; put both into one.", label))
		return nil
	}
	var says finishBlock
	body = inner(body, "finish")
	if !l.decode(blocks[0].Body, &says) {
		return nil
	}
	out := &sdk.FinishSpec{Prove: says.Prove, Validator: says.Validator}
	for _, proof := range says.Prove {
		l.oneOf(body, "prove", proof, sdk.Proofs()...)
	}
	if says.Validator != "" && !slices.Contains(l.labels("plugin"), says.Validator) {
		l.reportAt(attributeRange(body, "validator"), "Unknown plugin", fmt.Sprintf("The result of agent %q is judged by the plugin %q, and there is no such block; there are the plugins %v.", label, says.Validator, l.labels("plugin")))
	}
	var err error
	if out.Schema, err = jsonOf(says.Schema); err == nil {
		known := *out
		known.Prove = slices.DeleteFunc(slices.Clone(out.Prove), func(proof string) bool { return !slices.Contains(sdk.Proofs(), proof) })
		err = finish.Check(known)
	}
	if err != nil {
		l.wrong(body, "schema", "schema of the finish block of agent %q: %s. Write a JSON Schema of an object, such as { type = \"object\", properties = { summary = { type = \"string\" } }, required = [\"summary\"] }.", label, err)
	}
	return out
}

// jsonOf is a value as JSON; a text is taken for JSON.
func jsonOf(v cty.Value) (json.RawMessage, error) {
	if v.Type() != cty.String {
		return ctyjson.Marshal(v, v.Type())
	}
	var text bytes.Buffer
	if err := json.Compact(&text, []byte(v.AsString())); err != nil {
		return nil, fmt.Errorf("its text is no JSON: %w", err)
	}
	return text.Bytes(), nil
}

// origin is where an agent's block and what holds for the agent stands.
func (l *loader) origin(b *block, dialect string) Origin {
	o := Origin{Bundled: b.at.Filename == l.src.DefaultsName, Place: placeOf(b.at), Attributes: map[string]string{}}
	for i, v := range l.cfg.Values {
		if name, is := strings.CutPrefix(v.Key, "guard."); is {
			if o.Attributes[name] = v.Source; v.unsaid && settings[i].in(dialect) != "" {
				o.Attributes[name] = "default of " + dialect
			}
		} else if v.Key == "policy.mode" {
			o.Attributes["mode"] = v.Source
		}
	}
	said := l.said(b.body, nil)
	for name, a := range said.Attributes {
		o.Attributes[name] = placeOf(a.NameRange)
	}
	for _, inside := range said.Blocks {
		o.Attributes[inside.Type] = placeOf(inside.DefRange())
	}
	return o
}
