package packet

import (
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// figures are what a packet costs, in tokens of its model: floor is what its entries cost at the level summarized, premium what
// the visible ones cost beside it, and system what no level changes outside of the user message.
type figures struct {
	usage, ceiling      int
	floor, premium      int
	system              int
	visible, summarized int // entries
	summaries           int // what the summarized ones cost
	schemes             map[string]spent
	characters          int // of the user message
	raw                 int // usage, uncalibrated
}

// spent is what the visible entries of a scheme cost beside their summaries.
type spent struct{ visible, tokens int }

// free is what may still come; below 0 too much is there. 0 where the ceiling is unknown.
func (f *figures) free() int {
	if f.ceiling <= 0 {
		return 0
	}
	return f.ceiling - f.usage
}

// attributes are what the prompt and the budget say of the whole, at both ends of the user message.
func (f *figures) attributes() string {
	if f.ceiling <= 0 {
		return fmt.Sprintf(` tokenUsage="%d"`, f.usage)
	}
	return fmt.Sprintf(` tokenUsage="%d" tokensFree="%d"`, f.usage, f.free())
}

// share is tokens as a part of the ceiling.
func (f *figures) share(tokens int) string {
	if f.ceiling <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", (tokens*100+f.ceiling/2)/f.ceiling)
}

// figures counts the packet that the parts write of a prompt, which has these figures in it: they are counted until they are those
// of the text that says them.
func (k *Packet) figures(p *sdk.Prompt) *figures {
	ratio := k.ratios.Of(p.Model)
	f := &figures{ceiling: p.Ceiling, schemes: map[string]spent{}}
	fixed := k.extra(p) + f.add(p)
	f.system = view.Scaled(systemTokens(p), ratio)
	for range 5 {
		f.characters = fixed
		for _, x := range parts {
			if x.which == nil {
				f.characters += between(view.Characters(x.text(p, f)))
			}
		}
		f.characters = max(f.characters-1, 0)
		f.raw = systemTokens(p) + tokensOf(f.characters) + mediaTokens(p)
		usage := view.Scaled(f.raw, ratio)
		if usage == f.usage {
			break
		}
		f.usage = usage
	}
	return f
}

// add counts the rows, and returns how many characters the lists of them have, each with the line end behind it.
func (f *figures) add(p *sdk.Prompt) (characters int) {
	lists := make([]int, len(parts))
	for i := range p.Rows {
		r := &p.Rows[i]
		for j := range parts {
			if parts[j].which != nil {
				if s := parts[j].which(p, r); s != nil {
					lists[j] += s.Characters
				}
			}
		}
		f.floor += r.Tokens.Summary
		if !r.IsVisible() {
			f.summarized++
			f.summaries += r.Tokens.Summary
			continue
		}
		f.visible++
		f.premium += r.Tokens.Difference
		s := f.schemes[r.Scheme]
		f.schemes[r.Scheme] = spent{s.visible + 1, s.tokens + r.Tokens.Difference}
	}
	for j, n := range lists {
		if n > 0 {
			begin, end := around(parts[j].name)
			characters += len(begin) + n + len(end) + 1
		}
	}
	return characters
}

// between counts a section with the line end behind it.
func between(characters int) int {
	if characters == 0 {
		return 0
	}
	return characters + 1
}

// estimate is what a prompt costs when the parts have written it.
func (k *Packet) estimate(p *sdk.Prompt) int { return k.figures(p).usage }

// Estimate counts a prompt in tokens, as it is: its characters divided by two, rounded up, calibrated by what the model's server
// has reported so far.
func (k *Packet) Estimate(p sdk.Prompt) int {
	return view.Scaled(promptTokens(&p), k.ratios.Of(p.Model))
}

// Ratio is what the server of a model counted for each token of an estimate.
func (k *Packet) Ratio(model string) float64 { return k.ratios.Of(model) }

// Calibrate has the estimates of a model be by a ratio that was observed before.
func (k *Packet) Calibrate(model string, ratio float64) { k.ratios.Set(model, ratio) }

// Observe calibrates the estimate of a model by what its server reported for a prompt that was sent as it is here.
func (k *Packet) Observe(p sdk.Prompt, usage sdk.Usage) {
	k.ratios.Observe(p.Model, promptTokens(&p), usage)
}

func promptTokens(p *sdk.Prompt) int {
	characters := 0
	for i := range p.Messages {
		characters += between(view.Characters(p.Messages[i].Text))
	}
	return systemTokens(p) + tokensOf(max(characters-1, 0)) + mediaTokens(p)
}

// systemTokens is the system text and the tools that are sent beside it.
func systemTokens(p *sdk.Prompt) int {
	characters := view.Characters(p.System)
	for i := range p.Tools {
		spec := &p.Tools[i].ToolSpec
		characters += view.Characters(spec.Name) + view.Characters(spec.Description) + len(spec.Parameters)
	}
	return tokensOf(characters)
}

func mediaTokens(p *sdk.Prompt) (n int) {
	for i := range p.Messages {
		for j := range p.Messages[i].Media {
			n += view.MediumTokens(&p.Messages[i].Media[j])
		}
	}
	return n
}
