package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// brief writes a time with the precision that a person needs.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// cost writes what was paid, when that is known. The currency is that of the
// prices in the configuration.
func cost(c float64) string {
	if c <= 0 {
		return ""
	}
	return fmt.Sprintf(", cost %.4g", c)
}

// each is what f makes of every element of a list.
func each[T, R any](list []T, f func(T) R) []R {
	all := make([]R, len(list))
	for i, x := range list {
		all[i] = f(x)
	}
	return all
}

// indent moves the lines after the first below it.
func indent(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// tokens writes usage for a person.
func tokens(u sdk.Usage) string {
	text := fmt.Sprintf("%d tokens in", u.Prompt)
	if u.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", u.Cached)
	}
	return text + fmt.Sprintf(", %d out", u.Completion)
}
