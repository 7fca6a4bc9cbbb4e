package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A summary is what one step, or several together, came to. Tests are named PACKAGE.TEST.
type summary struct {
	Passed  int      `json:"passed"`
	Names   []string `json:"names"` // of the tests that passed
	Failed  []result `json:"failed"`
	Skipped []result `json:"skipped"`
}

// A result is a test that did not pass, and why.
type result struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (s summary) line() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, len(s.Failed), len(s.Skipped))
}

// strict turns the skips of sandbox tests into failures.
func (s summary) strict() summary {
	var skipped []result
	for _, r := range s.Skipped {
		if strings.HasPrefix(r.Reason, "sandbox:") {
			s.Failed = append(slices.Clip(s.Failed), result{r.Name, "skipped in CI: " + r.Reason})
			continue
		}
		skipped = append(skipped, r)
	}
	s.Skipped = skipped
	return s
}

// print lists every skip and failure; the counts stand alone on the last line.
func (s summary) print(out io.Writer) {
	for _, r := range s.Skipped {
		fmt.Fprintf(out, "skipped  %s: %s\n", r.Name, r.Reason)
	}
	for _, r := range s.Failed {
		fmt.Fprintf(out, "FAILED   %s: %s\n", r.Name, r.Reason)
	}
	fmt.Fprintln(out, s.line())
}

func (s summary) save(file string) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("save %s: %w", file, err)
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

func load(file string) (summary, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return summary{}, fmt.Errorf("load counts: %w", err)
	}
	var sum summary
	if err := json.Unmarshal(data, &sum); err != nil {
		return summary{}, fmt.Errorf("load counts of %s: %w", file, err)
	}
	return sum, nil
}

// add puts summaries together. A test that one step skipped and another ran is counted as run.
func add(sums []summary) summary {
	ran := map[string]bool{}
	for _, s := range sums {
		for _, name := range s.Names {
			ran[name] = true
		}
		for _, r := range s.Failed {
			ran[r.Name] = true
		}
	}
	var sum summary
	skipped := map[string]bool{}
	for _, s := range sums {
		sum.Passed += s.Passed
		sum.Names = append(sum.Names, s.Names...)
		sum.Failed = append(sum.Failed, s.Failed...)
		for _, r := range s.Skipped {
			if ran[r.Name] || skipped[r.Name] {
				continue
			}
			skipped[r.Name] = true
			sum.Skipped = append(sum.Skipped, r)
		}
	}
	return sum
}
