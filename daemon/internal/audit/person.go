package audit

import "github.com/bothyd/bothy/sdk"

// personLines are those of a row in which an action was put before a person, or
// got that person's answer; an edit may be both.
func (r *Runlogs) personLines(row sdk.JournalRow, c sdk.EntryChange, at sdk.Action) []line {
	var lines []line
	about := func() payload {
		return payload{"path": r.cfg.Redact(row.Path), "tool": r.cfg.Redact(toolOf(row.Path))}
	}
	if at.Answer != nil {
		p := about()
		p["answer"] = at.Answer.Answer
		p.text("by", at.Answer.By, r.cfg.Redact)
		if at.Answer.Reason != "" {
			p.text("reason", at.Answer.Reason, r.cfg.Redact)
		}
		if at.Answer.Rule != "" {
			p["rule"] = at.Answer.Rule
		}
		lines = append(lines, newLine(row, kindAnswered, p))
	}
	if c.State == sdk.StateProposed && at.Proposal != nil {
		p := about()
		p.members(encodeJSON(at.Proposal), r.cfg.Redact)
		lines = append(lines, newLine(row, kindProposed, p))
	}
	return lines
}
