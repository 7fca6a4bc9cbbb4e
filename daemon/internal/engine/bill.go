package engine

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/sdk"
)

// answerTokens is how long an answer is counted for that nothing bounds.
const answerTokens = 4096

// bill is what one request to a model may cost at most, and what its answer cost
// (ADR 0066).
type bill struct {
	price  *sdk.Price // nil is unknown
	prompt int        // tokens, as they are counted here
	answer int        // tokens, at most
}

// bill makes the bill of a request. Answer is its max_tokens; 0 is none.
func (e *Engine) bill(price *sdk.Price, p sdk.Prompt, answer int) bill {
	b := bill{price: price, answer: cmp.Or(answer, answerTokens)}
	if price != nil { // counting costs time
		b.prompt = e.cfg.View.Estimate(p)
	}
	return b
}

// billOf is the bill of a loop's own request.
func (e *Engine) billOf(a *activeLoop, p sdk.Prompt) bill {
	return e.bill(a.choice.Price, p, cmp.Or(a.agent.MaxTokens, a.choice.MaxTokens))
}

// most is what the request may cost; nil is unknown.
func (b bill) most() *float64 {
	if b.price == nil {
		return nil
	}
	cost := max(
		b.price.Of(sdk.Usage{Prompt: b.prompt, Completion: b.answer}),
		b.price.Of(sdk.Usage{Prompt: b.prompt, Cached: b.prompt, Completion: b.answer}), // a price may be written so
	)
	return &cost
}

// settle is the usage of an answer with what it cost. What the provider reported goes
// first. Where the price is known and the server told nothing, or what cannot be true,
// the most counts that the request could cost. Written is the tokens of what came, as
// they are counted here.
func (b bill) settle(told *sdk.Usage, written int) *sdk.Usage {
	switch {
	case b.price == nil || told != nil && told.Cost != nil:
		return told
	case believable(told, written), told != nil && b.price.Free(): // which costs nothing, whatever was told
		u := *told
		cost := b.price.Of(u)
		u.Cost = &cost
		return &u
	}
	return &sdk.Usage{Prompt: b.prompt, Completion: written, Total: b.prompt + written, Cost: b.most(), Estimated: true}
}

// believable reports whether a server told what its answer can have used: a prompt has
// tokens, and so has an answer.
func believable(u *sdk.Usage, written int) bool {
	return u != nil && u.Prompt > 0 && u.Cached <= u.Prompt && (u.Completion > 0 || written == 0)
}

// written counts what came of an answer, in tokens.
func (e *Engine) written(a *activeLoop, c sdk.Completion) int {
	if !came(c) {
		return 0
	}
	return e.cfg.View.Estimate(sdk.Prompt{Model: a.choice.Alias, Messages: []sdk.Message{{Role: sdk.RoleAssistant, Text: c.Text + c.Reasoning, Calls: c.Calls}}})
}

// price looks for the price of a model where a limit on cost needs it: a provider on
// the network is asked for its list.
func (e *Engine) price(ctx context.Context, loop int64, c *sdk.ModelChoice) {
	if c.Price == nil && e.guards.Limited(loop) {
		c.Price = e.cfg.Models.ListedPrice(ctx, *c)
	}
}

// requested is a plugin's request, to be counted like a prompt.
func requested(req sdk.Request) sdk.Prompt {
	p := sdk.Prompt{Messages: req.Messages}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	return p
}
