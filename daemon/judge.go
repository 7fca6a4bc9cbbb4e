package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// Judge says how the tool bash would be decided about with a command line, in the
// project that dir lies in, by the configuration and the file of the workspace.
// Rules that answers left are in the store, which only a daemon opens: they do
// not count. Nobody is there to be asked. form goes before the configuration's
// when it is not empty.
func Judge(cfg *config.Config, dir, command string, leave sdk.Leave, form string) (sdk.Decision, config.Diagnostics, error) {
	root := projectOf(dir)
	file := workspaceFileOf(root)
	w, diags := readWorkspace(cfg, file, stateOf(file))
	set := settingsOf(cfg, w)
	if form != "" {
		set.Shell = form
	}
	if !utf8.ValidString(command) { // JSON, in which all calls come, could not hold it
		seen := shell.Analyse(command, shell.Place{})
		return sdk.Decision{Verdict: sdk.Deny, Rule: seen.Rule, Source: policy.SourceBuiltIn, Reason: seen.Reason}, diags, nil
	}
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return sdk.Decision{}, diags, err
	}
	bash := sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command", Annotations: sdk.Annotations{Destructive: true}},
		Plugin:   "bash", Pinned: true, Grants: []string{sdk.GrantSandbox},
	}
	return policy.New(set).Decide(sdk.PolicyRequest{Tool: bash, Arguments: arguments, Project: root, Mode: sdk.ModeAct, Leave: leave}), diags, nil
}

// projectOf is the nearest folder upwards with .bothy or .git, else the folder
// itself. Home and / are no projects.
func projectOf(dir string) string {
	home, _ := os.UserHomeDir()
	for at := dir; at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, mark := range []string{".bothy", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
	}
	return dir
}
