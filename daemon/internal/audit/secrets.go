package audit

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
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
	texts := []string{
		value,
		url.QueryEscape(value),
		url.PathEscape(value),
		strings.ReplaceAll(value, " ", "+"),
		strings.ReplaceAll(value, "'", `'\''`),
		hex.EncodeToString([]byte(value)),
		strings.ToUpper(hex.EncodeToString([]byte(value))),
		html.EscapeString(value),
	}
	texts = append(texts, inBase64(value)...)
	undone, web, plain := value, value, value
	for range levels - 1 {
		undone, web, plain = unescaped(undone), inJSON(web, true), inJSON(plain, false)
		texts = append(texts, undone, web, plain)
	}
	var forms []form
	for _, text := range texts {
		flat := strings.NewReplacer("\n", "", "\r", "").Replace(text)
		f := form{text: flat, breaks: 2 * longestBreak(text)} // each may be CR and LF
		if flat != text || len(flat) >= broken {
			f.broken = anyLine
		}
		forms = append(forms, f)
	}
	for _, text := range append(inBase32(value), twiceInBase64(value)...) {
		forms = append(forms, form{text: text, broken: wideLine})
	}
	forms = append(forms, form{text: reversed(value)})
	forms = slices.DeleteFunc(forms, func(f form) bool { return len(f.text) < shortest })
	return append(forms, dumpForms(value)...)
}

// form is one way in which a secret may be written, without line breaks: the
// scan passes over those in a text.
type form struct {
	text   string
	broken breaking
	breaks int        // bytes of line breaks in a row that it may have
	dump   *dumpStart // that it begins, when it is no secret itself
}

// breaking says in what lines a text is the same secret when it is broken into
// some. What waits for a line's end is held back from a stream.
type breaking uint8

const (
	noLine   breaking = iota
	wideLine          // in lines as programs make them: of wide bytes or more
	anyLine
)

// wide is less than the lines of base64, base32 and PEM have, which is 64 or 76.
const wide = 60

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

// twiceInBase64 is what is sure to stand in the base64 of what has the value in
// base64.
func twiceInBase64(value string) []string {
	var forms []string
	for _, inner := range sure(base64.RawStdEncoding, 3, 4, value) {
		forms = append(forms, sure(base64.RawStdEncoding, 3, 4, inner)...)
	}
	return forms
}

// inBase32 is what is sure to stand in the base32 of any text around the value.
func inBase32(value string) []string {
	return sure(base32.StdEncoding.WithPadding(base32.NoPadding), 5, 8, value)
}

// sure is what stands in any text around the value, in an encoding that makes so
// many characters of so many bytes.
func sure(encoding interface{ EncodeToString([]byte) string }, bytes, characters int, value string) []string {
	var forms []string
	for before := range bytes {
		text := encoding.EncodeToString(append(make([]byte, before), value...))
		from := (before*characters + bytes - 1) / bytes
		forms = append(forms, text[from:(before+len(value))*characters/bytes])
	}
	return forms
}

// reversed is a value from its end to its beginning, as rev has it.
func reversed(value string) string {
	runes := []rune(value)
	slices.Reverse(runes)
	return string(runes)
}
