package tags

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Offered are tools of the daemon as the reader is told of them. Those of the twelve are read as such, whatever their schemas say, since
// these say more than a schema can; any other by its schema.
func Offered(offered []sdk.Tool) []Tool {
	twelve := Twelve()
	all := make([]Tool, 0, len(offered))
	for _, t := range offered {
		known := slices.IndexFunc(twelve, func(one Tool) bool { return one.Name == t.Name })
		if known >= 0 && (t.Plugin == sdk.OwnPlugin || t.Runs != "") {
			all = append(all, twelve[known])
			continue
		}
		one := Tool{Name: t.Name, Parameters: t.Parameters, Body: t.Body}
		if t.Body != "" && t.Body == t.Command {
			one.Markers = HereDocuments
		}
		all = append(all, one)
	}
	return all
}
