package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

type pluginsInstallCmd struct{ verbs.PluginsInstall }

// Run asks before anything but the store is changed. A no exits with 1 and
// leaves nothing.
func (cmd pluginsInstallCmd) Run(c *console, files *inspect.Files) error {
	asks := !cmd.Yes && !cmd.NoConfig
	if asks && !c.canAsk() {
		return sdk.Errorf(sdk.Validation, "nobody can be asked here: say --yes, or --no-config to look at it first")
	}
	ctx, stop := interruptible()
	defer stop()
	open := inspect.Opening{Network: cmd.Network, Paths: cmd.Paths, ReadPaths: cmd.ReadPaths, BestEffort: cmd.BestEffort, Unconfined: cmd.Unconfined}
	in, err := files.Store(ctx, cmd.Path, cmd.Name, cmd.Grant, cmd.Set, open, cmd.NoConfig)
	if err != nil {
		return err
	}
	if !c.json {
		if err := describeInstallation(c, in); err != nil {
			return err
		}
	}
	if !cmd.NoConfig {
		openings(c, &in, asks)
	}
	switch {
	case cmd.NoConfig:
	case asks && !agreed(c, "Configure it as "+in.Label+", with this open to it: "+oneLine(in.Opening.String())+"? [y/N] "):
		if err := files.Discard(in); err != nil {
			return err
		}
		c.say("nothing was installed")
		return toldError(exitFailed)
	default:
		if err := files.Configure(&in); err != nil {
			return err
		}
	}
	var did string
	var wrong error
	if in.Config != "" {
		did, wrong = takeUp(files, in.Label)
	}
	if c.json {
		return errors.Join(printJSON(c, in), wrong)
	}
	if in.Config == "" {
		_, err = fmt.Fprintf(c.out, "It lies in the store. To use it, write this into your configuration:\n\n%s", in.Block)
		for _, a := range in.Lacks {
			fmt.Fprintf(c.out, "\nIt needs the attribute %q, a %s, too. %s\n", oneLine(a.Name), oneLine(a.Type), oneLine(a.Doc))
		}
		return err
	}
	if in.Note != "" {
		c.say("%s", in.Note)
	}
	_, err = fmt.Fprintf(c.out, "installed %s: its block is in %s, its entry in %s; %s\n", in.Label, in.Config, files.LockPath(), did)
	return errors.Join(err, wrong)
}

// openings asks for each thing that the plugin needs and that no flag opened; where nobody
// is asked it stays shut, and a line says how to open it.
func openings(c *console, in *inspect.Installation, asks bool) {
	for _, want := range in.Wanted() {
		why, question := reason(in, want)
		if !asks {
			c.say("%s: %s lets it, and so does its confine block", why, want.Flags())
		} else if agreed(c, why+". "+question+" [y/N] ") {
			in.With(want)
		}
	}
}

// reason says why something may have to be opened, and asks for it.
func reason(in *inspect.Installation, want inspect.Opening) (why, question string) {
	switch {
	case want.Unconfined:
		return "it says that it cannot be confined: " + oneLine(in.Manifest.Needs.Unconfined), "Run it with " + want.String() + "?"
	case want.BestEffort:
		return "this kernel cannot hold it back from " + strings.Join(in.Unheld, "; "), "Run it all the same?"
	}
	return "it says that it needs " + oneLine(want.String()), "Open that to it?"
}

// canAsk reports whether a person is there to be asked.
func (c *console) canAsk() bool { return !c.json && term.IsTerminal(int(os.Stdin.Fd())) }

// agreed asks a person on standard error, where the question is seen also when
// the output goes elsewhere.
func agreed(c *console, question string) bool {
	fmt.Fprint(c.err, question)
	answer, err := c.in.ReadString('\n')
	return err == nil && (strings.EqualFold(strings.TrimSpace(answer), "y") || strings.EqualFold(strings.TrimSpace(answer), "yes"))
}

func describeInstallation(c *console, in inspect.Installation) error {
	w := bufio.NewWriter(c.out)
	fmt.Fprintf(w, "%s, sha256 %s\n", oneLine(in.String()), in.Digest)
	switch {
	case in.Files > 0:
		fmt.Fprintf(w, "  bundle:   %d files\n", in.Files)
	case in.Script:
		fmt.Fprintf(w, "  what lies beside the script was not copied: with a bothy-plugin.hcl its folder can be installed\n")
	}
	if in.Script {
		fmt.Fprintf(w, "  %s\n", scriptNote)
	}
	printManifest(w, in.Manifest)
	for _, c := range in.Changes {
		fmt.Fprintf(w, "  changed:  %s\n", oneLine(c))
	}
	if in.Kept {
		fmt.Fprintln(w, "  its block is there already, and keeps what it opens and grants:")
	}
	fmt.Fprintf(w, "  open to it: %s\n", oneLine(in.Opening.String()))
	denied := slices.DeleteFunc(slices.Clone(in.Manifest.Grants), func(g string) bool { return slices.Contains(in.Grants, g) })
	fmt.Fprintf(w, "  granted:  %s\n", orNone(in.Grants))
	if len(denied) > 0 {
		fmt.Fprintf(w, "  not granted: %s; --grant gives it\n", oneLine(strings.Join(denied, ", ")))
	}
	return w.Flush()
}

