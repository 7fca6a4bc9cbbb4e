package packet

import "github.com/bothyd/bothy/sdk"

// summaryPart is what there is: the summary of each entry of data, whether it is visible or not. It grows where a new one comes,
// and stays where one is promoted or demoted.
var summaryPart = list("summary", 50, func(_ *sdk.Prompt, r *sdk.Row) *sdk.Shown {
	if r.Category != sdk.CategoryData {
		return nil
	}
	return &r.Summary
})
