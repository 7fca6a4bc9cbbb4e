package main

import (
	"os"

	"charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	chromastyles "github.com/alecthomas/chroma/v2/styles"
	"github.com/charmbracelet/colorprofile"

	"github.com/bothyd/bothy/sdk/client/show"
)

// background is what stands behind the texts, as far as the terminal tells.
type background int

// The backgrounds. Of one that is not told, only what can be read on any is asked: the
// sixteen colours that the terminal's theme chooses.
const (
	unknown background = iota
	dark
	light
)

// profile is which colours the terminal has. NO_COLOR counts with any value
// (no-color.org).
func profile() colorprofile.Profile {
	p := colorprofile.Detect(os.Stdout, os.Environ())
	if os.Getenv("NO_COLOR") != "" {
		return min(p, colorprofile.ASCII)
	}
	return p
}

// palette are the colours of the sixteen that every terminal has, so that its own theme
// chooses them; with NO_COLOR only weight is left.
type palette struct {
	dim, bold, prompt, tool, good, bad, ask, code, odd lipgloss.Style

	drawn map[show.Style]lipgloss.Style // the styles of drawings but the plain one
}

func newPalette() palette {
	s := lipgloss.NewStyle()
	bold := s.Bold(true)
	p := palette{
		dim: s.Faint(true), bold: bold,
		prompt: bold.Foreground(lipgloss.Cyan), tool: bold.Foreground(lipgloss.Blue),
		good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red), ask: bold.Foreground(lipgloss.Yellow), code: s.Foreground(lipgloss.Cyan),
		odd: s.Reverse(true),
	}
	if profile() <= colorprofile.ASCII {
		p.prompt, p.tool, p.good, p.bad, p.ask, p.code = bold, bold, s, bold, bold, s
	}
	p.drawn = map[show.Style]lipgloss.Style{
		show.Dim: p.dim, show.Bold: p.bold, show.Name: p.tool, show.Good: p.good, show.Bad: p.bad, show.Ask: p.ask, show.Code: p.code, show.Odd: p.odd,
	}
	return p
}

// paint is what a style of a drawing looks like here.
func (p palette) paint(s show.Style, text string) string {
	if style, is := p.drawn[s]; is {
		return style.Render(text)
	}
	return text
}

// draw is lines as the terminal gets them, without the end of the last.
func (p palette) draw(lines []show.Spans) string {
	drawn := show.Draw(lines, p.paint)
	return drawn[:max(0, len(drawn)-1)]
}

// markdownStyle is how Markdown looks, and how its code is written: in the colours of the
// background where it is known and there are enough of them, else in the terminal's own
// sixteen. Texts without a style of their own have the terminal's colour.
func markdownStyle(b background) (style ansi.StyleConfig, formatter string) {
	formatter = "terminal256"
	switch p := profile(); {
	case p <= colorprofile.ASCII:
		style = styles.ASCIIStyleConfig
	case p < colorprofile.ANSI256 || b == unknown:
		style, formatter = sixteen(), "terminal16"
	case b == dark:
		style = styles.DarkStyleConfig
	default:
		style = styles.LightStyleConfig
	}
	style.Document = ansi.StyleBlock{}
	style.Code.Prefix, style.Code.Suffix = "", "" // else blanks that do not break, which who copies it would take along
	if of := style.CodeBlock.Chroma; of != nil {
		unmarked := *of
		unmarked.Error = ansi.StylePrimitive{} // code is not wrong because its language is not known well
		if grey := "#6c6c6c"; b == dark {      // of two that are as near to Glamour's one would be drawn by chance
			unmarked.Comment.Color = &grey
		}
		style.CodeBlock.Chroma = &unmarked
	}
	return style, formatter
}

// sixteen are styles in the sixteen colours of the terminal's theme.
func sixteen() ansi.StyleConfig {
	name := func(number string) *string { return &number }
	yes := true
	style := styles.DarkStyleConfig
	style.Heading.Color = name("4")
	style.H1.StylePrimitive = ansi.StylePrimitive{Prefix: "# ", Color: name("4"), Bold: &yes, Underline: &yes}
	style.H6.Color, style.HorizontalRule.Color = nil, nil
	style.Link = ansi.StylePrimitive{Color: name("6"), Underline: &yes}
	style.LinkText = ansi.StylePrimitive{Bold: &yes}
	style.Image, style.ImageText.Color = style.Link, nil
	style.Code.StylePrimitive = ansi.StylePrimitive{Color: name("6")}
	style.CodeBlock.Color, style.CodeBlock.Chroma, style.CodeBlock.Theme = nil, nil, sixteenCode.Name
	return style
}

// sixteenCode are the colours of code among the terminal's sixteen, by the values that the
// writer of such code (terminal16) takes for their names.
var sixteenCode = chromastyles.Register(chroma.MustNewStyle("bothy-sixteen", chroma.StyleEntries{
	chroma.Comment: "italic", chroma.Keyword: "#00007f", chroma.KeywordType: "#007f7f", chroma.NameFunction: "bold",
	chroma.LiteralString: "#007f00", chroma.LiteralNumber: "#7f007f", chroma.GenericDeleted: "#7f0000", chroma.GenericInserted: "#007f00",
}))
