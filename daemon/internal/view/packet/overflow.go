package packet

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostNamed is how many of the entries that were demoted are named to the model.
const mostNamed = 30

// writes are the demotions, and what tells the model of each descent: an entry with the status 413, which it reads in the turn
// after, since in this one it would be one more thing that does not fit.
func writes(p *sdk.Prompt, turn int, all []descent) (out []sdk.Write) {
	for i := range all {
		d := &all[i]
		for _, x := range d.rows {
			out = append(out, sdk.Write{Path: x.path, Look: true, Visibility: sdk.Summarized, Writer: sdk.WriterSystem, Loop: p.Loop.ID, Turn: turn})
		}
		text := d.text(p.Ceiling)
		out = append(out, sdk.Write{
			Path: sdk.ActionPath{Turn: turn, Tool: sdk.ErrorTool, Slug: d.slug}.String(), Body: &text, Writer: sdk.WriterSystem,
			State: sdk.StateFailed, Outcome: sdk.Overflow, Loop: p.Loop.ID, Turn: turn,
		})
	}
	return out
}

// text says to the model what became of what it saw, and what to do about it.
func (d *descent) text(ceiling int) string {
	what := map[string]string{
		slugDemoted: "what the turn before brought into sight was demoted to summaries",
		slugPrompts: "earlier prompts were demoted to their beginnings, and their images left out",
		slugPrompt:  "the prompt was demoted to its beginning",
		slugAfter:   "what this turn brought into sight was demoted to summaries",
	}[d.slug]
	return fmt.Sprintf("The packet had about %d tokens, %d more than the %d that fit, so %s: %s. Promote with get what you need, or read some lines of it with line and limit, and archive what you need no more.",
		d.before, d.before-ceiling, ceiling, what, d.named())
}

// named are the rows that were demoted, as far as they are few.
func (d *descent) named() string {
	names := make([]string, 0, len(d.rows))
	for _, x := range d.rows[:min(len(d.rows), mostNamed)] {
		names = append(names, fmt.Sprintf("%s (%d)", x.path, x.tokens))
	}
	if more := len(d.rows) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	entries := "1 entry"
	if len(d.rows) > 1 {
		entries = fmt.Sprintf("%d entries", len(d.rows))
	}
	return fmt.Sprintf("%s, which frees %d tokens: %s", entries, d.freed(), strings.Join(names, ", "))
}

// overflow is the end of a prompt that does not fit, whatever is demoted.
func overflow(p *sdk.Prompt, all []descent) error {
	before := ""
	if tokens := mediaTokens(p); tokens > 0 {
		before = fmt.Sprintf(" The images of the prompt, which stay with it, are %d of them: give it fewer or smaller ones.", tokens)
	}
	for i := range all {
		before += fmt.Sprintf(" Demoted already: %s.", all[i].named())
	}
	return sdk.Errorf(sdk.Overflow,
		"the packet needs about %d tokens, %d more than the %d that fit model %s, and nothing else of it can be demoted: shorten the prompt or the project's instructions, archive entries, offer fewer tools, or choose a model with a larger context.%s",
		p.Tokens, p.Tokens-p.Ceiling, p.Ceiling, p.Model, before)
}
