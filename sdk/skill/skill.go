// Package skill is the plugin kind behind a code skill: a SKILL.md whose
// frontmatter names a plugin, which then does the work itself.
//
// A plugin implements Skill, mostly by handing functions to New, and serves it
// with sdk/plugin. With host.From(ctx) an execution calls tools, asks the run's
// model and writes entries, as far as the plugin's block grants it.
//
//	func main() {
//		plugin.Serve(plugin.Options{
//			Name: "hello", Grants: []string{sdk.GrantModels},
//			Skill: skill.Set{skill.New("hello", hello)},
//		})
//	}
//
//	func hello(ctx context.Context, call skill.Call) (sdk.ToolResult, error) {
//		greet := sdk.Message{Role: sdk.RoleUser, Text: "Greet " + call.Input}
//		answer, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{greet}})
//		return skill.Text(answer), err
//	}
package skill

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Skill executes one or more code skills. Both methods may be called
// concurrently.
type Skill interface {
	// Skills are the names it can execute: those of the SKILL.md files that
	// name the plugin. They stand in the manifest.
	Skills() []string

	// Execute does what a skill is for, once. It returns a result also when the
	// work failed; an error is for an execution that could not be made and
	// reaches the model as outcome internal, or as the outcome of an
	// *sdk.Error. It must return soon after ctx ends: the host kills a plugin
	// that does not. The host never executes a skill a second time by itself.
	Execute(ctx context.Context, call sdk.SkillCall, out Stream) (sdk.ToolResult, error)
}

// Stream is where a call sends what is known before its result.
type Stream = sdk.Stream
