package model

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// redact is a request as a model gets it: no text in it holds a secret,
// wherever it came from. It is a copy; what the run has in memory stays.
func redact(r Redactor, req sdk.Request) sdk.Request {
	req.Messages = slices.Clone(req.Messages)
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Text, m.Reasoning = r.Redact(m.Text), r.Redact(m.Reasoning)
		m.CallID, m.Tool = r.Redact(m.CallID), r.Redact(m.Tool)
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			c := &m.Calls[j]
			c.ID, c.Tool, c.Arguments = r.Redact(c.ID), r.Redact(c.Tool), r.Text(c.Arguments)
		}
		if m.Extra != nil {
			m.Extra = r.JSON(m.Extra)
		}
	}
	req.Tools = slices.Clone(req.Tools)
	for i := range req.Tools {
		t := &req.Tools[i]
		t.Description, t.Parameters = r.Redact(t.Description), r.JSON(t.Parameters)
	}
	return req
}
