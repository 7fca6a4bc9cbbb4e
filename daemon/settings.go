package daemon

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
)

// LoadConfig reads the configuration that a daemon would use: path, or the
// user's file when path is empty. It returns the path that was read. A secret
// that is resolved later joins the given registry.
func LoadConfig(path string, secrets *audit.Redactor) (string, *config.Config, config.Diagnostics) {
	return loadConfig(path, secrets, newKeys(path, secrets), nil)
}

// newKeys finds keys for the configuration of a file.
func newKeys(file string, secrets *audit.Redactor) *credential.Keys {
	kept := ""
	if path, err := ConfigPath(file); err == nil {
		kept = filepath.Join(filepath.Dir(path), credential.FileName)
	}
	return credential.New(os.LookupEnv, kept, credential.System(os.LookupEnv), secrets)
}

// loadConfig is LoadConfig; noted hears of the files that the configuration is made of beside its own.
func loadConfig(file string, secrets *audit.Redactor, keys *credential.Keys, noted func(string)) (string, *config.Config, config.Diagnostics) {
	path, err := ConfigPath(file)
	if err != nil {
		return "", nil, config.Diagnostics{{Severity: "error", Summary: "No place for a configuration", Detail: err.Error()}}
	}
	cfg, diags := config.Load(config.Source{
		Defaults:     bothy.DefaultConfig,
		DefaultsName: bothy.DefaultConfigName,
		Path:         path,
		Required:     file != "",
		Getenv:       os.LookupEnv,
		Secrets:      secrets,
		Keys:         keys,
		Noted:        noted,
		Agents:       markdown.Names,
	})
	return path, cfg, diags
}

// ConfigPath is the absolute path of the file that a daemon reads: file, or the place of the
// user's configuration when file is empty. What the file calls relative is so to its folder.
// Nothing need be there.
func ConfigPath(file string) (string, error) {
	if file == "" {
		var err error
		if file, err = config.DefaultPath(); err != nil {
			return "", err
		}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("find the configuration %s: %w", file, err)
	}
	return path, nil
}

// defaults is the configuration that Bothy comes with, without that of a user.
func defaults() *config.Config {
	cfg, _ := config.Load(config.Source{ // a test loads it
		Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Secrets: &audit.Redactor{},
		Getenv: func(string) (string, bool) { return "", false },
	})
	return cfg
}
