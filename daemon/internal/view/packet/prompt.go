package packet

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// promptPart is the prompt of the loop, in front of all that the turns of the loop change. One that is archived is not there.
var promptPart = part{
	name: "prompt", priority: 30, says: true,
	text: func(p *sdk.Prompt, f *figures) string {
		var b strings.Builder
		for _, r := range p.Rows {
			if isPrompt(p, r) {
				b.WriteString("<prompt" + f.attributes() + strings.TrimPrefix(atLevel(r).Text, "<prompt"))
			}
		}
		return b.String()
	},
}

// isEarlier reports whether a row is the prompt of a loop before that of the turn.
func isEarlier(p *sdk.Prompt, r *sdk.Row) bool {
	return r.Category == sdk.CategoryPrompt && r.Loop != p.Loop.ID
}

// isPrompt reports whether a row is the prompt of the turn's loop.
func isPrompt(p *sdk.Prompt, r *sdk.Row) bool {
	return r.Category == sdk.CategoryPrompt && r.Loop == p.Loop.ID
}
