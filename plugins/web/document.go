package main

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
)

// hostOf is what is said of an address in a sentence: what stands behind it may be a secret, or a server's words.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil { // it answered
		return ""
	}
	return u.Host
}

// titled is a title on one line, of a length that a list can show.
func titled(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	runes := slices.DeleteFunc([]rune(text), sdk.Hidden)
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// mostType is how long the name of a type may be (RFC 6838, 4.2).
const mostType = 2*127 + 1

// kindOf is what a document is by what its server calls it, or where that says nothing, by how it begins.
// The media type is without parameters.
func kindOf(header string, head []byte) (reader.Kind, string) {
	media, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(media) > mostType {
		media = "" // whatever its server wrote there
	}
	if media == "" || media == "application/octet-stream" || media == "binary/octet-stream" {
		media, _, _ = strings.Cut(http.DetectContentType(head), ";")
	}
	switch {
	case media == "application/pdf", media == "application/x-pdf":
		return reader.PDF, media
	case noText(header, head):
		return reader.Other, media
	case media == "text/html", media == "application/xhtml+xml":
		return reader.HTML, media
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+json"), strings.HasSuffix(media, "+xml"), strings.HasSuffix(media, "+yaml"):
		return reader.Text, media
	}
	switch strings.TrimPrefix(media, "application/") {
	case "json", "xml", "javascript", "x-javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-ndjson", "jsonl", "x-sh", "sql", "graphql":
		return reader.Text, media
	}
	return reader.Other, media
}

// noText reports whether a document has bytes that no text has, whatever its server calls it: a picture, or what was
// compressed twice. Of a text it is UTF-16 that has them.
func noText(header string, head []byte) bool {
	_, name := charset.Lookup(reader.CharsetOf(header))
	return bytes.IndexByte(head, 0) >= 0 && !strings.HasPrefix(name, "utf-16") && !bytes.HasPrefix(head, []byte("\xFE\xFF")) && !bytes.HasPrefix(head, []byte("\xFF\xFE"))
}

// plain reports whether a text needs no decoding: it is UTF-8, and nobody says otherwise.
func plain(header string, text []byte) bool {
	if name := reader.CharsetOf(header); name != "" {
		if _, canonical := charset.Lookup(name); canonical != "utf-8" {
			return false
		}
	}
	return !bytes.HasPrefix(text, []byte("\uFEFF")) && utf8.Valid(text)
}
