package audit

import "github.com/bothyd/bothy/sdk"

// personLines are those of a row in which an action was put before a person, or
// got that person's answer; an edit may be both.
func (r *Runlogs) personLines(row sdk.JournalRow, c sdk.EntryChange, at sdk.Action) []line {
	var lines []line
	about := func() payload {
		return payload{"path": row.Path, "tool": toolOf(row.Path)}
	}
	if at.Answer != nil {
		p := about()
		p["answer"], p["by"] = at.Answer.Answer, at.Answer.By
		if at.Answer.Reason != "" {
			p["reason"] = at.Answer.Reason
		}
		if at.Answer.Runs != "" {
			p["runs"] = at.Answer.Runs
		}
		if at.Answer.Channel != "" {
			p["channel"], p["from"] = at.Answer.Channel, at.Answer.From
		}
		if at.Answer.Rule != "" {
			p["rule"] = at.Answer.Rule
		}
		lines = append(lines, r.newLine(row, kindAnswered, p))
	}
	if c.State == sdk.StateProposed && at.Proposal != nil {
		p := about()
		p.members(encodeJSON(at.Proposal))
		lines = append(lines, r.newLine(row, kindProposed, p))
	}
	return lines
}
