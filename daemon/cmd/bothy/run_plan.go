package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk/rpc"
)

// planFlags give a plan in the place of a prompt.
type planFlags struct {
	Plan  string `placeholder:"FILE" complete:"file" help:"Follow a plan, in the place of a prompt ('bothy plan check' shows its mistakes)."`
	From  int    `placeholder:"N" help:"With --plan: the first step that is asked for."`
	Until int    `placeholder:"N" help:"With --plan: the last step that is asked for."`
}

// longestPlan is more than a plan may have, so that the daemon says how much that is.
const longestPlan = 256<<10 + 1

// given reads the plan, or else the prompt, of which along bytes at its end are no words of the person. What stands on standard input is
// no part of a plan.
func (f planFlags) given(c *console, words []string) (prompt string, along int, plan *rpc.PlanFile, err error) {
	switch {
	case f.Plan == "" && f.From == 0 && f.Until == 0:
		prompt, along, err = c.prompt(words)
		return prompt, along, nil, err
	case f.Plan == "":
		return "", 0, nil, usageError{"--from and --until go with --plan"}
	case len(words) > 0:
		return "", 0, nil, usageError{"--plan stands in the place of a prompt: leave one of them out, or write the text into the plan"}
	case f.From < 0 || f.Until < 0:
		return "", 0, nil, usageError{"the steps of a plan are counted from 1"}
	}
	text, err := readPlan(c.path(f.Plan))
	if err != nil {
		return "", 0, nil, usageError{err.Error()}
	}
	return "", 0, &rpc.PlanFile{File: filepath.Base(f.Plan), Text: text, From: f.From, Until: f.Until}, nil
}

// readPlan reads a file, of a long one no more than tells that it is too long.
func readPlan(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("the plan cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the plan %s is no file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the plan cannot be read: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestPlan))
	return string(text), err
}
