package inspect

import (
	"os"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk"
)

// HomeTools names what of this user's home commands in the sandbox have: nothing in an
// image of the user's own choice, or in private workspaces.
func HomeTools(cfg *config.Config) []string {
	home, err := os.UserHomeDir()
	if err != nil || cfg.Sandbox.Image != "" || cfg.Sandbox.Workspace == sdk.WorkspacePrivate {
		return nil
	}
	return toolchain.Find(home, nil, func(string) bool { return false }).Names
}
