package show

import "github.com/bothyd/bothy/sdk"

// Forming says in a line which call a model is writing.
func Forming(f sdk.Forming) string {
	text := "writing a call of " + Line(f.Tool)
	if f.Target != "" {
		text += ": " + Line(f.Target)
	}
	return text
}
