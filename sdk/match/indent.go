package match

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostIndented bounds what indentation may add to a replacement, in bytes: that of a
// place can be as long as the body, and is written once for each line.
const mostIndented = 4 << 20

// fit gives replacement the indentation of the place and returns it with the
// offset in body at which the replaced part ends. A replacement of nothing takes
// the last line ending along, since whole lines go.
func (m lineMatch) fit(replacement, body string) (string, int, error) {
	if replacement == "" {
		return "", min(m.end+1, len(body)), nil
	}
	lines := strings.Split(strings.TrimSuffix(replacement, "\n"), "\n")
	if len(m.indent) > 0 && len(lines) > mostIndented/len(m.indent) {
		return "", 0, sdk.Errorf(sdk.Overflow, "the place is indented by %d bytes, which is too much for %d lines; nothing was changed: give the text exactly as it is, with its white space", len(m.indent), len(lines))
	}
	for i, l := range lines {
		rest := strings.TrimLeft(l, " \t")
		if rest == "" {
			lines[i] = ""
			continue
		}
		lines[i] = m.shift(l[:len(l)-len(rest)]) + rest
	}
	return strings.Join(lines, "\n"), m.end, nil
}

// shift moves one line's indentation as far as the place lies from the search.
// A line that is indented less than the search keeps its share of the place's
// indentation, which is what makes spaces against tabs come out right.
func (m lineMatch) shift(indent string) string {
	if deeper, ok := strings.CutPrefix(indent, m.from); ok {
		return m.indent + deeper
	}
	if added, ok := strings.CutSuffix(m.indent, m.from); ok {
		return added + indent
	}
	if removed, ok := strings.CutSuffix(m.from, m.indent); ok {
		return indent[min(len(removed), len(indent)):]
	}
	return m.indent[:len(m.indent)*min(len(indent), len(m.from))/len(m.from)]
}
