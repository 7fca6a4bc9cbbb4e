package builtin

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

var skillSpec = sdk.Tool{
	ToolSpec: sdk.ToolSpec{
		Name:        sdk.ToolSkill,
		Description: "Loads a skill: instructions for a kind of task, and the files that they speak of. Use it before you begin a task that a skill is made for, then follow its text. Its files are in the folder that the result names, read-only.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"the skill's name; or the path of a folder with a SKILL.md, a Markdown file or a .zip in the project, or the address of a page that web_fetch read: the person has to trust such a skill first"},` +
			`"input":{"type":"string","description":"what the skill is to work on, as its text asks for it; left out when it asks for nothing"}},"required":["path"],"additionalProperties":false}`),
		Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true},
		Body:        "path",
	},
	Plugin: Plugin, Pinned: true, Named: true,
}

// skillTool is skill, which takes the place of use_skill for an agent that names it.
type skillTool struct{ skills *skills }

// take implements tool.
func (s skillTool) take(ctx context.Context, t sdk.TurnContext) (turnTool, error) {
	if !hasSkillTool(t) {
		return nil, nil
	}
	u, err := useSkillTool(s).turn(ctx, t)
	if err != nil {
		return nil, err
	}
	return skillTurn{u}, nil
}

// hasSkillTool reports whether the agent of a turn has skill.
func hasSkillTool(t sdk.TurnContext) bool { return t.Admits != nil && t.Admits(skillSpec) }

// skillTurn is skill with the skills as one turn has them.
type skillTurn struct{ *useSkillTurn }

func (skillTurn) tool() sdk.Tool { return skillSpec }

func (t skillTurn) system() string {
	if t.none {
		return ""
	}
	return t.found.For(sdk.ToolSkill)
}

func (t skillTurn) once(ctx context.Context, arguments json.RawMessage) bool {
	a, err := readPath(arguments)
	if err != nil || t.elsewhere(a.Path) {
		return false // no code skill is executed by its path
	}
	use, err := a.use(a.Path)
	return err == nil && t.useSkillTurn.once(ctx, use)
}

func (t skillTurn) invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	a, err := readPath(call.Arguments)
	if err != nil {
		return sdk.Failed(err), nil
	}
	name, turn := a.Path, t.useSkillTurn
	if t.elsewhere(name) {
		if name, turn, err = t.offered(ctx, name); err != nil {
			return sdk.Failed(err), nil
		}
	}
	if call.Arguments, err = a.use(name); err != nil {
		return sdk.Failed(err), nil
	}
	return turn.invoke(ctx, call, out)
}

// skillPath are the arguments of skill. Path is what a skill is named by, without spaces about it and skill://.
type skillPath struct {
	Path  string `json:"path"`
	Input string `json:"input"`
}

func readPath(arguments json.RawMessage) (a skillPath, err error) {
	if err := sdk.ReadJSON(arguments, &a); err != nil {
		return a, sdk.Errorf(sdk.Validation, "the arguments of %s must be path and, if it is needed, input, both text: %w", sdk.ToolSkill, err)
	}
	if a.Path = strings.TrimPrefix(strings.TrimSpace(a.Path), "skill://"); a.Path == "" {
		return a, sdk.Errorf(sdk.Validation, "%s needs the name of a skill", sdk.ToolSkill)
	}
	return a, nil
}

// use are the arguments of use_skill with the name of the skill.
func (a skillPath) use(name string) (json.RawMessage, error) {
	return json.Marshal(useArguments{name, a.Input})
}
