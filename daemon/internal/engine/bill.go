package engine

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// bill makes the bill of a request, which a view counts. Answer is its max_tokens; 0 is none.
func bill(view Assembler, price *sdk.Price, p sdk.Prompt, answer int) guard.Bill {
	b := guard.Bill{Price: price, Answer: cmp.Or(answer, guard.AnswerTokens)}
	if price != nil { // counting costs time
		b.Prompt = view.Estimate(p)
	}
	return b
}

// billOf is the bill of a loop's own request.
func (e *Engine) billOf(a *activeLoop, p sdk.Prompt) guard.Bill {
	return bill(e.viewOf(a), a.choice.Price, p, cmp.Or(a.agent.MaxTokens, a.choice.MaxTokens))
}

// written counts what came of an answer, in tokens.
func (e *Engine) written(a *activeLoop, c sdk.Completion) int {
	if !came(c) {
		return 0
	}
	return e.viewOf(a).Estimate(sdk.Prompt{Run: a.run, Model: a.choice.Alias, Messages: []sdk.Message{{Role: sdk.RoleAssistant, Text: c.Text + c.Reasoning, Calls: c.Calls}}})
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
