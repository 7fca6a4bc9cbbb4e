package proposal

import (
	"fmt"
	"path"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// openNetwork is the tool that opens the network of a project, for good.
const openNetwork = "open_network"

// Withheld is why people do not accept a call by a channel; empty where they may. They may what stays in the workspace
// of a private run, and calls of tools that one of the patterns names. What would change what is asked in future, or
// lets a secret out, they may not.
func Withheld(run sdk.Run, tool sdk.Tool, decision sdk.Decision, named []string) string {
	switch {
	case !run.Private:
		return "its run is not one that keeps to a workspace of its own"
	case tool.Name == openNetwork:
		return "it opens the network"
	case tool.Drift != "":
		return "its tool " + tool.Drift
	case decision.Rule == sdk.RuleLeak:
		return "a secret would leave with it"
	case inWorkspace(tool) || slices.ContainsFunc(named, func(p string) bool { return fitsTool(p, tool) }):
		return ""
	}
	return fmt.Sprintf("%s works outside of the run's workspace, and answers { tools } of the channel does not name it", tool.Name)
}

// inWorkspace reports whether the calls of a tool reach nothing but the run's own workspace and entries.
func inWorkspace(tool sdk.Tool) bool {
	granted := func(g string) bool { return slices.Contains(tool.Grants, g) }
	return tool.Pinned && !tool.Annotations.OpenWorld && (tool.Entries || granted(sdk.GrantSandbox) || granted(sdk.GrantProject))
}

// fitsTool takes a tool's names: the bare one and plugin__tool.
func fitsTool(pattern string, tool sdk.Tool) bool {
	for _, name := range []string{tool.Name, tool.Plugin + "__" + tool.Name, tool.Declared} {
		if is, err := path.Match(pattern, name); err == nil && is && name != "" {
			return true
		}
	}
	return false
}
