package main

import (
	"bufio"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/skill"
)

type skillsCmd struct {
	Validate skillsValidateCmd `cmd:"" help:"Read SKILL.md files strictly and show every diagnostic where it stands."`
}

type skillsValidateCmd struct{ verbs.SkillsValidate }

// Run exits with 1 when a skill has an error; a warning is no failure. Nothing
// that a skill brings is followed or executed.
func (cmd skillsValidateCmd) Run(c *console) error {
	if len(cmd.Paths) == 0 {
		cmd.Paths = []string{"."}
	}
	debug.SetGCPercent(400) // much garbage and little that stays: this process ends with its answer
	verdicts, err := skill.Validate(context.Background(), cmd.Paths)
	err = report(c, map[string][]*skill.Verdict{"skills": verdicts}, err, func(c *console, _ map[string][]*skill.Verdict) error {
		return printVerdicts(c, verdicts)
	})
	if err == nil && slices.ContainsFunc(verdicts, (*skill.Verdict).Failed) {
		return toldError(exitFailed)
	}
	return err
}

// printVerdicts prints each diagnostic with its place and what to do, then how
// many there are of what.
func printVerdicts(c *console, verdicts []*skill.Verdict) error {
	w := bufio.NewWriter(c.out)
	var loaded, repaired, failed int
	for _, v := range verdicts {
		loaded += count(v.Loaded)
		repaired += count(v.Loaded && v.Repaired)
		failed += count(v.Failed())
		for _, d := range v.Diagnostics {
			fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n      %s\n", oneLine(v.Path), max(1, d.Line), max(1, d.Column), d.Severity, oneLine(d.Message), d.Code, oneLine(d.Help))
		}
	}
	if len(verdicts) == 0 {
		fmt.Fprintln(w, "there is no SKILL.md")
	} else {
		fmt.Fprintf(w, "skills: %d, loaded: %d (repaired: %d), with errors: %d\n", len(verdicts), loaded, repaired, failed)
	}
	return w.Flush()
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
