package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
)

const (
	// shortest is the length below which a value is no secret but a coincidence:
	// to hide every "a" would destroy a log and hide nothing.
	shortest = 6
	// shortestNumber is the same of digits alone: sizes, counts and positions are
	// in every line.
	shortestNumber = 10
	// longLine is the length from which a line of a secret is one by itself.
	longLine = 16
	// broken is the length from which a secret is also found when it is broken
	// into lines, as programs do with base64. A short one is a coincidence then.
	broken = 16
	// longest is the length from which a secret is looked for in parts, so that
	// the automaton stays small.
	longest = 4 << 10
)

// partsOf are a secret and what counts as one by itself: each long line, for
// logs and tools show lines, and the parts of a very long one.
func partsOf(value string) []string {
	var parts []string
	if lines := strings.Split(strings.TrimSpace(value), "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= longLine && !strings.HasPrefix(line, "-----") {
				parts = append(parts, partsOf(line)...)
			}
		}
	}
	for ; len(value) > longest; value = value[longest/2:] {
		parts = append(parts, value[:longest/2])
	}
	return append(parts, value)
}

// formsOf are the forms in which a secret may be written. Those that a level of
// the scan turns back into the secret need not be among them; what an encoder
// makes of a secret that itself looks escaped must be.
func formsOf(value string) []form {
	forms := []string{
		value,
		url.QueryEscape(value),
		url.PathEscape(value),
		strings.ReplaceAll(value, " ", "+"),
		strings.ReplaceAll(value, "'", `'\''`),
		hex.EncodeToString([]byte(value)),
		strings.ToUpper(hex.EncodeToString([]byte(value))),
		html.EscapeString(value),
	}
	forms = append(forms, inBase64(value)...)
	undone, web, plain := value, value, value
	for range levels - 1 {
		undone, web, plain = unescaped(undone), inJSON(web, true), inJSON(plain, false)
		forms = append(forms, undone, web, plain)
	}
	var kept []form
	for _, text := range forms {
		flat := strings.NewReplacer("\n", "", "\r", "").Replace(text)
		if len(flat) >= shortest {
			kept = append(kept, form{flat, flat != text || len(flat) >= broken, 2 * longestBreak(text)}) // each may be CR and LF
		}
	}
	return kept
}

// form is one way in which a secret may be written, without line breaks: the
// scan passes over those in a text.
type form struct {
	text   string
	lines  bool // it is the same secret when it is broken into lines
	breaks int  // bytes of line breaks in a row that it may have
}

func longestBreak(text string) (most int) {
	run := 0
	for i := range len(text) {
		if run++; text[i] != '\n' && text[i] != '\r' {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

// inJSON is a value as JSON has it, without its quotes: programs differ in
// whether they escape what means something in HTML.
func inJSON(value string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(value) // a string always can be
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// inBase64 is what is sure to stand in the base64 of any text around the value:
// it may begin at the first, second or third byte of a group, and the
// characters at its edges depend on the neighbours too.
func inBase64(value string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), value...))
			from := (8*before + 5) / 6
			to := 8 * (before + len(value)) / 6
			forms = append(forms, text[from:to], text[from:]) // the second where the text ends with the value
		}
	}
	return forms
}
