package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Explain implements server.Skills. It resolves the model as a run would, for
// the model decides how much room there is.
func (a *Answers) Explain(ctx context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	cfg := a.cfg.Current()
	agent, err := a.cfg.Agent(p.Project, cmp.Or(p.Agent, "default"))
	if err != nil {
		return rpc.SkillExplain{}, err
	}
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillExplain{}, err
	}
	r := reasons{name: p.Name, catalogue: c, settings: cfg.Skills, plugins: cfg.Plugins, agent: agent, tools: a.cfg.Tools(), prompt: p.Prompt}
	if r.model, r.noModel = a.cfg.Models.Look(ctx, cmp.Or(p.Model, agent.Model), p.Model == ""); r.noModel != nil && p.Model != "" {
		return rpc.SkillExplain{}, r.noModel
	}
	return r.explain(), nil
}

// reasons is all that decides whether a skill is in a prompt.
type reasons struct {
	name      string
	catalogue *skill.Catalogue
	settings  config.Skills
	plugins   []config.Plugin // the blocks that code skills are executed by
	agent     sdk.Agent
	tools     []sdk.Tool // all that there are; the agent may have fewer
	model     sdk.ModelChoice
	noModel   error // why there is none
	prompt    string

	said []string
}

func (r *reasons) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// explain says whether the skill is in the prompt, the decisive reason first.
func (r *reasons) explain() rpc.SkillExplain {
	named := r.catalogue.Named(r.name)
	x := rpc.SkillExplain{Name: r.name, Found: len(named) > 0}
	if !x.Found {
		meant := ""
		if similar := r.catalogue.Similar(r.name); len(similar) > 0 {
			meant = " Did you mean " + strings.Join(similar, " or ") + "?"
		}
		r.say("There is no skill %q.%s", r.name, meant)
		r.say("A skill is a folder with a SKILL.md in one of the folders that `bothy skills paths` lists; `bothy skills list -a` shows all that were found.")
		x.Reasons = r.said
		return x
	}
	d, ok := r.catalogue.Find(r.name)
	if ok {
		r.usable(d, &x)
	} else {
		d = decisive(named)
		r.unusable(d)
	}
	r.say("It comes from the %s tier: %s", d.Tier, d.Path)
	for _, o := range named {
		switch {
		case o == d:
		case o.Status == sdk.SkillShadowed:
			r.say("It hides the skill of the %s tier at %s.", o.Tier, o.Path)
		case o.Status == sdk.SkillUntrusted:
			r.say("The skill of that name at %s came with the project and hides nothing until `bothy trust`.", o.Path)
		default:
			r.say("The skill of that name at %s is %s. %s", o.Path, o.Status, sentence(o.Reason))
		}
	}
	x.Reasons = r.said
	return x
}

// decisive is the document of a name that tells why none of them can be used:
// the first that is not merely hidden: a disabled one turns the name off.
func decisive(named []*skill.Document) *skill.Document {
	for _, status := range []sdk.SkillStatus{sdk.SkillDisabled, sdk.SkillUntrusted, sdk.SkillBroken} {
		for _, d := range named {
			if d.Status == status {
				return d
			}
		}
	}
	return named[0]
}

// unusable says why a skill cannot be used, and what to do.
func (r *reasons) unusable(d *skill.Document) {
	on := r.settings.Switched(r.name)
	switch {
	case d.Status == sdk.SkillDisabled && on != nil && !*on:
		r.say("It is disabled by the skill block at %s; `bothy skills enable %s` turns it on.", r.settings.Blocks[r.name].Place, r.name)
	case d.Status == sdk.SkillDisabled:
		r.say("It is disabled by `enabled` in its own SKILL.md; `bothy skills enable %s` goes before that.", r.name)
	case d.Status == sdk.SkillBroken:
		r.say("It cannot be read: %s", mistake(d))
	default:
		r.say("%s", sentence(d.Reason))
	}
}

// sentence makes one of a reason.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(reason[size:], ".") + "."
}

// mistake is the first error of a document, with its place.
func mistake(d *skill.Document) string {
	i := slices.IndexFunc(d.Diagnostics, func(x sdk.FileDiagnostic) bool { return x.Severity == "error" })
	if i < 0 {
		return strings.TrimSuffix(d.Path+": "+d.Reason, ": ")
	}
	x := d.Diagnostics[i]
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d: %s. %s", d.Path, max(x.Line, 1), max(x.Column, 1), strings.TrimSuffix(x.Message, "."), x.Help))
}

