package match

import (
	"sort"
	"strings"
)

// unixText is a body seen with "\n" line endings only. Offsets into unix lead
// back to the body, whatever mixture of endings that has.
type unixText struct {
	body string
	unix string
	crlf []int // offsets in unix of each "\n" that is "\r\n" in body
}

func newUnixText(body string) *unixText {
	n := strings.Count(body, "\r\n")
	if n == 0 {
		return &unixText{body: body, unix: body}
	}
	t := &unixText{body: body, crlf: make([]int, 0, n)}
	var unix strings.Builder
	unix.Grow(len(body) - n)
	for rest := body; ; {
		line, after, more := strings.Cut(rest, "\r\n")
		unix.WriteString(line)
		if !more {
			break
		}
		t.crlf = append(t.crlf, unix.Len())
		unix.WriteByte('\n')
		rest = after
	}
	t.unix = unix.String()
	return t
}

// offset translates an offset in unix to one in body. At a line ending it is
// the one before the ending.
func (t *unixText) offset(at int) int {
	return at + sort.SearchInts(t.crlf, at)
}

// ending is the line ending of the place between two offsets in unix: its
// first one, else the next behind it, else the last before it.
func (t *unixText) ending(start, end int) string {
	if len(t.crlf) == 0 {
		return "\n"
	}
	at := strings.IndexByte(t.unix[start:], '\n')
	if at >= 0 {
		at += start
	} else {
		at = strings.LastIndexByte(t.unix[:start], '\n')
	}
	if i := sort.SearchInts(t.crlf, at); i < len(t.crlf) && t.crlf[i] == at {
		return "\r\n"
	}
	return "\n"
}

// splice replaces what lies between two offsets in unix and leaves every other
// byte of the body alone, except that a last line ending is not lost.
func (t *unixText) splice(start, end int, replacement string, reindented bool) Replacement {
	ending := t.ending(start, end)
	if ending == "\r\n" {
		replacement = strings.ReplaceAll(replacement, "\r\n", "\n")
		replacement = strings.ReplaceAll(replacement, "\n", "\r\n")
	}
	body := t.body[:t.offset(start)] + replacement + t.body[t.offset(end):]
	if strings.HasSuffix(t.body, "\n") && body != "" && !strings.HasSuffix(body, "\n") {
		body += ending
	}
	return Replacement{
		Body:       body,
		Line:       1 + strings.Count(t.unix[:start], "\n"),
		Reindented: reindented,
	}
}
