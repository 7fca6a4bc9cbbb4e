package view

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// What both views say alike.

// Characters counts those of a text.
func Characters(text string) int { return characters(text) }

// ResultLimit is the most of one result that a model with a context of so many tokens sees, in bytes.
func ResultLimit(context int) int { return resultLimit(context) }

// Shorten keeps head and tail of a text that is longer than limit bytes, and says where the whole of it is.
func Shorten(text string, limit int, where string) string { return shorten(text, limit, where) }

// Unhide is a text from outside without what people do not see and a model reads.
func Unhide(text string) string { return unhide(text) }

// Result is what came of a call that has ended, as far as a model sees it: what came from outside stands in a fence.
func Result(key string, e *sdk.Entry, a *sdk.Action, limit int) string {
	return shownResult(e, a, limit, e.Path, key)
}

// UnknownOutcome stands in the place of a result of a call that was interrupted.
const UnknownOutcome = unknownOutcome

// Summary is a summary of what was said, as a model reads it.
func Summary(e *sdk.Entry) string {
	var s sdk.Summary
	_ = json.Unmarshal(e.Attributes, &s) // what can be read of it is enough
	return summaryText(e.Body, s.Skills)
}

// Nested is what a model reads of the instructions of a folder that a call worked below.
func Nested(in sdk.Instructions) string { return nestedText(in) }

// Images are those of media that a model that takes inputs is shown, with their data, which images has by their paths, and
// lines about those that it is not.
func Images(media []sdk.Medium, images map[string]string, inputs []string) (shownTo []sdk.Medium, notes string) {
	if len(media) == 0 {
		return nil, ""
	}
	message := []sdk.Message{{Media: shown(media, images)}}
	fitMedia(message, sdk.TakesImages(inputs))
	return message[0].Media, message[0].Text
}

// MediumTokens is what an image counts as, in tokens.
func MediumTokens(m *sdk.Medium) int { return mediumTokens(m) }

// Facts is what the system text says about the environment and the instructions of the user and of the project. It is the same
// while these and the tools are.
func Facts(in *sdk.Assembly) string {
	var b strings.Builder
	environment(&b, in, "")
	agreed(&b, in)
	return strings.TrimRight(b.String(), "\n")
}
