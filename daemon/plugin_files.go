package daemon

import (
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// OpenPluginFiles reads a configuration as a daemon would. The error is
// validation for one that cannot be used.
func OpenPluginFiles(file string) (*inspect.Files, error) {
	secrets := &audit.Redactor{}
	var path string
	var cfg *config.Config
	load := func() error {
		var diags config.Diagnostics
		if path, cfg, diags = LoadConfig(file, secrets); cfg == nil {
			return diags
		}
		return nil
	}
	if err := load(); err != nil {
		return nil, sdk.Errorf(sdk.Validation, "the configuration cannot be used:\n%s", secrets.Redact(err.Error()))
	}
	paths, err := findPaths(cfg)
	if err != nil {
		return nil, err
	}
	return &inspect.Files{
		Path: path, Config: cfg, Defaults: defaults(), Inspector: inspect.New(inspection(paths, hclog.NewNullLogger(), secrets)), Check: load, Redact: secrets.Redact,
	}, nil
}

// inspection is what looks at the files of plugins, with a daemon and without one.
func inspection(paths Paths, log hclog.Logger, secrets *audit.Redactor) inspect.Config {
	return inspect.Config{
		Log: log, Libexec: paths.Libexec, DataDir: paths.Data, Installed: paths.Plugins,
		Shim: filepath.Join(paths.Libexec, "bothy-shim"), Redact: secrets.Add,
	}
}
