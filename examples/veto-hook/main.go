// Command bothy-plugin-veto is a hook that refuses calls before they are made:
// those whose arguments name a file that the operator wants left alone.
package main

import (
	"context"
	"encoding/json"
	"path"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/plugin"
)

type settings struct {
	Keep []string `hcl:"keep" doc:"Patterns of file names that no call may name, such as *.lock."`
}

func main() {
	var config settings
	plugin.Serve(plugin.Options{
		Name: "veto", Version: "1.0.0", Config: &config,
		// A filter that fails, or is not there, lets nothing pass: Closed.
		Hook: hook.Set{hook.Filter("entry.recording", config.veto).Closed()},
	})
}

// veto looks at an action that is about to be recorded. State failed rejects it;
// the model reads Body and may do something else.
func (s *settings) veto(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
	var attributes struct {
		Arguments map[string]any `json:"arguments"`
	}
	if err := json.Unmarshal(r.Attributes, &attributes); err != nil {
		return r, err
	}
	for _, argument := range []string{"path", "source", "destination"} {
		name, _ := attributes.Arguments[argument].(string)
		for _, pattern := range s.Keep {
			if kept, err := path.Match(pattern, path.Base(name)); err != nil || kept {
				r.State, r.Outcome = sdk.StateFailed, sdk.Permission
				r.Body = "the operator keeps " + pattern + " as it is: leave " + name + " alone"
				return r, err
			}
		}
	}
	return r, nil
}
