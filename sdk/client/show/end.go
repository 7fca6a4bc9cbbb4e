package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// End says how a loop that has ended did so, with what it took. Told is a failure that
// stands above already: it is not said again. Run is named where it is given.
func End(l *timeline.Loop, told, run string) Spans {
	counts := []string{Plural(len(l.Turns), "turn"), Plural(calls(l), "action")}
	if used := Used(l.Usage()); used != "" {
		counts = append(counts, used)
	}
	switch d := l.Last.Sub(l.Began); {
	case d > time.Minute:
		counts = append(counts, d.Round(time.Second).String())
	case d > 0: // as wide whatever it is, so that a line is broken in the same place
		counts = append(counts, fmt.Sprintf("%.1fs", max(d.Seconds(), 0.1)))
	}
	s := Good
	bad := sdk.StopExit(l.End.Stop, l.End.Status) != sdk.ExitOK
	if bad {
		s = Bad
	}
	text := " (" + strings.Join(counts, ", ")
	if run != "" {
		text += "; run " + Line(run)
	}
	line := Spans{{s, Ended(*l.End)}, {Dim, text + ")"}}
	if reason := strings.TrimSpace(l.End.Reason); bad && reason != "" && reason != told {
		line = append(line, Span{Plain, ": " + Text(Indent(reason, "  "))})
	}
	return line
}

// calls counts the actions of a loop that are calls of tools.
func calls(l *timeline.Loop) (n int) {
	for _, a := range l.Actions() {
		if !a.IsError() {
			n++
		}
	}
	return n
}
