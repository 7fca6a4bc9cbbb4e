package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/hashicorp/go-hclog"
)

// Finding is one thing that doctor looked at.
type Finding = inspect.Finding

// runningTime bounds how long a daemon that runs may take to say how its plugins are.
const runningTime = 3 * time.Second

// Doctor looks at this machine without a daemon and changes nothing; where one runs,
// that is asked how its plugins are. What a plugin needs (Podman, for bash; an engine, for web) is the plugin's own business: its binary is
// asked with the sub-command "check".
func Doctor(ctx context.Context, configPath string) []Finding {
	_, cfg, diags := CheckConfig(ctx, configPath)
	if cfg == nil {
		return []Finding{configFinding(diags)}
	}
	findings := []Finding{configFinding(diags), platformFinding()}
	paths, err := findPaths(cfg)
	if err != nil {
		return append(findings, Finding{Name: "folders", Level: "fail", Detail: err.Error()})
	}
	findings = append(findings, folderFinding(paths.Data), confineFinding(cfg, paths))
	findings = append(findings, storeFindings(ctx, paths.Store)...)
	looking := inspection(paths, hclog.NewNullLogger(), &audit.Redactor{})
	looking.LookOnly = true
	running, files := pluginStates(ctx), inspect.New(looking)
	for _, p := range cfg.Plugins {
		if p.Enabled {
			spec := inspect.SpecOf(cfg, p)
			file := files.Verify(spec)
			finding := pluginFinding(p.Label, file, diags, running[p.Label])
			if findings = append(findings, finding); finding.Level != "fail" && (p.Binary == "bash" || p.Binary == "web") {
				settings := sdk.Settings{Instance: finding.Name, Sandbox: inspect.SandboxOf(cfg), DataDir: paths.Data, SocketDir: paths.Sockets, Prefix: paths.Prefix}
				findings = append(findings, files.Ask(ctx, spec, file.Path, finding.Name, settings, doctorProject())...)
			}
		}
	}
	return findings
}

func configFinding(diags config.Diagnostics) Finding {
	switch {
	case diags.HasErrors():
		return Finding{Name: "configuration", Level: "fail", Detail: diags.Error(), Hint: "mend the file; bothy config check shows it again"}
	case len(diags) > 0:
		return Finding{Name: "configuration", Level: "warn", Detail: diags.Error()}
	}
	return Finding{Name: "configuration", Level: "ok", Detail: "reads without a mistake"}
}

func platformFinding() Finding {
	f := Finding{Name: "platform", Level: "ok", Detail: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		f.Level, f.Hint = "warn", "the sandbox needs Linux; bash is unavailable here, everything else works"
	}
	return f
}

func folderFinding(dir string) Finding {
	f := Finding{Name: "data folder", Detail: dir, Level: "ok"}
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		f.Detail += " (made at the first start)"
	case err != nil:
		f.Level, f.Detail = "fail", err.Error()
	case !info.IsDir():
		f.Level, f.Hint = "fail", "it is no folder; move it away or point XDG_STATE_HOME elsewhere"
	case !ownedByUs(info):
		f.Level, f.Hint = "fail", "it belongs to another user; remove it or point XDG_STATE_HOME elsewhere"
	case info.Mode().Perm()&0o700 != 0o700:
		f.Level, f.Hint = "fail", fmt.Sprintf("you may not write to it; run: chmod 700 %s", dir)
	case info.Mode().Perm()&0o077 != 0:
		f.Level, f.Hint = "warn", fmt.Sprintf("others may look into it; run: chmod 700 %s", dir)
	}
	return f
}

// pluginStates are those of a daemon that runs, by their labels. Who has none, or
// none that answers, knows nothing of them.
func pluginStates(ctx context.Context) map[string]rpc.Plugin {
	ctx, cancel := context.WithTimeout(ctx, runningTime)
	defer cancel()
	var c client.Client
	defer func() { _ = c.Close() }() // all was asked
	list, err := c.Plugins(ctx)
	if err != nil {
		return nil
	}
	found := map[string]rpc.Plugin{}
	for _, p := range list {
		found[p.Instance] = p
	}
	return found
}

// pluginFinding says what is wrong with a plugin: that its file cannot be started, what
// the daemon that runs has to say of it, or the check of the configuration.
func pluginFinding(label string, file inspect.Verified, diags config.Diagnostics, now rpc.Plugin) Finding {
	f := Finding{Name: "plugin " + label, Level: "ok", Detail: file.Path}
	if file.Problem != "" {
		f.Level, f.Detail, f.Hint = "fail", file.Problem, "run `make build` in a checkout, or install again"
		return f
	}
	for _, d := range diags {
		if said, of := strings.CutPrefix(d.Summary, f.Name+": "); of {
			f.Level, f.Detail, f.Hint = "warn", said, "the configuration says more"
		}
	}
	if now.Error != "" {
		f.Level, f.Detail, f.Hint = "warn", now.State+": "+now.Error, "bothy logs says more; bothy plugins reload "+label+" tries it again"
	}
	if now.State == host.Broken {
		f.Level = "fail"
	}
	return f
}

// doctorProject is the project that doctor is called in; empty where there is none.
func doctorProject() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if project, is := sdk.ProjectOf(dir, os.Getenv("HOME")); is {
		return project
	}
	return ""
}
