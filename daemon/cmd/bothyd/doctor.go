package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon"
)

type doctorCmd struct{}

// Run exits with 1 when something is broken; a warning is no failure.
func (cmd doctorCmd) Run(f *flags, c *console) error {
	findings := append(daemon.Doctor(context.Background(), f.Config), brought()...)
	broken := slices.ContainsFunc(findings, func(x daemon.Finding) bool { return x.Level == "fail" })
	if c.json {
		if err := printJSON(c, map[string]any{"ok": !broken, "findings": findings}); err != nil {
			return err
		}
	} else {
		for _, x := range findings {
			fmt.Fprintf(c.out, "%-5s %s: %s\n", x.Level, x.Name, x.Detail)
			if x.Hint != "" {
				fmt.Fprintf(c.out, "      %s\n", x.Hint)
			}
		}
	}
	if broken {
		return toldError(exitFailed)
	}
	return nil
}
