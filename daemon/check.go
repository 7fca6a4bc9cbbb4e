package daemon

import (
	"context"
	"os"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// CheckConfig reads the configuration as a daemon would, and besides checks the
// block of each plugin and provider against the schema that its binary declares.
// It starts no plugin, writes nothing, and disturbs no daemon; a binary whose manifest is not
// known is asked for it. The Config is nil when a daemon could not start with
// it; what keeps only a plugin from starting is an error among the diagnostics.
func CheckConfig(ctx context.Context, file string) (string, *config.Config, config.Diagnostics) {
	project := ""
	if dir, err := os.Getwd(); err == nil {
		if root, is := sdk.ProjectOf(dir, os.Getenv("HOME")); is {
			project = root
		}
	}
	secrets := &audit.Redactor{}
	return checkConfig(ctx, file, project, secrets, newKeys(file, secrets))
}

// checkConfig is CheckConfig with the own file of a project, if one is named.
func checkConfig(ctx context.Context, file, project string, secrets *audit.Redactor, keys *credential.Keys) (string, *config.Config, config.Diagnostics) {
	path, cfg, diags := loadConfig(file, secrets, keys, nil)
	if cfg == nil {
		return path, nil, diags
	}
	paths, err := findPaths(cfg)
	if err != nil {
		return path, cfg, append(diags, config.Diagnostic{Severity: "warning", Summary: "The plugins were not looked at", Detail: err.Error()})
	}
	looking := inspection(paths, hclog.NewNullLogger(), secrets)
	looking.LookOnly = true
	inspector := inspect.New(looking)
	var specs []inspect.Spec
	for _, b := range slices.Concat(cfg.Plugins, cfg.Providers) {
		if b.Enabled {
			spec := inspect.SpecOf(cfg, b)
			spec.Eval = cfg.WithoutSecrets() // one that is not set here may be where the daemon runs
			specs = append(specs, spec)
		}
	}
	if project != "" {
		_, own := config.WorkspaceOf(project, cfg)
		diags = append(diags, own...)
	}
	for _, x := range inspector.Check(ctx, specs, callback.Wants) {
		for _, d := range config.FromHCL(cfg.Files, x.Diagnostic) {
			d.Summary, d.Detail = secrets.Redact(d.Summary), secrets.Redact(d.Detail)
			diags = append(diags, d)
		}
	}
	return path, cfg, diags
}
