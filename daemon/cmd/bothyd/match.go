package main

import (
	"fmt"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk/match"
)

type matchCmd struct{ verbs.Match }

// matched is what a pattern says, as it is printed.
type matched struct {
	Kind  match.Kind `json:"kind"`
	Match bool       `json:"match"`
}

// Run exits with 0 whether the pattern fits or not: both were asked for.
func (cmd matchCmd) Run(c *console) error {
	p, err := match.Parse(cmd.Pattern)
	if err != nil {
		return err
	}
	text := cmd.Text
	if text == "-" {
		if text, err = standardInput(c, "the text"); err != nil {
			return err
		}
	}
	ask := p.Match
	if cmd.Search {
		ask = p.Search
	}
	found, err := ask(text)
	return report(c, matched{p.Kind(), found}, err, printMatched)
}

func printMatched(c *console, m matched) error {
	word := "does not match"
	if m.Match {
		word = "matches"
	}
	_, err := fmt.Fprintf(c.out, "%s (%s)\n", word, m.Kind)
	return err
}
