package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

type policyCmd struct {
	Test policyTestCmd `cmd:"" help:"Say what policy would do with a command or an address, and why. Nothing runs."`
}

type policyTestCmd struct {
	verbs.PolicyTest
	Dir string `placeholder:"DIR" help:"A folder of the project whose rules count, instead of the working directory."`
}

// longestLine is the most that is read; policy refuses much less than that.
const longestLine = 1 << 20

// judged is a verdict as it is printed. Commands are never null.
type judged struct {
	Decision sdk.Verdict       `json:"decision"`
	Rule     string            `json:"rule"`
	Source   string            `json:"source"`
	Reason   string            `json:"reason"`
	Host     string            `json:"host,omitempty"` // of an address
	Commands []sdk.SeenCommand `json:"commands"`
}

// Run exits with 0 whatever the verdict is: it was asked for one. A command line
// that is given as one word is taken as it is; several words are joined by blanks,
// for the shell that called has taken their quotes.
func (cmd policyTestCmd) Run(f *flags, c *console) error {
	trial := policy.Trial{Text: cmd.Address, Address: cmd.Address != "", Mode: sdk.Mode(cmd.Mode)}
	var err error
	switch {
	case cmd.Address == "" && len(cmd.Command) == 0:
		return sdk.Errorf(sdk.Validation, "name a command line, or an address with --address")
	case cmd.Address == "":
		trial.Text, err = cmd.line()
	case len(cmd.Command) > 0:
		return sdk.Errorf(sdk.Validation, "--address stands in the place of a command: name one of them")
	}
	if err != nil {
		return err
	}
	out, err := judge(f, c, cmd.Dir, trial, cmd.Shell)
	return report(c, out, err, printJudged)
}

// judge asks policy, in the project that dir lies in, by the configuration as it is.
func judge(f *flags, c *console, dir string, trial policy.Trial, form string) (judged, error) {
	secrets := &audit.Redactor{}
	_, cfg, diags := daemon.LoadConfig(f.Config, secrets)
	diags.Write(c.err)
	if cfg == nil {
		return judged{}, toldError(exitUsage)
	}
	dir, err := directory(dir)
	if err != nil {
		return judged{}, err
	}
	if trial.Address {
		cfg.LearnSecrets()
		trial.Leaks = secrets.Leaks
	}
	d, diags, err := daemon.Judge(cfg, dir, trial, form)
	if err != nil {
		return judged{}, err
	}
	diags.Write(c.err)
	out := judged{Decision: d.Verdict, Rule: d.Rule, Source: d.Source, Reason: d.Reason, Host: d.Host, Commands: d.Commands}
	if out.Commands == nil {
		out.Commands = []sdk.SeenCommand{}
	}
	return out, nil
}

func (cmd policyTestCmd) line() (string, error) {
	if len(cmd.Command) != 1 || cmd.Command[0] != "-" {
		return strings.Join(cmd.Command, " "), nil
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, longestLine+1))
	if err != nil {
		return "", fmt.Errorf("read the command from standard input: %w", err)
	}
	if len(text) > longestLine {
		return "", sdk.Errorf(sdk.Validation, "the command has more than 1 MiB")
	}
	return string(text), nil
}

// directory is the absolute path of a folder that is there, links resolved as the
// daemon does.
func directory(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", sdk.Errorf(sdk.NotFound, "--dir: %w", err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", sdk.Errorf(sdk.Validation, "--dir %s is no directory", dir)
	}
	return path, nil
}

// printJudged prints the verdict, why, and what was seen.
func printJudged(c *console, j judged) error {
	w := bufio.NewWriter(c.out)
	fmt.Fprintf(w, "%s\n  rule: %s (%s)\n  why:  %s\n", j.Decision, oneLine(j.Rule), oneLine(j.Source), oneLine(j.Reason))
	if j.Host != "" {
		fmt.Fprintf(w, "  host: %s\n", oneLine(j.Host))
	}
	for _, s := range j.Commands {
		via := ""
		if len(s.Via) > 0 {
			via = " (by " + oneLine(strings.Join(s.Via, ", ")) + ")"
		}
		words := "its words are not known before it runs"
		if s.Argv != nil {
			encoded, err := json.Marshal(s.Argv)
			if err != nil {
				return err
			}
			words = oneLine(string(encoded))
		}
		fmt.Fprintf(w, "  saw:  %-7s %s%s\n", s.Verdict, words, via)
	}
	return w.Flush()
}
