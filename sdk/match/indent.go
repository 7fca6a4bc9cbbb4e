package match

import "strings"

// fit gives replacement the indentation of the place and returns it with the
// offset in body at which the replaced part ends. A replacement of nothing takes
// the last line ending along, since whole lines go.
func (m lineMatch) fit(replacement, body string) (string, int) {
	if replacement == "" {
		return "", min(m.end+1, len(body))
	}
	lines := strings.Split(strings.TrimSuffix(replacement, "\n"), "\n")
	for i, l := range lines {
		rest := strings.TrimLeft(l, " \t")
		if rest == "" {
			lines[i] = ""
			continue
		}
		lines[i] = m.shift(l[:len(l)-len(rest)]) + rest
	}
	return strings.Join(lines, "\n"), m.end
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
