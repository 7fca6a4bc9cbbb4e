package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type auditExportCmd struct {
	auditFilter
	To    string `short:"o" placeholder:"FILE" complete:"file" help:"Write to this file, which only you can read; standard output when absent."`
	Force bool   `help:"Write over the file if there is one."`
}

// Help adds to the verb's help.
func (auditExportCmd) Help() string {
	return `One line an action, its parts apart by " | ":

    TIME | DIRECTORY | COMMAND | exit:N | DURATION
    2026-01-10T10:30:45Z | /home/me/project | ls -la | exit:0 | 0.023s

A character that cannot be seen is written as \xNN or \u{...}, a line break so as \x0a, and a backslash that looks like the begin of such a form as \x5c. Only the command may have a | in it: what stands before the second and behind the last but one is never part of it. Of a tool that runs no commands there are its name and its arguments. In the place of exit:N stand denied:RULE for what was refused, rejected for what a person refused, and else how it ended, as ok or timeout. A security event is a line with event:NAME.
`
}

// Run writes all records that fit. A file that could not be written whole is
// taken away again.
func (cmd auditExportCmd) Run(ctx context.Context, c *console) error {
	if c.json {
		return usageError{"the export is lines of text: `bothy audit list --json` has the records as JSON"}
	}
	if cmd.To == "" {
		return cmd.write(ctx, c, c.out)
	}
	path, err := c.newFile(cmd.To, cmd.Force)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".bothy-audit-")
	if err != nil {
		return fmt.Errorf("the export: %w", err)
	}
	err = errors.Join(cmd.write(ctx, c, f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (cmd auditExportCmd) write(ctx context.Context, c *console, to io.Writer) error {
	w := bufio.NewWriter(to)
	err := cmd.records(ctx, c, 0, func(r rpc.AuditRecord) error {
		line := auditLine(r)
		_, err := w.WriteString(line + "\n")
		return err
	})
	return errors.Join(err, w.Flush())
}

// auditLine is a record as a line of the export.
func auditLine(r rpc.AuditRecord) string {
	dir := r.Project
	if dir == "" || strings.HasPrefix(r.Dir, dir+"/") { // else it is one of the container's
		dir = r.Dir
	}
	command := cmp.Or(r.Command, strings.TrimSpace(r.Tool+" "+string(r.Arguments)))
	if r.Event != "" && command == "" {
		command = r.Detail
	}
	seconds := fmt.Sprintf("%.3fs", time.Duration(r.Duration).Seconds())
	bare := strings.NewReplacer("|", `\x7c`)
	return strings.Join([]string{
		r.Time.UTC().Format(time.RFC3339), bare.Replace(show.ExactLine(dir)), show.ExactLine(command),
		bare.Replace(show.ExactLine(auditResult(r))), seconds,
	}, " | ")
}

func auditResult(r rpc.AuditRecord) string {
	if at := r.Runs; at != "" { // outside of the sandbox
		r.Runs = ""
		return auditResult(r) + " by the " + at
	}
	switch {
	case r.Event != "":
		return "event:" + r.Event
	case r.Verdict == sdk.Deny:
		return "denied:" + r.Rule
	case r.Answer == sdk.Reject:
		return "rejected"
	case r.Exit != nil && byExit(r):
		return fmt.Sprintf("exit:%d", *r.Exit)
	case r.State == sdk.StateProposed:
		return "proposed"
	}
	return auditEnd(r)
}
