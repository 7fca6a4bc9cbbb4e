//go:build linux

package daemon

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3/color"
	"github.com/gdamore/tcell/v3/vt"
)

// A golden screen is a text for people: each line of the screen behind two blanks, and
// below it, where it has styles, a line behind ": " with a letter for the style of each
// cell. The legend at the top of a file says what its letters mean.

// styleLetters are the letters of the styles that are met most; others get the next of
// otherLetters in the order in which they come.
var styleLetters = map[string]string{
	"dim": "d", "bold": "b", "reverse": "r", "italic": "i", "green": "g", "red": "e", "cyan": "c",
	"bold cyan": "C", "bold blue": "B", "bold yellow": "Y", "bold green": "G", "bold red": "E",
}

const otherLetters = "stuvwxyzahjklmnopqADFHIJKLMNOPQRSTUVWXZ0123456789"

// legend are the letters of a golden file.
type legend struct {
	letters map[string]string // by the style
	used    []string
}

func (l *legend) letter(style string) string {
	if style == "" {
		return " "
	}
	if known, is := l.letters[style]; is {
		return known
	}
	letter, is := styleLetters[style]
	if !is {
		others := 0
		for s := range l.letters {
			if styleLetters[s] == "" {
				others++
			}
		}
		letter = otherLetters[others%len(otherLetters) : others%len(otherLetters)+1]
	}
	l.letters[style], l.used = letter, append(l.used, style)
	return letter
}

func (l *legend) String() string {
	var b strings.Builder
	for _, style := range l.used {
		fmt.Fprintf(&b, "%s is %s\n", l.letters[style], style)
	}
	return b.String()
}

// colorNames are the sixteen colours that a terminal's theme chooses.
var colorNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

func colorName(c color.Color) string {
	switch n := int(c & 0xff); {
	case c&color.IsRGB != 0:
		return fmt.Sprintf("#%06x", int(c&0xffffff))
	case n < 8:
		return colorNames[n]
	case n < 16:
		return "bright " + colorNames[n-8]
	default:
		return fmt.Sprint(n)
	}
}

// styleName is the style of a cell in words. The emulator's own colours are white and
// black.
func styleName(s vt.Style) string {
	if s == nil {
		return ""
	}
	var words []string
	for _, a := range []struct {
		attr vt.Attr
		name string
	}{{vt.Bold, "bold"}, {vt.Dim, "dim"}, {vt.Italic, "italic"}, {vt.Underline, "underline"}, {vt.StrikeThrough, "struck"}, {vt.Reverse, "reverse"}, {vt.Blink, "blink"}} {
		if s.Attr()&a.attr != 0 {
			words = append(words, a.name)
		}
	}
	if s.Fg()&color.IsValid != 0 && s.Fg() != color.XTerm7 {
		words = append(words, colorName(s.Fg()))
	}
	if s.Bg()&color.IsValid != 0 && s.Bg() != color.XTerm0 {
		words = append(words, "on "+colorName(s.Bg()))
	}
	if url, _ := s.Url(); url != "" {
		words = append(words, "link "+url)
	}
	return strings.Join(words, " ")
}

// seenOnBlanks are the styles that are seen where no character stands.
var seenOnBlanks = regexp.MustCompile(`\b(on|reverse|underline|struck)\b`)

// firstPrompt is the line with which the first prompt begins.
var firstPrompt = regexp.MustCompile(`(?m)^  1 .*> `)

// look is the screen with its styles, from the first prompt on where there is one, without
// the blank lines around it. What is said before hangs on what else the daemon has to do.
func (s *seat) look(l *legend) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for y := vt.Row(0); y < s.size.Y; y++ {
		var row []cell
		for x := vt.Col(0); x < s.size.X; x++ {
			at := s.term.GetCell(vt.Coord{X: x, Y: y})
			style := styleName(at.S)
			if (at.C == "" || at.C == " ") && !seenOnBlanks.MatchString(style) {
				style = ""
			}
			switch {
			case at.C == "" && x > 0 && s.term.GetCell(vt.Coord{X: x - 1, Y: y}).W > 1:
			case at.C == "":
				at.C = " "
			}
			row = append(row, cell{at.C, l.letter(style)})
		}
		row = stable(row)
		line := strings.TrimRight("  "+textOf(row), " ")
		if styles := strings.TrimRight(stylesOf(row), " "); styles != "" {
			line += "\n: " + styles
		}
		all = append(all, line)
	}
	screen := strings.Trim(strings.Join(all, "\n"), "\n") + "\n"
	if at := firstPrompt.FindStringIndex(screen); at != nil {
		screen = screen[at[0]:]
	}
	return screen
}

