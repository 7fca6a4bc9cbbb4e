package daemon

import (
	"os"
	"path/filepath"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/config"
)

// LoadConfig reads the configuration that a daemon would use: path, or the
// user's file when path is empty. It returns the path that was read. A secret
// that is resolved later joins the given registry.
func LoadConfig(path string, secrets *config.Secrets) (string, *config.Config, config.Diagnostics) {
	required := path != ""
	if !required {
		var err error
		if path, err = config.DefaultPath(); err != nil {
			return "", nil, config.Diagnostics{{Severity: "error", Summary: "No place for a configuration", Detail: err.Error()}}
		}
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute // what the file calls relative is so to its folder
	}
	cfg, diags := config.Load(config.Source{
		Defaults:     bothy.DefaultConfig,
		DefaultsName: bothy.DefaultConfigName,
		Path:         path,
		Required:     required,
		Getenv:       os.LookupEnv,
		Secrets:      secrets,
	})
	return path, cfg, diags
}
