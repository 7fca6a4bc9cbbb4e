package show

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Explanation is what was decided about an action, by which rule, and what would be
// decided now.
func Explanation(x rpc.Explained, width int) []Spans {
	d := details{width: width}
	d.row(Spans{{Plain, fmt.Sprintf("%s of run %s", ExactLine(x.Path), ExactLine(x.Run))}})
	d.fact("tool", x.Tool)
	d.decision("decided", x.Decision)
	d.host(x.Decision)
	if x.Answer != "" {
		by := string(x.Answer)
		if x.AnsweredBy != "" {
			by += ", by " + x.AnsweredBy
		}
		d.fact("answered", by)
	}
	status := fmt.Sprintf("%d, %s", x.Status, Status(x.Status))
	if x.Outcome != "" {
		status += " (" + string(x.Outcome) + ")"
	}
	d.fact("it is", status)
	d.commands(x.Decision.Commands)
	if x.Now != nil {
		d.decision("now", *x.Now)
		d.host(*x.Now)
		d.commands(x.Now.Commands)
	}
	if x.Command != "" {
		d.command(x.Command, "the command")
	} else if len(x.Arguments) > 0 {
		d.block("arguments", Readable(x.Arguments))
	}
	return d.lines
}

// decision is a verdict with the rule that gave it.
func (d *details) decision(name string, by sdk.Decision) {
	rule := strings.TrimSuffix(by.Rule+", "+by.Source, ", ")
	text := fmt.Sprintf("%s by rule %s: %s", by.Verdict, rule, by.Reason)
	if by.Violation != "" {
		text += " (a security event: " + by.Violation + ")"
	}
	d.fact(name, text)
}

// host is that of the address which a call names, and what follows when it is all that let the call pass.
func (d *details) host(by sdk.Decision) {
	text := by.Host
	if by.SameHost {
		text += ", by which alone it passed: a redirect to another host is not followed"
	}
	d.fact("host", text)
}
