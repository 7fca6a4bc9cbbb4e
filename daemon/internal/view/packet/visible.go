package packet

import "github.com/bothyd/bothy/sdk"

// visiblePart is what is worked with: each visible entry of data, whole.
var visiblePart = list("visible", 75, func(_ *sdk.Prompt, r *sdk.Row) *sdk.Shown {
	if r.Category != sdk.CategoryData || !r.IsVisible() {
		return nil
	}
	return &r.Visible
})
