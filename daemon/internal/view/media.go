package view

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// shown are the media of a prompt with their data, which the run's entries have by their paths.
func shown(media []sdk.Medium, images map[string]string) []sdk.Medium {
	if len(media) == 0 {
		return nil
	}
	all := make([]sdk.Medium, len(media)) // the cache's stay as they are
	for i, m := range media {
		m.Data = images[m.URI]
		all[i] = m
	}
	return all
}

// fitMedia leaves images out of messages: those that a model does not take, those that are not
// there any more, and the oldest where a request would be too large with them. A line says of
// each what it was.
func fitMedia(messages []sdk.Message, takes bool) {
	bytes, count := 0, 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		if len(m.Media) == 0 {
			continue
		}
		var kept []sdk.Medium
		notes := ""
		for n, x := range slices.Backward(m.Media) {
			why := ""
			switch {
			case !takes:
				why = "this model takes no images"
			case x.Data == "":
				why = "it is not kept any more"
			case count+1 > sdk.MaxMedia || bytes+len(x.Data) > sdk.MaxMediaBytes:
				why = "later ones fill what a request may have"
			}
			if why != "" {
				notes = fmt.Sprintf("\n\n[Image %d of these, %s, is not shown to you: %s.]", n+1, x, why) + notes
				continue
			}
			bytes, count = bytes+len(x.Data), count+1
			kept = append(kept, x)
		}
		slices.Reverse(kept)
		m.Media, m.Text = kept, m.Text+notes
	}
}

// Bounds of what an image counts as, in tokens. Servers make a larger one smaller, to about
// pixelsPerToken times mostMedium.
const (
	leastMedium    = 85
	mostMedium     = 1600
	pixelsPerToken = 750
)

func mediumTokens(m *sdk.Medium) int {
	if m.Width <= 0 || m.Height <= 0 {
		return mostMedium
	}
	return min(max(m.Width*m.Height/pixelsPerToken, leastMedium), mostMedium)
}
