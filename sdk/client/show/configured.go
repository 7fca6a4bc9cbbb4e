package show

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// configured tells what of a run's configuration became another. A persona is told by
// its name alone: the row has its hash.
func configured(data json.RawMessage) string {
	var changed map[string]any
	if json.Unmarshal(data, &changed) != nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		word := strings.ReplaceAll(name, "_", " ")
		switch value := changed[name]; {
		case name == "persona":
			parts = append(parts, word)
		case value == nil:
			parts = append(parts, word+" its agent's")
		default:
			parts = append(parts, fmt.Sprintf("%s %v", word, value))
		}
	}
	return strings.Join(parts, ", ")
}
