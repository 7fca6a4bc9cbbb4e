package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/scaffold"
	"github.com/bothyd/bothy/sdk"
)

type pluginsNewCmd struct{ verbs.PluginsNew }

// Run writes the plugin's folder and says what to do next.
func (cmd pluginsNewCmd) Run(c *console) error {
	if cmd.To == "" {
		cmd.To = cmd.Name
	}
	p := scaffold.Plugin{Name: cmd.Name, Kind: cmd.Kind, Lang: cmd.Lang, Dir: cmd.To}
	if err := p.Check(); err != nil {
		return err
	}
	var err error
	inGo := p.Lang == "go"
	if inGo {
		if p.SDK, err = scaffold.FindSDK(cmd.SDK, sdk.Version, nearby()...); err != nil {
			return err
		}
	}
	files, err := p.Write()
	if err != nil {
		return err
	}
	whole := !inGo || p.SDK.Checkout != "" || tidy(p.Dir)
	if c.json {
		return printJSON(c, map[string]any{"name": p.Name, "kind": p.Kind, "dir": p.Dir, "files": files, "sums": whole})
	}
	return printBegun(c, p, files, whole)
}

// nearby is where the checkout may be that this binary was built from.
func nearby() []string {
	near := []string{os.Getenv("BOTHY_PREFIX")}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			near = append(near, filepath.Dir(exe))
		}
	}
	if dir, err := os.Getwd(); err == nil && strings.HasSuffix(sdk.Version, "-dev") {
		near = append(near, dir)
	}
	return near
}

// tidy has the go command fetch the sum of a released SDK, and reports whether
// it could.
func tidy(dir string) bool {
	ctx, stop := interruptible()
	defer stop()
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	return cmd.Run() == nil
}

func printBegun(c *console, p scaffold.Plugin, files []string, whole bool) error {
	w := bufio.NewWriter(c.out)
	fmt.Fprintf(w, "%s holds a plugin of the kind %s: %s\n\nNext:\n\n    cd %s\n", p.Dir, p.Kind, strings.Join(files, ", "), p.Dir)
	if p.Lang != "go" {
		fmt.Fprintf(w, "    bothy plugins test ./bothy-plugin-%s\n\nREADME.md says how the daemon runs it from here, and how it becomes one file to install.\n", p.Name)
		return w.Flush()
	}
	if !whole {
		fmt.Fprintln(w, "    go mod tidy     # go.sum lacks the SDK: this needs Go, and once the network")
	}
	fmt.Fprintf(w, "    go test ./...\n    go build && ./bothy-plugin-%s test\n    bothy plugins install ./bothy-plugin-%s\n\nREADME.md says how the daemon runs it from here while you work on it.\n", p.Name, p.Name)
	return w.Flush()
}
