package reader

import (
	"bytes"
	"mime"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// decode is a text in UTF-8: by its byte order mark, by the charset that its server names, and of HTML by
// what the page itself says. What says nothing is UTF-8 if it can be, and else Windows-1252, as in browsers.
func decode(d Document, text []byte) ([]byte, error) {
	in := encodingOf(d, text)
	if in == nil {
		return bytes.ToValidUTF8(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\uFFFD")), nil
	}
	return in.NewDecoder().Bytes(text)
}

// encodingOf is how a text is encoded; nil is UTF-8.
func encodingOf(d Document, text []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")):
		return nil
	case bytes.HasPrefix(text, []byte("\xFE\xFF")):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case bytes.HasPrefix(text, []byte("\xFF\xFE")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	in, name := charset.Lookup(CharsetOf(d.Type))
	if in == nil && d.Kind == HTML {
		in, name, _ = charset.DetermineEncoding(text, "")
		if name == "windows-1252" && utf8.Valid(text) { // its guess; a page that says so and is both, reads alike
			return nil
		}
	}
	switch {
	case name == "utf-8", in == nil && utf8.Valid(text):
		return nil
	case in == nil:
		in, _ = charset.Lookup("windows-1252")
	}
	return in
}

// CharsetOf is what a server calls the encoding of a text.
func CharsetOf(header string) string {
	_, parameters, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return parameters["charset"]
}

// Whole is a text without the beginning of a character that is cut at its end.
func Whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n]; utf8.RuneStart(last) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
