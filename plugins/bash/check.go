package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// check answers "bothy-plugin-bash check SETTINGS [PROJECT]": whether commands can run
// here, as a JSON list of findings. SETTINGS is the sdk.Settings that Configure
// would get; in PROJECT a command is run. The daemon does not link Podman's packages and
// asks this way.
func check(args []string, stdout, stderr io.Writer) (code int, done bool) {
	if len(args) == 0 || args[0] != "check" {
		return 0, false
	}
	var settings sdk.Settings
	if len(args) != 2 && len(args) != 3 {
		fmt.Fprintln(stderr, "usage: bothy-plugin-bash check SETTINGS [PROJECT] (the settings of the plugin as JSON, and a folder to run a command in)")
		return 2, true
	}
	project := ""
	if len(args) == 3 {
		project = args[2]
	}
	if err := json.Unmarshal([]byte(args[1]), &settings); err != nil {
		fmt.Fprintf(stderr, "bothy-plugin-bash check: the settings are no JSON object: %v\n", err)
		return 2, true
	}
	findings := sandbox.Check(context.Background(), config(settings, &configured{}), project, hclog.NewNullLogger())
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(findings); err != nil {
		fmt.Fprintf(stderr, "bothy-plugin-bash check: %v\n", err)
		return 1, true
	}
	for _, f := range findings {
		if f.Level == sandbox.LevelFail {
			return 1, true
		}
	}
	return 0, true
}
