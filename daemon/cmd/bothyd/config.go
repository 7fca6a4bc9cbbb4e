package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/scaffold"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Read the configuration and show every mistake where it stands."`
	Show  configShowCmd  `cmd:"" help:"Print every value with the place it comes from."`
	Path  configPathCmd  `cmd:"" help:"Print where the configuration is, or would be."`
	Init  configInitCmd  `cmd:"" help:"Write a first configuration with everything commented out."`
}

type configCheckCmd struct{}

// Run exits with 2 when there is a mistake, also when it would keep nothing but
// a plugin from starting.
func (cmd configCheckCmd) Run(f *flags, c *console) error {
	path, cfg, diags := daemon.CheckConfig(context.Background(), f.Config)
	ok := cfg != nil && !diags.HasErrors()
	if c.json {
		if diags == nil {
			diags = config.Diagnostics{}
		}
		if err := printJSON(c, map[string]any{"path": path, "ok": ok, "usable": cfg != nil, "diagnostics": diags}); err != nil {
			return err
		}
	} else {
		diags.Write(c.err)
	}
	switch {
	case cfg == nil:
		return toldError(exitUsage)
	case !ok:
		if !c.json {
			fmt.Fprintln(c.err, path+": a daemon can start with it, but not every plugin")
		}
		return toldError(exitUsage)
	case !c.json:
		fmt.Fprintln(c.out, verdict(path))
	}
	return nil
}

// verdict says what was read without a mistake.
func verdict(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path + ": not there, so the defaults hold; ok"
	}
	return path + ": ok"
}

type configPathCmd struct{}

// Run prints one line, also when nothing is there.
func (cmd configPathCmd) Run(f *flags, c *console) error {
	path, err := daemon.ConfigPath(f.Config)
	if err != nil {
		return err
	}
	if c.json {
		_, err := os.Stat(path)
		return printJSON(c, map[string]any{"path": path, "exists": err == nil})
	}
	_, err = fmt.Fprintln(c.out, path)
	return err
}

type configInitCmd struct{ verbs.ConfigInit }

// Run never overwrites anything.
func (cmd configInitCmd) Run(f *flags, c *console) error {
	path, err := daemon.ConfigPath(f.Config)
	if err != nil {
		return err
	}
	kept, err := scaffold.Config(path, cmd.Force, time.Now())
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c, map[string]any{"path": path, "kept": kept})
	}
	if kept != "" {
		fmt.Fprintln(c.out, "kept the old one as "+kept)
	}
	fmt.Fprintf(c.out, "wrote %s\nEverything in it is commented out, so nothing changed. Take away a # and save: a running daemon\ntakes it over at once. `bothy config check` shows mistakes, `bothy models` what you can choose from.\n", path)
	return nil
}

type configShowCmd struct{}

// Run prints the table of values; mistakes go to standard error and exit 2.
func (cmd configShowCmd) Run(f *flags, c *console) error {
	_, cfg, diags := daemon.LoadConfig(f.Config, &audit.Redactor{})
	diags.Write(c.err)
	if cfg == nil {
		return toldError(exitUsage)
	}
	if c.json {
		return printJSON(c, map[string]any{"values": cfg.Values})
	}
	return printValues(c, cfg.Values)
}

// printValues takes two lines for each, so that none is wider than a terminal.
func printValues(c *console, values []config.Value) error {
	width := 0
	for _, v := range values {
		width = max(width, len(v.Key))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %-6s  FROM\n", width, "SETTING", "VALUE")
	for _, v := range values {
		fmt.Fprintf(&b, "%-*s  %-6s  %s\n    %s\n", width, v.Key, cmp.Or(v.Value, "-"), v.Source, v.Doc)
	}
	_, err := io.WriteString(c.out, b.String())
	return err
}

func printJSON(c *console, v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
