package packet

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// part writes one section of a user message. A new one is a file of this package and a line of parts.
type part struct {
	name     string
	priority int
	// text is its section for a prompt with rows, which the figures are of; empty is none.
	text func(p *sdk.Prompt, f *figures) string
	// characters counts text without writing it.
	characters func(p *sdk.Prompt, f *figures) int
}

// parts are the sections in their order, which is that of how often they change, and has what a model must not lose sight of last.
var parts = []part{promptPart, summaryPart, visiblePart, logPart, unknownsPart, instructionsPart, budgetPart}

// subscribe has the parts write their sections, each as a message of its own, which Fit puts together: so whoever else listens at
// assembly.user may put a section of its own between them. They leave a prompt without rows alone. A part that fails denies the
// turn: no model is to take what is left for all that there is.
func (k *Packet) subscribe(chains *hook.Chains) {
	for _, x := range parts {
		chains.AssemblyUser.On(x.priority, "packet/"+x.name, true, func(_ context.Context, p sdk.Prompt) (sdk.Prompt, error) {
			if p.Rows == nil {
				return p, nil
			}
			if text := x.text(&p, k.figures(&p)); text != "" {
				p.Messages = append(p.Messages[:len(p.Messages):len(p.Messages)], sdk.Message{Role: sdk.RoleUser, Text: text})
			}
			return p, nil
		})
	}
}

// list is a part that has the elements of some rows, each on a line. Which gives the one that a row has there, and nil where it has
// none.
func list(name string, priority int, which func(p *sdk.Prompt, r *sdk.Row) *sdk.Shown) part {
	begin, end := "<"+name+">\n", "</"+name+">"
	count := func(p *sdk.Prompt) (characters, bytes int) {
		for i := range p.Rows {
			if s := which(p, &p.Rows[i]); s != nil {
				characters, bytes = characters+s.Characters, bytes+len(s.Text)+1
			}
		}
		if bytes > 0 {
			characters, bytes = characters+len(begin)+len(end), bytes+len(begin)+len(end)
		}
		return characters, bytes
	}
	return part{
		name: name, priority: priority,
		characters: func(p *sdk.Prompt, _ *figures) int {
			n, _ := count(p)
			return n
		},
		text: func(p *sdk.Prompt, _ *figures) string {
			_, bytes := count(p)
			if bytes == 0 {
				return ""
			}
			var b strings.Builder
			b.Grow(bytes)
			b.WriteString(begin)
			for i := range p.Rows {
				if s := which(p, &p.Rows[i]); s != nil {
					b.WriteString(s.Text)
					b.WriteByte('\n')
				}
			}
			b.WriteString(end)
			return b.String()
		},
	}
}

// atLevel is the element of a row at its level.
func atLevel(r *sdk.Row) *sdk.Shown {
	if r.IsVisible() {
		return &r.Visible
	}
	return &r.Summary
}

// counted is a part whose text is short enough to be written to be counted.
func counted(name string, priority int, text func(p *sdk.Prompt, f *figures) string) part {
	return part{name: name, priority: priority, text: text, characters: func(p *sdk.Prompt, f *figures) int { return view.Characters(text(p, f)) }}
}
