package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// UseSkill is the tool's name.
const UseSkill = "use_skill"

// useSkillTool is use_skill.
type useSkillTool struct{ skills *skills }

// useSkillTurn is use_skill with the skills as one turn has them.
type useSkillTurn struct {
	skills *skills
	turn   sdk.TurnContext
	*listed
}

// listed is what a model is told of a catalogue: most turns have the one of the turn
// before.
type listed struct {
	whole     *skill.Catalogue
	only      []string // of its names, that the agent may use; nil is all
	catalogue *skill.Catalogue
	budget    int
	prompt    string
	found     skill.Listing
	spec      sdk.Tool
	none      bool // no skill is for models, and none was asked for
}

// take implements tool. Without a skill for it the tool is not offered, nor beside skill.
func (u useSkillTool) take(ctx context.Context, t sdk.TurnContext) (turnTool, error) {
	if hasSkillTool(t) {
		return nil, nil
	}
	taken, err := u.turn(ctx, t)
	if err != nil || taken.none {
		return nil, err
	}
	return taken, nil
}

// turn is the tool with the skills as they are now.
func (u useSkillTool) turn(ctx context.Context, t sdk.TurnContext) (*useSkillTurn, error) {
	c, err := u.skills.cfg.Catalogue(ctx, t.Project)
	if err != nil {
		return nil, err
	}
	budget := skill.Budget(u.skills.cfg.Budget(), t.Context)
	l := u.skills.listed.Load()
	if l == nil || l.whole != c || (l.only == nil) != (t.Skills == nil) || !slices.Equal(l.only, t.Skills) || l.budget != budget || l.prompt != t.Loop.Prompt {
		l = list(c.Only(t.Skills), budget, t.Loop.Prompt)
		l.whole, l.only = c, t.Skills
		u.skills.listed.Store(l)
	}
	return &useSkillTurn{u.skills, t, l}, nil
}

func list(c *skill.Catalogue, budget int, prompt string) *listed {
	found := skill.List(c, budget, prompt)
	shown := found.Shown
	if name, _, ok := typed(prompt); ok && !slices.Contains(shown, name) {
		if _, found := c.Find(name); found { // which a person named, so the model may
			shown = append(slices.Clone(shown), name)
		}
	}
	return &listed{
		catalogue: c, budget: budget, prompt: prompt, found: found, spec: useSkill(shown), none: len(shown)+len(found.Left) == 0,
	}
}

func (t *useSkillTurn) tool() sdk.Tool { return t.spec }
func (t *useSkillTurn) system() string { return t.found.Text }

// useSkill is the tool. Its enum has the names that the model is shown; a name
// that found no room there is taken as well.
func useSkill(shown []string) sdk.Tool {
	name := map[string]any{"type": "string", "description": "the skill's name"}
	if len(shown) > 0 {
		name["enum"] = shown
	}
	parameters, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"name":  name,
			"input": map[string]any{"type": "string", "description": "what the skill is to work on, as its text asks for it; left out when it asks for nothing"},
		},
		"required":             []string{"name"},
		"additionalProperties": false,
	})
	if err != nil {
		parameters = json.RawMessage(`{"type":"object"}`) // these always marshal
	}
	return sdk.Tool{
		ToolSpec: sdk.ToolSpec{
			Name: UseSkill, Parameters: parameters,
			Description: "Loads a skill: instructions for a kind of task, and the files that they speak of. Use it before you begin a task that a skill is made for, then follow its text. Its files are in the folder that the result names, read-only: read them by that path, and run its scripts there with bash.",
			Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true},
		},
		Plugin: Plugin, Pinned: true,
	}
}

