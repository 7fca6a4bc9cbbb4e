package tags

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind says what a warning is about.
type Kind string

// The kinds of warnings.
const (
	Unclosed   Kind = "unclosed"   // a body that nothing closes was taken up to the end of the answer
	Emptied    Kind = "emptied"    // a call without a body was not closed before the next one
	Mismatched Kind = "mismatched" // a body was closed by the name of another tool
	Quote      Kind = "quote"      // quotes of attributes were put right
	Cap        Kind = "cap"        // calls beyond the limit were left out
	Opener     Kind = "opener"     // a tag that does not end, or that is none, was left out
	Value      Kind = "value"      // an attribute that is not of its type was replaced by its default
	Twice      Kind = "twice"      // one argument was written in two places
	Misplaced  Kind = "misplaced"  // a body or an attribute that a tool has no use for was left out
	Unknown    Kind = "unknown"    // a call of what is no tool
	Foreign    Kind = "foreign"    // a call in another program's form, which cannot be read
	Quoted     Kind = "quoted"     // a call in a block of code was not made
	Backquote  Kind = "backquote"  // a call between two backquotes that are no code was made
	More       Kind = "more"       // there were more warnings than are told
)

// Warning is a sentence for the model about what was put right in its answer, or left out.
type Warning struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
}

// maxWarnings is how many warnings about single places are kept.
const maxWarnings = 50

// lose is warn for what may have been meant as a call and is none: what is the model's word for it. What is quoted is not lost.
func (p *progress) lose(what string, kind Kind, format string, args ...any) {
	p.lost = cmp.Or(p.lost, clip(what))
	p.warn(kind, format, args...)
}

// warn keeps a warning, or counts it where there are enough.
func (p *progress) warn(kind Kind, format string, args ...any) {
	if len(p.warnings) == maxWarnings {
		p.untold++
		return
	}
	p.warnings = append(p.warnings, Warning{kind, fmt.Sprintf(format, args...)})
}

// told are the warnings, with those that tell how often something was.
func (p *progress) told() []Warning {
	all := slices.Clone(p.warnings)
	if p.quotes > 0 {
		all = append(all, Warning{Quote, fmt.Sprintf("%s put right: write each value between two quotes.", count(p.quotes, "quote of an attribute was", "quotes of attributes were"))})
	}
	if p.dropped > 0 {
		all = append(all, Warning{Cap, fmt.Sprintf("%s left out: at most %d are taken from one answer. Make the rest in the next one.", count(p.dropped, "call was", "calls were"), MaxCalls)})
	}
	if p.untold > 0 {
		all = append(all, Warning{More, fmt.Sprintf("%s not told.", count(p.untold, "more warning is", "more warnings are"))})
	}
	return all
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
