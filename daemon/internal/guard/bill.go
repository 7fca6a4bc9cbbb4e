package guard

import "github.com/bothyd/bothy/sdk"

// AnswerTokens is how long an answer is counted for that nothing bounds.
const AnswerTokens = 4096

// Bill is what one request to a model may cost at most, and what its answer cost
// (ADR 0066).
type Bill struct {
	Price  *sdk.Price // nil is unknown
	Prompt int        // tokens, as they are counted here
	Answer int        // tokens, at most
}

// Most is what the request may cost; nil is unknown.
func (b Bill) Most() *float64 {
	if b.Price == nil {
		return nil
	}
	cost := max(
		b.Price.Of(sdk.Usage{Prompt: b.Prompt, Completion: b.Answer}),
		b.Price.Of(sdk.Usage{Prompt: b.Prompt, Cached: b.Prompt, Completion: b.Answer}), // a price may be written so
	)
	return &cost
}

// Settle is the usage of an answer with what it cost. What the provider reported goes
// first. Where the price is known and the server told nothing, or what cannot be true,
// the most counts that the request could cost. Written is the tokens of what came, as
// they are counted here.
func (b Bill) Settle(told *sdk.Usage, written int) *sdk.Usage {
	switch {
	case b.Price == nil || told != nil && told.Cost != nil:
		return told
	case believable(told, written), told != nil && b.Price.Free(): // which costs nothing, whatever was told
		u := *told
		cost := b.Price.Of(u)
		u.Cost = &cost
		return &u
	}
	return &sdk.Usage{Prompt: b.Prompt, Completion: written, Total: b.Prompt + written, Cost: b.Most(), Estimated: true}
}

// believable reports whether a server told what its answer can have used: a prompt has
// tokens, and so has an answer.
func believable(u *sdk.Usage, written int) bool {
	return u != nil && u.Prompt > 0 && u.Cached <= u.Prompt && (u.Completion > 0 || written == 0)
}
