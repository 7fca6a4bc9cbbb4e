package show

import (
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Plural counts things: "1 turn", "2 turns".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Brief writes a time with the precision that a person needs.
func Brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// Going writes how long something takes that has not ended, in whole seconds, so that it
// counts: 5s, 1m05s, 1h02m.
func Going(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Thousands writes a number in thousands where it has ten of them or more: 9999, 12k.
func Thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// When writes a moment to the minute, in the zone of who reads it; nothing for none.
func When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Tokens writes usage for a person.
func Tokens(u sdk.Usage) string {
	text := fmt.Sprintf("%d tokens in", u.Prompt)
	if u.Estimated {
		text = "about " + text
	}
	if u.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", u.Cached)
	}
	return text + fmt.Sprintf(", %d out", u.Completion)
}

// Used writes usage with what it cost; nothing for none, and for an estimate of what costs
// nothing, which nobody needs.
func Used(u sdk.Usage) string {
	free := u.Cost == nil || *u.Cost <= 0
	if u.Prompt+u.Completion == 0 || u.Estimated && free {
		return ""
	}
	return Tokens(u) + Cost(u.Cost)
}

// Cost writes what was paid, behind other words and nothing when that is not known or
// nothing was. The currency is that of the prices in the configuration.
func Cost(c *float64) string {
	if c == nil || *c <= 0 {
		return ""
	}
	return ", cost " + Money(*c)
}

// Money writes an amount without its currency, which nobody tells.
func Money(c float64) string { return fmt.Sprintf("%.4g", c) }

// Price writes what a million tokens cost; nothing for what is free or not known.
func Price(p *sdk.Price) string {
	if p == nil || p.Free() {
		return ""
	}
	text := Money(p.Prompt) + " in"
	if p.Cached != nil {
		text += " (" + Money(*p.Cached) + " cached)"
	}
	return text + ", " + Money(p.Completion) + " out for a million tokens"
}

// Status says a status number of a run or a loop in words.
func Status(status int) string {
	switch status {
	case 0:
		return "new"
	case sdk.StatusQueued:
		return "queued"
	case sdk.StatusRunning:
		return "running"
	case sdk.StatusOK, sdk.StatusNoContent:
		return "finished"
	case sdk.StatusProposed:
		return "waits for an answer"
	case sdk.StatusAborted:
		return "aborted"
	default:
		return "failed"
	}
}

// Ended says how a loop ended, in a few words.
func Ended(end sdk.LoopEnd) string { return Line(sdk.StopText(end.Stop, end.Status)) }
