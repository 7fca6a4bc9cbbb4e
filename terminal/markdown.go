package main

import (
	"os"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/styles"
)

// markdown renders texts of the model. It is made anew when the width changes.
type markdown struct {
	width    int
	renderer *glamour.TermRenderer
}

// render draws a text in a width. What cannot be drawn is shown as it is.
func (m *markdown) render(text string, width int, dark bool) string {
	text = harmless(text)
	if m.renderer == nil || m.width != width {
		style := styles.LightStyleConfig
		switch {
		case os.Getenv("NO_COLOR") != "":
			style = styles.ASCIIStyleConfig
		case dark:
			style = styles.DarkStyleConfig
		}
		style.Document.Margin, style.Document.BlockPrefix, style.Document.BlockSuffix = nil, "", ""
		r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithWordWrap(max(width, 20)))
		if err != nil {
			return text
		}
		m.renderer, m.width = r, width
	}
	drawn, err := m.renderer.Render(text)
	if err != nil {
		return text
	}
	return strings.Trim(drawn, "\n")
}
