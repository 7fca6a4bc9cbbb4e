package main

import (
	"errors"
	"mime"
	"net/http"
	"strings"
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
	case media == "text/html", media == "application/xhtml+xml":
		return kindHTML, media
	case media == "application/pdf", media == "application/x-pdf":
		return kindPDF, media
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+json"), strings.HasSuffix(media, "+xml"), strings.HasSuffix(media, "+yaml"):
		return kindText, media
	}
	switch strings.TrimPrefix(media, "application/") {
	case "json", "xml", "javascript", "x-javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-ndjson", "jsonl", "x-sh", "sql", "graphql":
		return kindText, media
	}
	return kindOther, media
}