// once reports whether a call starts a code skill, which is not done twice: by
// what the run has loaded, which it has before anything is executed, or else by
// the catalogue. Where that cannot be read it is taken for one.
func (t *useSkillTurn) once(ctx context.Context, arguments json.RawMessage) bool {
	var a useArguments
	if json.Unmarshal(arguments, &a) != nil {
		return false // it is refused
	}
	have, err := t.skills.findLoaded(ctx, t.turn, a.Name)
	switch {
	case err == nil:
		return have.Plugin != ""
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return true
	}
	found, ok := t.catalogue.Find(a.Name)
	return ok && found.Plugin != ""
}

type useArguments struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

func (a *useArguments) read(raw json.RawMessage) error {
	if err := sdk.ReadJSON(raw, a); err != nil {
		return sdk.Errorf(sdk.Validation, "the arguments of %s must be an object with \"name\" and, if it is needed, \"input\", both text: %w", UseSkill, err)
	}
	if strings.TrimSpace(a.Name) == "" {
		return sdk.Errorf(sdk.Validation, "%s needs the name of a skill", UseSkill)
	}
	return nil
}

// invoke loads a skill, and executes it when it is a code skill.
func (t *useSkillTurn) invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	var a useArguments
	if err := a.read(call.Arguments); err != nil {
		return sdk.Failed(err), nil
	}
	if err := others(t.turn, a.Name); err != nil {
		return sdk.Failed(err), nil
	}
	got, err := t.skills.resolve(ctx, t.turn, t.catalogue, a.Name)
	if err == nil {
		err = t.admit(got)
	}
	if err != nil {
		return sdk.Failed(err), nil
	}
	p := t.turn
	p.RunDir = call.RunDir
	have, err := t.skills.load(ctx, p, got)
	if err != nil {
		return sdk.Failed(err), nil
	}
	if have.Plugin == "" {
		text, err := have.content(a.Input)
		if err != nil {
			return sdk.Failed(err), nil
		}
		return sdk.ToolResult{Success: true, Output: text, Metadata: have.metadata()}, nil
	}
	r, err := t.skills.cfg.Execute(ctx, have.Plugin, sdk.SkillCall{
		Skill: have.Name, Input: a.Input, Body: have.Body, Folder: have.pinned.Folder, Model: p.Model, CallID: call.CallID,
		Run: call.Run, Project: call.Project, RunDir: call.RunDir, Deadline: call.Deadline,
	}, out)
	delete(r.Metadata, metadataSkill) // what a plugin says is no skill's text, whatever it calls it
	return r, err
}

// admit refuses a skill that this turn may not use.
func (t *useSkillTurn) admit(s resolved) error {
	if s.PeopleOnly && t.turn.Loop.ID != 0 {
		if name, _, ok := typed(t.turn.Loop.Prompt); !ok || name != s.Name {
			return sdk.Errorf(sdk.Permission, "the skill %s is for people only (disable-model-invocation): a person uses it with a prompt that begins with /%s", s.Name, s.Name)
		}
	}
	return equipped(s.SkillDocument, t.turn)
}

// others refuses a skill that the agent's block does not name, whatever the run has loaded with another agent.
func others(t sdk.TurnContext, name string) error {
	if t.HasSkill(name) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "the agent %s may not use the skill %s; it has: %s", t.Loop.Agent, name, cmp.Or(strings.Join(t.Skills, ", "), "none"))
}

// equipped refuses a skill whose tools are not all there.
func equipped(d sdk.SkillDocument, t sdk.TurnContext) error {
	tools := append(t.Tools[:len(t.Tools):len(t.Tools)], useSkill(nil))
	if hasSkillTool(t) {
		has := slices.DeleteFunc(sdk.ModelTools(), func(name string) bool {
			return !t.Admits(sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: Plugin, Pinned: true, Named: true})
		})
		for _, name := range sdk.StoodFor(has) {
			tools = append(tools, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}})
		}
	}
	missing := misnamed.Missing(d.ToolsRequired, tools)
	if len(missing) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "the skill %s needs tools that are not offered here (tools_required): %s. `bothy tools list` shows what there is; work without the skill, or have the plugin that brings them configured", d.Name, strings.Join(missing, ", "))
}