// usable says whether a skill that can be used is in the prompt of the agent.
func (r *reasons) usable(d *skill.Document, x *rpc.SkillExplain) {
	use := sdk.Tool{Plugin: "bothy", ToolSpec: sdk.ToolSpec{Name: "use_skill"}}
	switch {
	case d.PeopleOnly:
		r.say("Only people may use it (disable-model-invocation in its SKILL.md): `bothy run '/%s ...'`. Models are not told of it.", r.name)
	case r.agent.Skills != nil && !slices.Contains(r.agent.Skills, r.name):
		r.say("Agent %q may use only the skills that its block names (skills = [%s]), and is told of no others.", r.agent.Name, strings.Join(r.agent.Skills, ", "))
	case !r.agent.Admits(use):
		r.say("Agent %q may not use the tool use_skill (its tools are %s), so it is told of no skills; add \"use_skill\" to tools in its agent block.", r.agent.Name, strings.Join(r.agent.Tools, ", "))
	case r.model.Tools != nil && !*r.model.Tools && r.agent.Dialect != sdk.DialectTags:
		r.say("The model %s cannot call tools, so it is told of no skills; choose another one (`bothy models` lists them).", r.model.Alias)
	default:
		r.listed(x)
	}
	tools := slices.DeleteFunc(append(slices.Clone(r.tools), use), func(t sdk.Tool) bool { return !r.agent.Admits(t) })
	if missing := misnamed.Missing(d.ToolsRequired, tools); len(missing) > 0 { // a name of another agent's stands for our tools that do its work
		r.say("It needs tools that agent %q does not have (tools_required): %s; use_skill refuses it until they are there.", r.agent.Name, strings.Join(missing, ", "))
	}
	if d.Stale {
		r.say("Its file is broken now, and the last good version goes on: %s", mistake(d))
	}
	if d.Plugin == "" {
		return
	}
	i := slices.IndexFunc(r.plugins, func(b config.Plugin) bool { return b.Label == d.Plugin })
	switch {
	case i < 0:
		r.say("It is a code skill, and the configuration has no plugin %q that would execute it: use_skill fails until there is such a block.", d.Plugin)
	case !r.plugins[i].Enabled:
		r.say("It is a code skill, and the plugin %s that would execute it is switched off: take enabled = false out of its block.", d.Plugin)
	default:
		r.say("It is a code skill: the plugin %s executes it.", d.Plugin)
	}
}

// listed says where the skill stands in the list, and how much room that has.
func (r *reasons) listed(x *rpc.SkillExplain) {
	budget := skill.Budget(r.settings.Budget, r.model.Context)
	l := skill.List(r.catalogue, budget, r.prompt)
	p, ok := l.Place(r.name)
	if !ok {
		return // usable, and not for people only: it has one
	}
	x.InPrompt, x.Shown = p.Shown, p.Line
	how := "by how well it fits the prompt"
	if r.prompt == "" {
		how = "without a prompt (--prompt says which one is meant)"
	}
	switch {
	case p.Shown && p.To == p.From:
		r.say("It is in the prompt of agent %q, with its whole description.", r.agent.Name)
	case p.Shown && p.To == 0:
		r.say("It is in the prompt of agent %q by its name only: there is no room for descriptions.", r.agent.Name)
	case p.Shown:
		r.say("It is in the prompt of agent %q, its description shortened from %d to %d characters.", r.agent.Name, p.From, p.To)
	default:
		r.say("There is no room for it in the prompt of agent %q: %d of %d names are listed, and it ranks %d of %d %s. use_skill takes its name all the same.",
			r.agent.Name, len(l.Shown), p.Of, p.Rank, p.Of, how)
	}
	r.room(budget, l)
}

// room is the arithmetic of the budget.
func (r *reasons) room(budget int, l skill.Listing) {
	of := fmt.Sprintf("the %d tokens of %s", r.model.Context, r.model.Alias)
	switch {
	case r.noModel != nil:
		why, _, _ := strings.Cut(r.noModel.Error(), "\n")
		of = fmt.Sprintf("%d tokens, which are assumed because there is no model (%s)", skill.UnknownContext, strings.TrimSuffix(why, "."))
	case r.model.Context <= 0:
		of = fmt.Sprintf("%d tokens, which are assumed because %s does not say how many it takes", skill.UnknownContext, r.model.Alias)
	}
	r.say("The list may take %g percent (skills.budget) of %s, that is %d characters, and takes %d for %d of %d skills.",
		r.settings.Budget, of, budget, utf8.RuneCountInString(l.Text), len(l.Shown), len(l.Shown)+len(l.Left))
}
