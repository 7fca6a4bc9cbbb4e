package edit

import "strings"

// indented gives the lines of a replacement the indentation of the line that is replaced,
// where a search of one line left that out. It is not done when each line has it already:
// then only the first was written without.
//
// Exactly such a search is found within the line; its replacement would get the
// indentation for its first line alone.
func indented(body, search, with string) (_ string, changed bool) {
	at := strings.Index(body, search)
	if at < 0 || isSpace(search[0]) || strings.Contains(search, "\n") {
		return with, false
	}
	lead := body[strings.LastIndexByte(body[:at], '\n')+1 : at]
	rest, _, _ := strings.Cut(body[at+len(search):], "\n")
	if lead == "" || strings.Trim(lead, " \t") != "" || strings.Trim(rest, " \t\r") != "" {
		return with, false
	}
	lines := strings.SplitAfter(with, "\n")
	if len(lines) > mostIndented/len(lead) {
		return with, false
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		changed = changed || !strings.HasPrefix(line, lead)
		lines[i+1] = lead + line
	}
	if !changed {
		return with, false
	}
	return strings.Join(lines, ""), true
}

// mostIndented bounds what is written with the indentation of one line, in bytes.
const mostIndented = 4 << 20
