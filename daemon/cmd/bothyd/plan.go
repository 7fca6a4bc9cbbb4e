package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/sdk"
)

type planCmd struct {
	Check planCheckCmd `cmd:"" help:"Read a plan and show every mistake where it stands."`
}

type planCheckCmd struct{ verbs.PlanCheck }

// checkedPlan is what a plan comes to, as it is printed.
type checkedPlan struct {
	File     string         `json:"file"`
	OK       bool           `json:"ok"`
	Problems []plan.Problem `json:"problems"`
	Goal     string         `json:"goal,omitempty"`
	Steps    []string       `json:"steps,omitempty"`
	Prompt   string         `json:"prompt,omitempty"`
}

// Run exits with 2 when the plan cannot be used.
func (cmd planCheckCmd) Run(c *console) error {
	src, err := readPlan(cmd.File)
	if err != nil {
		return err
	}
	p, err := plan.Read(cmd.File, src)
	out := checkedPlan{File: cmd.File, OK: err == nil, Problems: []plan.Problem{}}
	if err == nil {
		out.Goal, out.Prompt = p.Goal, p.Prompt(plan.Range{})
		for _, s := range p.Steps {
			out.Steps = append(out.Steps, s.Text())
		}
		return report(c, out, nil, func(c *console, out checkedPlan) error {
			_, err := fmt.Fprintf(c.out, "%s: ok, steps: %d\n", oneLine(out.File), len(out.Steps))
			return err
		})
	}
	var wrong *plan.Problems
	if !errors.As(err, &wrong) {
		return err
	}
	out.Problems = wrong.List
	if c.json {
		if err := printJSON(c, out); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.err, harmless(wrong.Error()))
	}
	return toldError(exitUsage)
}

// readPlan reads a file, of a long one no more than tells that it is too long.
func readPlan(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, sdk.Errorf(sdk.NotFound, "the plan cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, sdk.Errorf(sdk.Validation, "the plan %s is no file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, sdk.Errorf(sdk.NotFound, "the plan cannot be read: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, plan.MaxFile+1))
}
