package packet

import "github.com/bothyd/bothy/sdk"

// unknownsPart is what is still to be found out.
var unknownsPart = list("unknowns", 150, func(_ *sdk.Prompt, r *sdk.Row) *sdk.Shown {
	if r.Category != sdk.CategoryUnknown {
		return nil
	}
	return atLevel(r)
})
