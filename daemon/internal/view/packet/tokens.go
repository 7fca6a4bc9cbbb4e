package packet

import (
	"fmt"
	"math"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// figures are what a packet costs, in tokens of its model: system is what no level changes outside of the user message.
type figures struct {
	*sums
	usage, ceiling int
	system         int
	characters     int // of the user message
	raw            int // usage, uncalibrated
	padding        int // characters of the budget that say nothing
}

// sums are those of the rows of a packet: floor is what its entries cost at the level summarized, and premium what the visible ones
// cost beside it.
type sums struct {
	rows []*sdk.Row // that were summed up
	loop int64      // whose packet it is

	floor, premium      int
	visible, summarized int // entries
	summaries           int // what the summarized ones cost
	schemes             map[string]spent
	lists               [numberOfParts]int // the characters of the sections that are lists, by part
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
// of the text that says them. Where no number is, since one token more has a digit less that is free, the budget is padded up to it.
func (k *Packet) figures(p *sdk.Prompt) *figures {
	ratio := k.Ratio(*p)
	f := &figures{sums: k.sums(p), ceiling: p.Ceiling}
	fixed := k.extra(p)
	for _, n := range f.lists {
		fixed += between(n)
	}
	system, media := systemTokens(p), mediaTokens(p)
	f.system = view.Scaled(system, ratio)
	for range 8 { // raw grows with each, and by digits alone from the second on
		f.characters = fixed
		for _, x := range parts {
			if x.which == nil {
				f.characters += between(view.Characters(x.text(p, f)))
			}
		}
		f.characters = max(f.characters-1, 0)
		raw := system + tokensOf(f.characters) + media
		switch {
		case raw == f.raw:
			return f
		case raw < f.raw:
			f.padding += (f.raw - raw) * charactersPerToken
			continue
		}
		f.raw = raw
		f.usage = view.Scaled(raw, ratio)
	}
	return f
}

// sums are those of the rows of a prompt, which are summed up once.
func (k *Packet) sums(p *sdk.Prompt) *sums {
	c := k.cache(p.Run)
	if s := c.sums.Load(); s != nil && s.loop == p.Loop.ID && sameRows(s.rows, p.Rows) {
		return s
	}
	s := &sums{rows: p.Rows, loop: p.Loop.ID, schemes: map[string]spent{}}
	for _, r := range p.Rows {
		s.add(p, r)
	}
	for i, n := range s.lists {
		if n > 0 {
			begin, end := around(parts[i].name)
			s.lists[i] = len(begin) + n + len(end)
		}
	}
	c.sums.Store(s)
	return s
}

func sameRows(a, b []*sdk.Row) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (s *sums) add(p *sdk.Prompt, r *sdk.Row) {
	for i := range parts {
		if parts[i].which != nil {
			if shown := parts[i].which(p, r); shown != nil {
				s.lists[i] += shown.Characters
			}
		}
	}
	s.floor += r.Tokens.Summary
	if !r.IsVisible() {
		s.summarized++
		s.summaries += r.Tokens.Summary
		return
	}
	s.visible++
	s.premium += r.Tokens.Difference
	of := s.schemes[r.Scheme]
	s.schemes[r.Scheme] = spent{of.visible + 1, of.tokens + r.Tokens.Difference}
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
// has reported in the run so far.
func (k *Packet) Estimate(p sdk.Prompt) int {
	return view.Scaled(k.promptTokens(&p), k.Ratio(p))
}

// Ratio is what the server of a prompt's model counted in its run for each token of an estimate, as the last answer of that model
// says: the packet has its own figures in it, and is to be the same whoever makes it.
func (k *Packet) Ratio(p sdk.Prompt) float64 {
	if k.ratio > 0 {
		return k.ratio
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c, is := k.runs[p.Run.ID]; is {
		if ratio := math.Float64frombits(c.ratio.Load()); ratio > 0 {
			return ratio
		}
	}
	return 1
}

// Calibrate has all estimates of a view that renders an old turn be by the ratio of then.
func (k *Packet) Calibrate(_ string, ratio float64) { k.ratio = ratio }

// Observe calibrates the estimates of a run by what a server reported for a prompt that was sent as it is here, and returns the ratio,
// which belongs to the answer; 0 is that it is as before.
func (k *Packet) Observe(p sdk.Prompt, usage sdk.Usage) float64 {
	ratio := view.Counted(k.promptTokens(&p), usage)
	if ratio > 0 {
		k.cache(p.Run).ratio.Store(math.Float64bits(ratio))
	}
	return ratio
}

func (k *Packet) promptTokens(p *sdk.Prompt) int {
	return systemTokens(p) + tokensOf(k.characters(p.Messages)) + mediaTokens(p)
}

// characters are those of messages put together.
func (k *Packet) characters(messages []sdk.Message) (n int) {
	for i := range messages {
		n += between(k.counted.of(messages[i].Text))
	}
	return max(n-1, 0)
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
