package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"text/tabwriter"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// scriptNote is said wherever a digest might be taken for more than it is.
const scriptNote = "script: the interpreter, and what it imports from elsewhere, are not covered"

func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

type pluginsLockCmd struct{ verbs.PluginsLock }

// Run exits with 1 when a plugin could not be looked at, or --check found drift.
func (cmd pluginsLockCmd) Run(c *console, files *inspect.Files) error {
	ctx, stop := interruptible()
	defer stop()
	done, err := files.Lock(ctx, cmd.Names, cmd.Check)
	var wrong error
	if err == nil && done.Written {
		_, wrong = takeUp(files)
	}
	err = errors.Join(report(c, done, err, printLocking), wrong)
	if err == nil && (len(done.Failed) > 0 || cmd.Check && len(done.Changes) > 0) {
		return toldError(exitFailed)
	}
	return err
}

func printLocking(c *console, done inspect.Locking) error {
	w := bufio.NewWriter(c.out)
	printChanges(w, done.Changes)
	for _, label := range done.Scripts {
		fmt.Fprintf(w, "%s: %s\n", label, scriptNote)
	}
	switch {
	case done.Written:
		fmt.Fprintf(w, "wrote %s\n", done.File)
	case len(done.Changes) == 0:
		fmt.Fprintf(w, "%s: nothing changed\n", done.File)
	default:
		fmt.Fprintf(w, "%s was left as it is; without --check this is written\n", done.File)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range done.Failed {
		c.say("%s is left as it was in the lock: %s", x.Label, oneLine(x.Reason))
	}
	return nil
}

// printChanges shows a difference, label by label.
func printChanges(w *bufio.Writer, changes []config.LockChange) {
	last := ""
	for _, x := range changes {
		switch {
		case x.What == "" && x.Kind == config.Added:
			fmt.Fprintf(w, "+ %s: %s\n", x.Label, oneLine(x.To))
		case x.What == "":
			fmt.Fprintf(w, "- %s: %s\n", x.Label, oneLine(x.From))
		default:
			if x.Label != last {
				fmt.Fprintf(w, "~ %s\n", x.Label)
			}
			fmt.Fprintf(w, "    %s\n", oneLine(x.String()))
		}
		last = x.Label
	}
}

type pluginsVerifyCmd struct{ verbs.PluginsVerify }

// Run exits with 1 when a file is not what pins it, or is not there.
func (cmd pluginsVerifyCmd) Run(c *console, files *inspect.Files) error {
	found, err := files.Verify(cmd.Names)
	err = report(c, found, err, printVerified)
	if err == nil && slices.ContainsFunc(found, func(v inspect.Verified) bool { return v.Problem != "" }) {
		return toldError(exitFailed)
	}
	return err
}

func printVerified(c *console, found []inspect.Verified) error {
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PLUGIN\tRESULT\tDIGEST\tORIGIN\tPINNED BY\tFILE")
	for _, v := range found {
		result := "ok"
		switch {
		case v.Problem != "":
			result = "REFUSED"
		case v.Pin == "":
			result = "not pinned"
		}
		digest := cmp.Or(v.Digest[:min(12, len(v.Digest))], "-")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Instance, result, digest, cmp.Or(v.Origin, "-"), cmp.Or(v.Pin, "-"), cmp.Or(oneLine(v.Path), "-"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, v := range found {
		if v.Problem != "" {
			fmt.Fprintf(c.out, "%s: %s\n", v.Instance, oneLine(v.Problem))
		} else if v.Script {
			fmt.Fprintf(c.out, "%s: %s\n", v.Instance, scriptNote)
		}
	}
	return nil
}
