package proposal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Message is a proposal as a message of a channel has it: plain text of at most room UTF-16 code units, in which what
// would run stands whole, each line behind a mark, so that none is taken for one of ours. Reason is what keeps people
// from accepting it there: why, which the caller gives, or that what would run has no room or does not show as it is.
// Empty is nothing. Hidden is what stands in the place of a secret.
func Message(p sdk.Proposal, room int, hidden, why string) (text, reason string) {
	var would quoted
	if p.Question != nil {
		would.question(*p.Question)
	} else {
		would.call(p)
	}
	body := would.String()
	switch {
	case hidden != "" && strings.Contains(body, hidden):
		would.odd = "a secret is in it, which is not sent"
	case p.Question == nil && p.Bytes != len(cmp.Or(p.Command, string(p.Arguments))):
		would.odd = "what there is of it is not what would run"
	}
	if would.odd != "" {
		why, body = would.odd, ""
	}
	text = heading(p, why) + body
	if length(text) > room {
		why = fmt.Sprintf("it is too long for a message (%d bytes)", len(body))
		text = fits(heading(p, why), room)
	}
	return strings.TrimRight(text, "\n"), why
}

// heading is what a message says before what would run.
func heading(p sdk.Proposal, why string) string {
	var b strings.Builder
	switch {
	case p.Question == nil:
		network := "without a network"
		if p.Network {
			network = "with the network open"
		}
		fmt.Fprintf(&b, "%s asks before it goes on: %s\n%s of the plugin %s, %s\n", line(p.Alias), line(p.Decision.Reason), line(p.Tool), line(p.Plugin), network)
	case p.Plugin == sdk.OwnPlugin:
		fmt.Fprintf(&b, "%s asks, and its model reads the answer:\n", line(p.Alias))
	default:
		fmt.Fprintf(&b, "The plugin %s asks, at work for %s, and the answer goes to it alone:\n", line(p.Plugin), line(p.Alias))
	}
	fmt.Fprintf(&b, "Proposal %s, until %s\n", p.ID, p.Expires.Local().Format("2006-01-02 15:04"))
	if why != "" {
		fmt.Fprintf(&b, "It cannot be accepted here: %s. At the machine: bothy proposals show %s\n", why, p.ID)
	}
	return b.String()
}

// line is a text on one line, with a mark for each character that does not show as itself.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if !shows(r) {
			return '?'
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
}

// quoted is what would run, as it stands in a message.
type quoted struct {
	strings.Builder
	odd string // why it does not show as it is
}

func (q *quoted) call(p sdk.Proposal) {
	if p.Diff != "" {
		q.block("What it would change", p.Diff, true)
	}
	values := map[string]json.RawMessage{}
	if len(p.Arguments) > 0 && json.Unmarshal(p.Arguments, &values) != nil {
		q.block("Arguments", string(p.Arguments), false)
	}
	command := ""
	for _, name := range slices.SortedFunc(maps.Keys(values), func(a, b string) int { return strings.Compare(a, b) }) {
		var text string
		is := json.Unmarshal(values[name], &text) == nil && string(values[name]) != "null"
		switch {
		case is && p.Command != "" && text == p.Command && command == "":
			command = name
			continue
		case is && strings.Contains(text, "\n") && within(p.Diff, text):
			q.block(fmt.Sprintf("Argument %s, %d bytes, all of them above", line(name), len(text)), "", true)
		case is:
			q.block(fmt.Sprintf("Argument %s, %s", line(name), size(text)), text, false)
		default:
			q.block("Argument "+line(name)+", as JSON", string(values[name]), false)
		}
		q.look(name, false)
	}
	if p.Command != "" {
		q.block("What would run, "+size(p.Command), p.Command, false)
	}
}

func (q *quoted) question(asked sdk.Question) {
	q.block("", strings.TrimRight(asked.Message, "\n"), true)
	if asked.URL != "" {
		q.block("It asks you to open this address, and is told only whether you will", asked.URL, false)
		if beyondASCII(asked.URL) > 0 {
			q.odd = "its address has letters that look like others"
		}
	}
	fields, _ := asked.Fields()
	for _, f := range fields {
		if f.Secret() {
			q.odd = "what it asks for is a secret, which is not for a chat"
		}
		about := f.Name
		if f.Title != "" {
			about = f.Title + " (" + f.Name + ")"
		}
		for _, c := range f.Choices {
			about += "\n  " + c.Value
			if c.Title != "" && c.Title != c.Value {
				about += ": " + c.Title
			}
		}
		q.block("It wants to know", about, true)
	}
}

// block is a text line by line behind a mark. In a loose one a tab, and blanks at the end of a line, are not looked at.
func (q *quoted) block(title, text string, loose bool) {
	if title != "" {
		fmt.Fprintf(q, "%s:\n", title)
	}
	if text == "" {
		return
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(q, "| %s\n", part)
	}
	q.look(text, loose)
}

// look finds what does not show as it is.
func (q *quoted) look(text string, loose bool) {
	if q.odd != "" {
		return
	}
	for part := range strings.SplitSeq(text, "\n") {
		if !loose && strings.HasSuffix(part, " ") {
			q.odd = "a line of it ends in blanks that nobody sees"
		}
		for _, r := range part {
			if !shows(r) && !(loose && r == '\t') {
				q.odd = fmt.Sprintf("it has a character that does not show as itself (U+%04X)", r)
				return
			}
		}
	}
	if !loose && strings.HasSuffix(text, "\n") {
		q.odd = "it ends in a line break that nobody sees"
	}
}

// shows reports whether a character stands in a message as it is, and where it is: those that are written from the right
// turn around what stands beside them.
func shows(r rune) bool { return r != utf8.RuneError && sdk.Stands(r) && !unicode.Is(fromRight, r) }

// fromRight are the blocks of the scripts that are written from right to left.
var fromRight = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0590, Hi: 0x08ff, Stride: 1}, {Lo: 0xfb1d, Hi: 0xfdff, Stride: 1}, {Lo: 0xfe70, Hi: 0xfeff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x10800, Hi: 0x10fff, Stride: 1}, {Lo: 0x1e800, Hi: 0x1efff, Stride: 1}},
}

// within reports whether a unified difference has a text line by line, before or after the change.
func within(diff, text string) bool {
	var before, after strings.Builder
	for part := range strings.SplitSeq(diff, "\n") {
		if part == "" || strings.HasPrefix(part, "+++ ") || strings.HasPrefix(part, "--- ") {
			continue
		}
		if part[0] != '+' {
			before.WriteString("\n" + part[1:])
		}
		if part[0] != '-' {
			after.WriteString("\n" + part[1:])
		}
	}
	whole := "\n" + strings.TrimSuffix(text, "\n") + "\n"
	return strings.Contains(before.String()+"\n", whole) || strings.Contains(after.String()+"\n", whole)
}

// size says how long a text is, and what in it may look like something else.
func size(text string) string {
	if n := beyondASCII(text); n > 0 {
		return fmt.Sprintf("%d bytes, %d characters beyond ASCII (letters of other alphabets can look the same)", len(text), n)
	}
	return fmt.Sprintf("%d bytes", len(text))
}

func beyondASCII(text string) (n int) {
	for _, r := range text {
		if r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// length is what a text takes of a message's room.
func length(text string) int { return len(utf16.Encode([]rune(text))) }

// fits is the beginning of a text that fits.
func fits(text string, room int) string {
	for length(text) > room {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}
