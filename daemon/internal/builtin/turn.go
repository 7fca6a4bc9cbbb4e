package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Plugin is the plugin that own tools are said to be of: use_skill answers to
// bothy__use_skill too.
const Plugin = "bothy"

// UseSkill is the tool's name.
const UseSkill = "use_skill"

// Turn is the skills as one turn of a run has them, whatever changes meanwhile.
type Turn struct {
	skills    *Skills
	place     Place
	catalogue Catalogue
	listing   Listing
	tools     []sdk.Tool
}

func newTurn(s *Skills, p Place, c Catalogue) *Turn {
	t := &Turn{skills: s, place: p, catalogue: c, listing: c.List(p.Context, p.Loop.Prompt)}
	shown := t.listing.Shown
	if name, _, ok := typed(p.Loop.Prompt); ok && !slices.Contains(shown, name) {
		if _, found := c.Find(name); found { // which a person named, so the model may
			shown = append(slices.Clone(shown), name)
		}
	}
	if len(shown)+t.listing.Left > 0 {
		t.tools = []sdk.Tool{useSkill(shown)}
	}
	if t.askable() {
		t.tools = append(t.tools, openNetworkTool)
	}
	return t
}

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

// Tools are what the turn offers: use_skill, unless there is no skill for it, and
// open_network where commands run without one.
func (t *Turn) Tools() []sdk.Tool { return t.tools }

// System is what the system text says of the skills.
func (t *Turn) System() string { return t.listing.Text }

// Once reports whether a call starts a code skill, which is not done twice: by
// what the run has loaded, which it has before anything is executed, or else by
// the catalogue. Where that cannot be read it is taken for one.
func (t *Turn) Once(ctx context.Context, arguments json.RawMessage) bool {
	var a useArguments
	if json.Unmarshal(arguments, &a) != nil {
		return false // it is refused
	}
	have, err := t.skills.recall(ctx, t.place, a.Name)
	switch {
	case err == nil:
		return have.Plugin != ""
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return true
	}
	found, _ := t.catalogue.Find(a.Name)
	return found.Plugin != ""
}

type useArguments struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

func (a *useArguments) read(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(a); err != nil {
		return sdk.Errorf(sdk.Validation, "the arguments of %s must be an object with \"name\" and, if it is needed, \"input\", both text: %w", UseSkill, err)
	}
	if strings.TrimSpace(a.Name) == "" {
		return sdk.Errorf(sdk.Validation, "%s needs the name of a skill", UseSkill)
	}
	return nil
}

// Invoke opens the network, or loads a skill and executes it when it is a code
// skill.
func (t *Turn) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	if call.Tool == OpenNetwork {
		return t.open(ctx, call)
	}
	var a useArguments
	if err := a.read(call.Arguments); err != nil {
		return sdk.Failed(err), nil
	}
	got, err := t.skills.resolve(ctx, t.place, t.catalogue, a.Name)
	if err == nil {
		err = t.admit(got)
	}
	if err != nil {
		return sdk.Failed(err), nil
	}
	p := t.place
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
func (t *Turn) admit(s resolved) error {
	if s.PeopleOnly && t.place.Loop.ID != 0 {
		if name, _, ok := typed(t.place.Loop.Prompt); !ok || name != s.Name {
			return sdk.Errorf(sdk.Permission, "the skill %s is for people only (disable-model-invocation): a person uses it with a prompt that begins with /%s", s.Name, s.Name)
		}
	}
	return t.skills.equipped(s.Skill, t.place.Tools)
}

// equipped refuses a skill whose tools are not all there.
func (s *Skills) equipped(x Skill, tools []sdk.Tool) error {
	missing := s.cfg.Missing(x.ToolsRequired, append(tools[:len(tools):len(tools)], useSkill(nil)))
	if len(missing) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "the skill %s needs tools that are not offered here (tools_required): %s. `bothy tools list` shows what there is; work without the skill, or have the plugin that brings them configured", x.Name, strings.Join(missing, ", "))
}
