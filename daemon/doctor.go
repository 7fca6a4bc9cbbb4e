package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// Finding is one thing that doctor looked at.
type Finding struct {
	Name   string `json:"name"`
	Status string `json:"status"` // "ok", "warning" or "error"
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, when there is something
}

// doctorTime bounds what a plugin may take to look at the machine.
const doctorTime = 60 * time.Second

// Doctor looks at this machine without a daemon and changes nothing. What a
// plugin needs (Podman, for bash) is the plugin's own business: its binary is
// asked with the sub-command "doctor".
func Doctor(ctx context.Context, configPath string) []Finding {
	_, cfg, diags := LoadConfig(configPath, &config.Secrets{})
	if cfg == nil {
		return []Finding{{Name: "configuration", Status: "error", Detail: diags.Error(), Fix: "mend the file; bothy config check shows it again"}}
	}
	findings := []Finding{configFinding(diags), platformFinding()}
	paths, err := findPaths(cfg)
	if err != nil {
		return append(findings, Finding{Name: "folders", Status: "error", Detail: err.Error()})
	}
	findings = append(findings, folderFinding(paths.Data))
	for _, p := range cfg.Plugins {
		if p.Enabled {
			findings = append(findings, pluginFindings(ctx, p, paths)...)
		}
	}
	return findings
}

func configFinding(diags config.Diagnostics) Finding {
	if len(diags) > 0 {
		return Finding{Name: "configuration", Status: "warning", Detail: diags.Error()}
	}
	return Finding{Name: "configuration", Status: "ok", Detail: "reads without a mistake"}
}

func platformFinding() Finding {
	f := Finding{Name: "platform", Status: "ok", Detail: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		f.Status, f.Fix = "warning", "the sandbox needs Linux; bash is unavailable here, everything else works"
	}
	return f
}

func folderFinding(dir string) Finding {
	f := Finding{Name: "data folder", Detail: dir, Status: "ok"}
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		f.Detail += " (made at the first start)"
	case err != nil:
		f.Status, f.Detail = "error", err.Error()
	case !ownedByUs(info):
		f.Status, f.Fix = "error", "it belongs to another user; remove it or point XDG_STATE_HOME elsewhere"
	case info.Mode().Perm()&0o077 != 0:
		f.Status, f.Fix = "warning", fmt.Sprintf("others may look into it; run: chmod 700 %s", dir)
	}
	return f
}

// pluginFindings checks that the binary is there and asks it. A plugin that
// has nothing to say about the machine has no such sub-command, and says so.
func pluginFindings(ctx context.Context, p config.Plugin, paths Paths) []Finding {
	binary := p.Path
	if binary == "" {
		binary = filepath.Join(paths.Libexec, "bothy-plugin-"+p.Binary)
	}
	name := "plugin " + p.Label
	info, err := os.Stat(binary)
	if err != nil || info.Mode()&0o111 == 0 {
		return []Finding{{Name: name, Status: "error", Detail: "no executable at " + binary, Fix: "run `make build` in a checkout, or install again"}}
	}
	findings := []Finding{{Name: name, Status: "ok", Detail: binary}}
	if p.Binary != "bash" {
		return findings
	}
	return append(findings, ask(ctx, binary, name)...)
}

// ask runs the plugin's own doctor: a JSON list of findings on its output.
func ask(ctx context.Context, binary, name string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "doctor")
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var found []Finding
	if jsonErr := json.Unmarshal(out.Bytes(), &found); jsonErr != nil {
		return []Finding{{Name: name, Status: "error", Detail: fmt.Sprintf("its doctor did not answer (%v): %s", err, bytes.TrimSpace(errs.Bytes()))}}
	}
	return found
}
