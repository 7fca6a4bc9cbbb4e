package show

import (
	"strings"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Model is what one chooses a model by, beside its name; empty where nothing is known.
func Model(m rpc.Model) string {
	var parts []string
	if m.ContextLength > 0 {
		parts = append(parts, Thousands(m.ContextLength)+" tokens")
	}
	if m.Local {
		parts = append(parts, "on this machine")
	}
	if m.Tools != nil && !*m.Tools {
		parts = append(parts, "calls no tools")
	}
	return strings.Join(parts, ", ")
}
