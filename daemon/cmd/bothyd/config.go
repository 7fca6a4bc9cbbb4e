package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/internal/config"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Read the configuration and show every mistake where it stands."`
	Show  configShowCmd  `cmd:"" help:"Print every value with the place it comes from."`
}

type configCheckCmd struct {
	JSON bool `help:"Print the diagnostics as JSON."`
}

// Run exits with 2 when the configuration cannot be used.
func (cmd configCheckCmd) Run(f *flags, c *console) error {
	path, cfg, diags := daemon.LoadConfig(f.Config, &config.Secrets{})
	if cmd.JSON {
		if diags == nil {
			diags = config.Diagnostics{}
		}
		if err := printJSON(c, map[string]any{"path": path, "ok": cfg != nil, "diagnostics": diags}); err != nil {
			return err
		}
	} else {
		diags.Write(c.err)
	}
	if cfg == nil {
		return toldError(exitUsage)
	}
	if !cmd.JSON {
		fmt.Fprintln(c.out, verdict(path))
	}
	return nil
}

// verdict says what was read without a mistake. What belongs to a plugin is
// known only when it runs.
func verdict(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path + ": not there, so the defaults hold; ok"
	}
	return path + ": ok (what a plugin's own schema declares is checked when it starts: `bothy status`)"
}

type configShowCmd struct {
	JSON bool `help:"Print the values as JSON."`
}

// Run prints the table of values; mistakes go to standard error and exit 2.
func (cmd configShowCmd) Run(f *flags, c *console) error {
	_, cfg, diags := daemon.LoadConfig(f.Config, &config.Secrets{})
	diags.Write(c.err)
	if cfg == nil {
		return toldError(exitUsage)
	}
	if cmd.JSON {
		return printJSON(c, map[string]any{"values": cfg.Values})
	}
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM\tWHAT IT IS")
	for _, v := range cfg.Values {
		value := v.Value
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Key, value, v.Source, v.Doc)
	}
	return w.Flush()
}

func printJSON(c *console, v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
