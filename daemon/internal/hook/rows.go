package hook

import "github.com/bothyd/bothy/sdk"

// keepRows takes over all but the rows, which are the view's.
func keepRows(_ string, before, after sdk.Prompt) sdk.Prompt {
	after.Rows = before.Rows
	return after
}

// withoutRows is a prompt as those are told of it who do not write in a packet.
func withoutRows(_ string, p sdk.Prompt) sdk.Prompt {
	p.Rows = nil
	return p
}

// ownRows is a prompt as a plugin is told of it: of the entries of others it knows that they are there and what they cost, and not
// what stands in them. Attributes of what happened and of prompts are text as well: arguments, results, what a prompt stands for.
func (c *Chains) ownRows(owner string, p sdk.Prompt) sdk.Prompt {
	own, rows := make([]sdk.Row, len(p.Rows)), make([]*sdk.Row, len(p.Rows))
	for i := range p.Rows {
		r := &own[i]
		*r = *p.Rows[i]
		if c.Owns == nil || !c.Owns(owner, r.Scheme) {
			r.Visible.Text, r.Summary.Text = "", ""
			if r.Category == sdk.CategoryLogging || r.Category == sdk.CategoryPrompt {
				r.Attributes = nil
			}
		}
		rows[i] = r
	}
	if p.Rows = rows; len(rows) == 0 {
		p.Rows = nil
	}
	return p
}
