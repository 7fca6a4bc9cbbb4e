package packet

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// rung is a step by which a packet gets shorter: the rows that it demotes.
type rung struct {
	slug  string // of what tells of it
	which func(p *sdk.Prompt, r *sdk.Row) bool
}

// rungs are what is demoted of a packet that does not fit, in this order, until it does: what the turn before brought into sight,
// first what went well, since a failure is worth more to a model than its length; then earlier prompts, with their images; then the
// summary of what was said, since it is all that is left of that; then the prompt.
var rungs = []rung{
	{slugDemoted, func(p *sdk.Prompt, r *sdk.Row) bool { return ofTurn(p, r, p.Turn-1) && !wentWrong(r) }},
	{slugDemoted, func(p *sdk.Prompt, r *sdk.Row) bool { return ofTurn(p, r, p.Turn-1) }},
	{slugPrompts, isEarlier},
	{slugDemoted, func(_ *sdk.Prompt, r *sdk.Row) bool { return isSummary(r) }},
	{slugPrompt, isPrompt},
}

// The slugs of log://turn_N/error/... that tell of a packet that did not fit.
const (
	slugDemoted = "demoted"
	slugPrompts = "demoted_prompts" // of earlier loops
	slugPrompt  = "demoted_prompt"
	slugAfter   = "demoted_after" // of the turn that made it so
)

// ofTurn reports whether a row is what a turn wrote or promoted. The prompt is not, whenever it was given, nor is a summary.
func ofTurn(p *sdk.Prompt, r *sdk.Row, turn int) bool {
	return r.Turn == turn && !isPrompt(p, r) && !isSummary(r)
}

func isSummary(r *sdk.Row) bool { return r.Scheme == sdk.SummaryScheme }

func wentWrong(r *sdk.Row) bool { return r.State == sdk.StateFailed || r.State == sdk.StateCancelled }

// descent is what was demoted by rungs of one slug, because the packet had so many tokens.
type descent struct {
	slug   string
	before int
	rows   []demotion
}

// demotion is a row that was demoted, and what that frees in tokens.
type demotion struct {
	path   string
	tokens int
}

// freed is what all of it frees.
func (d *descent) freed() (n int) {
	for _, x := range d.rows {
		n += x.tokens
	}
	return n
}

// climb demotes rows of a prompt, a rung after the other, until its Tokens are at most its Ceiling (0 is unknown), and returns what
// was demoted. measure is asked after each for the prompt as it is sent then, with its Tokens: whatever is estimated comes down as
// rows do. A prompt that does not fit at the end is returned as it is.
func climb(p sdk.Prompt, rungs []rung, measure func(sdk.Prompt, []descent) (sdk.Prompt, error)) (sdk.Prompt, []descent, error) {
	var all []descent
	for _, x := range rungs {
		if p.Ceiling <= 0 || p.Tokens <= p.Ceiling {
			break
		}
		rows, gone := demoted(&p, x)
		if gone == nil {
			continue
		}
		if n := len(all); n > 0 && all[n-1].slug == x.slug {
			all[n-1].rows = append(all[n-1].rows, gone...)
		} else {
			all = append(all, descent{x.slug, p.Tokens, gone})
		}
		p.Rows = rows
		var err error
		if p, err = measure(p, all); err != nil {
			return p, all, err
		}
	}
	return p, all, nil
}

// demoted are the rows of a prompt as a rung leaves them, and what it demotes, which is nothing of what that would free nothing. The
// rows of the prompt stay as they are.
func demoted(p *sdk.Prompt, x rung) (rows []*sdk.Row, gone []demotion) {
	rows = slices.Clone(p.Rows)
	for i, r := range rows {
		if r.IsVisible() && r.Tokens.Difference > 0 && x.which(p, r) {
			gone = append(gone, demotion{r.Path, r.Tokens.Difference})
			lower := *r
			lower.Visibility = sdk.Summarized
			rows[i] = &lower
		}
	}
	return rows, gone
}
