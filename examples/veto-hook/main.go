// Command bothy-plugin-veto is a hook that refuses calls before they are made:
// those whose arguments name a file that the operator wants left alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"path"

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
		Hook: hook.Set{hook.BeforeCall(config.veto)},
	})
}

// veto refuses a call by an error. The model reads it, and may do something else.
func (s *settings) veto(_ context.Context, call hook.Call) (hook.Call, error) {
	var arguments map[string]any
	if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
		return call, err
	}
	for _, argument := range []string{"path", "source", "destination"} {
		name, _ := arguments[argument].(string)
		for _, pattern := range s.Keep {
			if kept, err := path.Match(pattern, path.Base(name)); err != nil {
				return call, err
			} else if kept {
				return call, errors.New("the operator keeps " + pattern + " as it is: leave " + name + " alone")
			}
		}
	}
	return call, nil
}
