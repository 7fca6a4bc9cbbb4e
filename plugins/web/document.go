package main

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"
)

// kind is what a document is, as far as it matters for reading it.
type kind string

const (
	kindHTML  kind = "html"
	kindPDF   kind = "pdf"
	kindText  kind = "text"
	kindOther kind = "" // what is named and not read
)

// form is in which a page of HTML is read.
type form string

const (
	formMarkdown form = "markdown"
	formMain     form = "main" // the article alone, as Markdown
	formRaw      form = "raw"  // its source
)

// document is what a reader is told of the bytes that follow. Address is where they are from, which
// links in them are relative to.
type document struct {
	Kind    kind   `json:"kind"`
	Type    string `json:"type"` // as the server has it, with its charset
	Address string `json:"address"`
	Form    form   `json:"form"`
	Most    int    `json:"most"` // bytes of text that are wanted
}

// host is what is said of the address in a sentence: what stands behind it may be a secret, or a server's words.
func (d document) host() string {
	u, err := url.Parse(d.Address)
	if err != nil { // it answered
		return ""
	}
	return u.Host
}

// reading is what a reader tells of the text that follows.
type reading struct {
	Title string `json:"title,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // there is more text than was wanted
	// Failed is why there is no text, as the end of a sentence about the document.
	Failed string `json:"failed,omitempty"`
}

// mostType is how long the name of a type may be (RFC 6838, 4.2).
const mostType = 2*127 + 1

// kindOf is what a document is by what its server calls it, or where that says nothing, by how it begins.
// The media type is without parameters.
func kindOf(header string, head []byte) (kind, string) {
	media, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(media) > mostType {
		media = "" // whatever its server wrote there
	}
	if media == "" || media == "application/octet-stream" || media == "binary/octet-stream" {
		media, _, _ = strings.Cut(http.DetectContentType(head), ";")
	}
	switch {
	case media == "application/pdf", media == "application/x-pdf":
		return kindPDF, media
	case noText(header, head):
		return kindOther, media
	case media == "text/html", media == "application/xhtml+xml":
		return kindHTML, media
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+json"), strings.HasSuffix(media, "+xml"), strings.HasSuffix(media, "+yaml"):
		return kindText, media
	}
	switch strings.TrimPrefix(media, "application/") {
	case "json", "xml", "javascript", "x-javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-ndjson", "jsonl", "x-sh", "sql", "graphql":
		return kindText, media
	}
	return kindOther, media
}

// noText reports whether a document has bytes that no text has, whatever its server calls it: a picture, or what was
// compressed twice. Of a text it is UTF-16 that has them.
func noText(header string, head []byte) bool {
	_, name := charset.Lookup(charsetOf(header))
	return bytes.IndexByte(head, 0) >= 0 && !strings.HasPrefix(name, "utf-16") && !bytes.HasPrefix(head, []byte("\xFE\xFF")) && !bytes.HasPrefix(head, []byte("\xFF\xFE"))
}
