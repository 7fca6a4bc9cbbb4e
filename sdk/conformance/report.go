package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// Report is the findings about one binary, for programs.
type Report struct {
	Plugin   string    `json:"plugin"` // the path of the binary
	Seed     uint64    `json:"seed"`
	Failed   bool      `json:"failed"` // whether any finding is
	Findings []Finding `json:"findings"`
}

// Write tests a binary and writes what comes of it, a line for each check as it
// ends, or all of it as JSON. It reports whether the plugin passed.
func Write(ctx context.Context, o Options, w io.Writer, asJSON bool) (passed bool, err error) {
	r := Report{Plugin: o.Path, Seed: o.Seed, Findings: []Finding{}}
	count := map[Severity]int{}
	if !asJSON {
		if _, err := fmt.Fprintf(w, "%s, seed %d\n", o.Path, o.Seed); err != nil {
			return false, err
		}
	}
	var broken error // of the writer
	err = Binary(ctx, o, func(f Finding) {
		r.Findings = append(r.Findings, f)
		r.Failed = r.Failed || f.Severity == Failed
		count[f.Severity]++
		if !asJSON && broken == nil {
			broken = line(w, f)
		}
	})
	switch {
	case err != nil:
		return false, err
	case broken != nil:
		return false, broken
	case asJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return !r.Failed, e.Encode(r)
	}
	_, err = fmt.Fprintf(w, "%d ok, %d failed, %d warnings, %d skipped\n", count[Passed], count[Failed], count[Warned], count[Skipped])
	return !r.Failed, err
}

func line(w io.Writer, f Finding) error {
	text := f.Name
	if f.Text != "" {
		text += ": " + f.Text
	}
	_, err := fmt.Fprintf(w, "%-8s %s\n", f.Severity, text)
	return err
}