// unstable are what no test can foretell of a screen, each with what stands in its place;
// nothing is a dot for each hexadecimal digit, in paths that are broken anywhere.
var unstable = []struct {
	is  *regexp.Regexp
	put string
}{
	{regexp.MustCompile(`\bseat-[0-9]{3}\b`), "seat-..."},
	{regexp.MustCompile(`(?m)(seat-)[0-9]{2}(\s*)$`), "${1}..${2}"}, // a path that is broken within the number
	{regexp.MustCompile(`(\+ )[0-9](/\.local)`), "${1}.${2}"},
	{regexp.MustCompile(`\bbothy [0-9]\S*`), "bothy VERSION"},
	{regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ms|s|µs)\b`), "TIME"},
	{regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`), "⠋"},
	{regexp.MustCompile(`-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}\b`), "-....-....-...."},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "............"},
	{regexp.MustCompile(`\b[0-9a-f]{8}\b`), "........"},
	{regexp.MustCompile(`\bruns/[0-9a-f.-]{2,}`), ""},
	{regexp.MustCompile(`\+ [0-9a-f.-]{2,}/`), ""},
	{regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}`), "2000-01-01 00:00"},
	{regexp.MustCompile(`\b[0-9]{2}:[0-9]{2}\b`), "00:00"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]{4,5}`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`[0-9]+( tokens in, )[0-9]+( out)`), "N${1}N${2}"},
	{regexp.MustCompile(`[0-9]+( tokens  esc)`), "N${1}"},
}

// cell is a place of a screen: what stands there, and the letter of its style.
type cell struct{ text, style string }

func textOf(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.text)
	}
	return b.String()
}

func stylesOf(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.style)
	}
	return b.String()
}

// stable puts what stands for it in the place of what no test can foretell, in the style
// with which that begins.
func stable(row []cell) []cell {
	for _, u := range unstable {
		text := textOf(row)
		found := u.is.FindAllStringSubmatchIndex(text, -1)
		for _, at := range slices.Backward(found) {
			from, to := cellAt(row, at[0]), cellAt(row, at[1])
			if u.put == "" {
				for i := from; i < to; i++ {
					row[i].text = hexDigit.ReplaceAllString(row[i].text, ".")
				}
				continue
			}
			var put []cell
			for _, r := range string(u.is.ExpandString(nil, u.put, text, at)) {
				put = append(put, cell{string(r), row[from].style})
			}
			row = slices.Concat(row[:from], put, row[to:])
		}
	}
	return row
}

var hexDigit = regexp.MustCompile(`^[0-9a-f]$`)

// cellAt is the cell in which a byte of a row's text stands.
func cellAt(row []cell, at int) int {
	for i, c := range row {
		if at <= 0 {
			return i
		}
		at -= len(c.text)
	}
	return len(row)
}

// settles is how long nothing is drawn before a screen is written down with -update; a
// comparison waits for the screen that is kept instead.
const settles = 1500 * time.Millisecond

// awaits waits until a look is wanted, and returns the last one.
func (s *seat) awaits(wanted func(look string) bool, take func() string) string {
	limit := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		drawn := s.drawn
		s.mu.Unlock()
		got := take()
		if wanted(got) {
			return got
		}
		select {
		case <-drawn:
		case <-limit:
			return got
		}
	}
}

// settled is what is drawn once nothing changes any more.
func (s *seat) settled(take func() string) string {
	for {
		got := take()
		quiet := time.After(settles)
	still:
		for {
			s.mu.Lock()
			drawn := s.drawn
			s.mu.Unlock()
			select {
			case <-drawn:
				if take() != got {
					break still
				}
			case <-quiet:
				return got
			}
		}
	}
}