// printManifest says what a plugin declares. None of it is believed.
func printManifest(w *bufio.Writer, m sdk.Manifest) {
	fmt.Fprintf(w, "  kinds:    %s\n", orNone(m.Kinds))
	for _, t := range m.Tools {
		what, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "  tool:     %s: %s\n", oneLine(t.Name), oneLine(what))
	}
	for _, s := range m.Skills {
		fmt.Fprintf(w, "  skill:    %s\n", oneLine(s))
	}
	for _, a := range m.Agents {
		what, _, _ := strings.Cut(a.Description, "\n")
		fmt.Fprintf(w, "  agent:    %s: %s (tools: %s)\n", oneLine(a.Name), oneLine(what), cmp.Or(oneLine(strings.Join(a.Tools, ", ")), "its own"))
	}
	for _, s := range m.Subscriptions {
		fmt.Fprintf(w, "  hook:     %s\n", oneLine(s.Name))
	}
	for _, large := range m.AboveBudget() {
		fmt.Fprintf(w, "  large:    %s\n", oneLine(large))
	}
	if m.Config != nil {
		for _, a := range m.Config.Attributes {
			text := a.Name + ", " + a.String()
			if a.Doc != "" {
				text += ": " + a.Doc
			}
			fmt.Fprintf(w, "  attribute: %s\n", oneLine(text))
		}
	}
	fmt.Fprintf(w, "  wants:    %s\n", orNone(m.Grants))
	if n := m.Needs; n.Unconfined != "" {
		fmt.Fprintf(w, "  needs:    to run unconfined: %s\n", oneLine(n.Unconfined))
	} else if open := (inspect.Opening{Network: n.Network, Paths: n.Paths, ReadPaths: n.ReadPaths}); open.Flags() != "" {
		fmt.Fprintf(w, "  needs:    %s\n", oneLine(open.String()))
	}
	for _, x := range []struct {
		name string
		list []string
	}{{"tools", m.Calls.Tools}, {"schemes", m.Calls.Schemes}, {"models", m.Calls.Models}, {"secrets", m.Calls.Secrets}} {
		if len(x.list) > 0 {
			fmt.Fprintf(w, "  calls:    %s %s\n", x.name, oneLine(strings.Join(x.list, ", ")))
		}
	}
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return oneLine(strings.Join(list, ", "))
}

type pluginsRemoveCmd struct{ verbs.PluginsRemove }

// Run asks before anything is changed, and says what became of it: a plugin that comes with
// Bothy is switched off, unasked.
func (cmd pluginsRemoveCmd) Run(c *console, files *inspect.Files) error {
	var wrong error
	done, err := files.Remove(cmd.Name, cmd.KeepHome, func() error { return cmd.agreed(c) }, func() { _, wrong = takeUp(files) })
	err = report(c, done, err, func(c *console, done inspect.Removal) error {
		if done.Note != "" {
			c.say("%s", done.Note)
		}
		switch {
		case done.Disabled:
			fmt.Fprintf(c.out, "%s comes with Bothy: it was switched off in %s (enabled = false)\n", done.Label, files.Path)
		case done.Config != "":
			fmt.Fprintf(c.out, "removed %s from %s\n", done.Label, done.Config)
		}
		if done.Unlocked {
			fmt.Fprintf(c.out, "removed its entry from %s\n", files.LockPath())
		}
		for _, file := range done.Deleted {
			fmt.Fprintf(c.out, "deleted %s\n", file)
		}
		if done.Home != "" {
			fmt.Fprintf(c.out, "deleted %s, where it kept what it wrote\n", done.Home)
		}
		return nil
	})
	return errors.Join(err, wrong)
}

// agreed asks for the removal. A no has exit code 1, as that of an installation.
func (cmd pluginsRemoveCmd) agreed(c *console) error {
	wrote := ", with what it wrote in its folder"
	if cmd.KeepHome {
		wrote = ", without what it wrote in its folder"
	}
	switch {
	case cmd.Yes:
		return nil
	case !c.canAsk():
		return sdk.Errorf(sdk.Validation, "nobody can be asked here: say --yes")
	case !agreed(c, "Take "+oneLine(cmd.Name)+" out of the configuration, the lock and the store"+wrote+"? [y/N] "):
		c.say("nothing was removed")
		return toldError(exitFailed)
	}
	return nil
}

type pluginsInfoCmd struct{ verbs.PluginsInfo }

// Run shows what the plugin declares, as the lock would have it; drift is shown
// and no failure.
func (cmd pluginsInfoCmd) Run(c *console, files *inspect.Files) error {
	ctx, stop := interruptible()
	defer stop()
	info, err := files.Info(ctx, cmd.Name)
	return report(c, info, err, printInfo)
}

func printInfo(c *console, info inspect.Info) error {
	w := bufio.NewWriter(c.out)
	fmt.Fprintf(w, "%s, sha256 %s\n  file:     %s (%s)\n", oneLine(strings.TrimSpace(info.Manifest.Name+" "+info.Manifest.Version)), info.File.Digest, oneLine(info.File.Path), info.File.Origin)
	fmt.Fprintf(w, "  pinned by: %s\n", cmp.Or(string(info.File.Pin), "nothing"))
	if info.File.Files > 0 {
		fmt.Fprintf(w, "  bundle:   %d files\n", info.File.Files)
	}
	if info.File.Script {
		fmt.Fprintf(w, "  %s\n", scriptNote)
	}
	printManifest(w, info.Manifest)
	fmt.Fprintf(w, "  granted:  %s\n", orNone(info.Grants))
	if info.File.Problem != "" {
		fmt.Fprintf(w, "  refused:  %s\n", oneLine(info.File.Problem))
	}
	if len(info.Drift) > 0 {
		fmt.Fprintf(w, "  not as in the lock: %s\n", oneLine(config.Changes(info.Drift)))
	}
	return w.Flush()
}
