package main

import (
	"fmt"
	"io"
	"os"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

type matchCmd struct{ verbs.Match }

// longestText is the most that is read from standard input.
const longestText = 64 << 20

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
		read, err := io.ReadAll(io.LimitReader(os.Stdin, longestText+1))
		if err != nil {
			return fmt.Errorf("read the text from standard input: %w", err)
		}
		if len(read) > longestText {
			return sdk.Errorf(sdk.Validation, "the text has more than %d MiB", longestText>>20)
		}
		text = string(read)
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
