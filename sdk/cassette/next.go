package cassette

import (
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Next returns step n, counted from 0, which answers a request whose steps before n were
// answered by this cassette. Only what is new in the request is compared: the messages
// behind the last of an assistant. So a conversation that went on before the first step
// does not count, nor does what was left out since to make the prompt fit.
func (c *Cassette) Next(n int, messages []sdk.Message) (Step, *Difference) {
	fresh := fresh(messages, n == 0)
	at := func(d *Difference) *Difference {
		d.Where = fmt.Sprintf("step %d, %s", n+1, d.Where)
		return d
	}
	if n >= len(c.Steps) {
		got := "one more request"
		if len(fresh) > 0 {
			got = describe(fresh[len(fresh)-1])
		}
		return Step{}, at(&Difference{Where: "the end of the conversation", Expected: fmt.Sprintf("nothing: the cassette ends after %d steps", len(c.Steps)), Got: got})
	}
	s := c.Steps[n]
	for i, e := range s.Request {
		if e.Role == sdk.RoleTool && i < len(fresh) && fresh[i].Role == sdk.RoleTool {
			fresh[i].Tool = e.Tool // the cassette made the call; a conversation may write its name in another way
		}
		if d := compare(e, fresh, i); d != nil {
			return Step{}, at(d)
		}
	}
	if more := len(s.Request); more < len(fresh) {
		return Step{}, at(&Difference{Where: place(more, fresh[more].Role), Expected: "nothing more: it is the model's turn", Got: describe(fresh[more])})
	}
	return s, nil
}

// fresh is a copy of what is new in a request. Of the first one it is what the user
// says: results in front of it are of calls that were made before.
func fresh(messages []sdk.Message, first bool) []sdk.Message {
	at := len(messages)
	for at > 0 && messages[at-1].Role != sdk.RoleAssistant {
		at--
	}
	var out []sdk.Message
	for _, m := range messages[at:] {
		if m.Role == sdk.RoleSystem || first && len(out) == 0 && m.Role == sdk.RoleTool {
			continue
		}
		out = append(out, m)
	}
	return out
}
