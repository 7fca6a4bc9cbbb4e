// Package agent is the plugin kind that brings agents, and judges what agents hand back.
//
// The agents stand in the manifest, and a person takes those that the plugin's block names. What an agent with a schema
// hands back is judged by the plugin that brought it; one of a person's own is, where its finish names the plugin as
// validator. A plugin may judge without bringing an agent, too.
//
//	func main() {
//		plugin.Serve(plugin.Options{Name: "review", Agent: agent.Set{
//			Declared: []sdk.AgentSpec{{
//				Name: "reviewer", Description: "Reviews what changed.", Tools: []string{"read_file", "search_files"},
//				Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`),
//			}},
//			Judge: judge,
//		}})
//	}
//
//	func judge(_ context.Context, work sdk.Work) (missing []string, err error) {
//		if len(work.Done) == 0 {
//			missing = append(missing, "Nothing was read: read what changed, and then say what you found.")
//		}
//		return missing, nil
//	}
package agent

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Agent brings agents and judges results. Both methods may be called concurrently.
type Agent interface {
	// Agents are those that the plugin brings, none where it only judges. They stand in the manifest.
	Agents() []sdk.AgentSpec

	// Validate judges the result of an agent, one of Agents or any other, by what was done for it. It changes nothing: it
	// is asked again for a result that is handed over again. An error refuses the result too, and is no mistake of
	// the model; when it comes back every time, the work ends as failed. It must return soon after ctx ends: the
	// host kills a plugin that does not.
	Validate(ctx context.Context, work sdk.Work) (sdk.Judgement, error)
}
