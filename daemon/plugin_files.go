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
		Path: path, Config: cfg, Defaults: defaults(), Inspector: newInspector(paths, secrets, false), Check: load, Redact: secrets.Redact,
	}, nil
}

// newInspector makes one that needs no daemon.
func newInspector(paths Paths, secrets *audit.Redactor, lookOnly bool) *inspect.Inspector {
	return inspect.New(inspect.Config{
		Log: hclog.NewNullLogger(), Libexec: []string{paths.Libexec}, DataDir: paths.Data, Installed: paths.Plugins,
		Shim: filepath.Join(paths.Libexec, "bothy-shim"), Redact: secrets.Add, LookOnly: lookOnly,
	})
}
