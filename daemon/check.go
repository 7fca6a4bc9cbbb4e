package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// CheckConfig reads the configuration as a daemon would, and besides checks the
// block of each plugin and provider against the schema that its binary declares.
// It starts no plugin, writes nothing, and disturbs no daemon; a binary whose manifest is not
// known is asked for it. The Config is nil when a daemon could not start with
// it; what keeps only a plugin from starting is an error among the diagnostics.
func CheckConfig(ctx context.Context, file string) (string, *config.Config, config.Diagnostics) {
	secrets := &audit.Redactor{}
	path, cfg, diags := LoadConfig(file, secrets)
	if cfg == nil {
		return path, nil, diags
	}
	paths, err := findPaths(cfg)
	if err != nil {
		return path, cfg, append(diags, config.Diagnostic{Severity: "warning", Summary: "The plugins were not looked at", Detail: err.Error()})
	}
	inspector := newInspector(paths, secrets, true)
	var specs []inspect.Spec
	for _, b := range append(cfg.Plugins[:len(cfg.Plugins):len(cfg.Plugins)], cfg.Providers...) {
		if b.Enabled {
			spec := inspect.SpecOf(cfg, b)
			spec.Eval = cfg.WithoutSecrets() // one that is not set here may be where the daemon runs
			specs = append(specs, spec)
		}
	}
	if file := workspaceFile(); file != "" {
		diags = append(diags, config.CheckWorkspace(file, cfg)...)
	}
	for _, x := range inspector.Check(ctx, specs) {
		for _, d := range config.At(x.Diagnostic, cfg.Files) {
			d.Summary, d.Detail = secrets.Redact(d.Summary), secrets.Redact(d.Detail)
			diags = append(diags, d)
		}
	}
	return path, cfg, diags
}

// workspaceFile is the configuration of the project that the working directory
// lies in, empty when it has none. Home is no project.
func workspaceFile() string {
	dir, err := os.Getwd()
	home, _ := os.UserHomeDir()
	for ; err == nil && dir != home; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".bothy", "config.hcl")
		if _, err := os.Lstat(file); err == nil {
			return file
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}
