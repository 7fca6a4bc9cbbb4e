package policy

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// MayUndo refuses a path that no tool may touch when what a run did to the project
// at root is taken back. A person asked for that, so no rule about an agent counts.
func MayUndo(root, path string) error {
	arguments, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return err
	}
	writes := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "undo", Annotations: sdk.Annotations{Destructive: true}}, Plugin: "bothy", Pinned: true, Grants: []string{sdk.GrantProject}}
	d := New(Settings{}).Decide(sdk.PolicyRequest{Tool: writes, Arguments: arguments, Project: root})
	if d.Verdict != sdk.Allow {
		return sdk.Errorf(sdk.Permission, "%s", d.Reason)
	}
	return nil
}
