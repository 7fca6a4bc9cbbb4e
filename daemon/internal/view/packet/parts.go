package packet

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// part writes one section of a user message. A new one is a file of this package and a line of parts.
type part struct {
	name     string
	priority int
	// text is its section for a prompt with rows; empty is none. It is given figures where it says what the packet costs.
	text func(p *sdk.Prompt, f *figures) string
	says bool
	// which gives the element that a row has in a section that is a list of them, nil where it has none. Other sections have none
	// of it: they are short enough to be written to be counted.
	which func(p *sdk.Prompt, r *sdk.Row) *sdk.Shown
}

// parts are the sections in their order, which is that of how often they change, and has what a model must not lose sight of last.
var parts = [numberOfParts]part{promptPart, summaryPart, visiblePart, logPart, unknownsPart, instructionsPart, budgetPart}

const numberOfParts = 7

// subscribe has the parts write their sections, each as a message of its own, which Fit puts together: so whoever else listens at
// assembly.user may put a section of its own between them. They leave a prompt without rows alone. A part that fails denies the
// turn: no model is to take what is left for all that there is.
func (k *Packet) subscribe(chains *hook.Chains) {
	for i, x := range parts {
		chains.AssemblyUser.On(x.priority, "packet/"+x.name, true, func(ctx context.Context, p sdk.Prompt) (sdk.Prompt, error) {
			if p.Rows == nil {
				return p, nil
			}
			k := k.whoRenders(ctx)
			var f *figures
			if x.says {
				f = k.figures(&p)
			}
			text := x.text(&p, f)
			if x.which != nil {
				k.counted.add(text, k.sums(&p).lists[i])
			}
			if text != "" {
				p.Messages = append(p.Messages[:len(p.Messages):len(p.Messages)], sdk.Message{Role: sdk.RoleUser, Text: text})
			}
			return p, nil
		})
	}
}

// rendering is the key under which a context has the view that fits a prompt.
type rendering struct{}

// whoRenders is the view that fits the prompt, which counts it: the one that subscribed, or one beside it.
func (k *Packet) whoRenders(ctx context.Context) *Packet {
	if beside, is := ctx.Value(rendering{}).(*Packet); is {
		return beside
	}
	return k
}

// list is a part that has the elements of some rows, each on a line.
func list(name string, priority int, which func(p *sdk.Prompt, r *sdk.Row) *sdk.Shown) part {
	begin, end := around(name)
	return part{name: name, priority: priority, which: which, text: func(p *sdk.Prompt, _ *figures) string {
		bytes := 0
		for _, r := range p.Rows {
			if s := which(p, r); s != nil {
				bytes += len(s.Text) + 1
			}
		}
		if bytes == 0 {
			return ""
		}
		var b strings.Builder
		b.Grow(len(begin) + bytes + len(end))
		b.WriteString(begin)
		for _, r := range p.Rows {
			if s := which(p, r); s != nil {
				b.WriteString(s.Text)
				b.WriteByte('\n')
			}
		}
		b.WriteString(end)
		return b.String()
	}}
}

// around are the lines about a list.
func around(name string) (begin, end string) { return "<" + name + ">\n", "</" + name + ">" }

// atLevel is the element of a row at its level.
func atLevel(r *sdk.Row) *sdk.Shown {
	if r.IsVisible() {
		return &r.Visible
	}
	return &r.Summary
}
