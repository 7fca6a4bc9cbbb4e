package packet

import "github.com/bothyd/bothy/sdk"

// logPart is what happened: calls with what came of them, errors, updates, and the prompts before that of the loop.
var logPart = list("log", 100, func(p *sdk.Prompt, r *sdk.Row) *sdk.Shown {
	if r.Category == sdk.CategoryLogging || r.Category == sdk.CategoryPrompt && !isPrompt(p, r) {
		return atLevel(r)
	}
	return nil
})
