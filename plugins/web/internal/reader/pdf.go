package reader

import (
	"bytes"
	"iter"
	"strings"

	"github.com/ledongthuc/pdf"
)

// readPDF is the text of a PDF, a paragraph for each page, as far as it is wanted.
func readPDF(d Document, file []byte) (string, Reading) {
	if at := bytes.Index(file[:min(len(file), 1024)], []byte("%PDF-")); at > 0 { // where a file may begin, and offsets count from
		file = file[at:]
	}
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		if strings.Contains(err.Error(), "encrypt") || strings.Contains(err.Error(), "password") {
			return "", Reading{Failed: "is a PDF that is encrypted"}
		}
		return "", Reading{Failed: "is no PDF that can be read"}
	}
	var text strings.Builder
	out := Reading{Title: bounded(r.Trailer().Key("Info").Key("Title").Text())}
	for page := range pagesOf(r.Trailer().Key("Root").Key("Pages"), 0) {
		words, err := page.GetPlainText(nil)
		if err != nil {
			continue // the others may be whole
		}
		if words = strings.TrimSpace(words); words != "" {
			text.WriteString(words)
			text.WriteString("\n\n")
		}
		if text.Len() > d.Most {
			out.Cut = true
			break
		}
	}
	if text.Len() == 0 {
		out.Failed = "is a PDF without text that can be read; its pages may be pictures"
	}
	return strings.TrimSpace(strings.ToValidUTF8(text.String(), "\uFFFD")), out
}

// deepestPages is how deep a tree of pages is followed. One that comes back to itself has no end.
const deepestPages = 32

// pagesOf are the pages below a node of their tree, in their order. To ask the library for each page by its number
// walks the tree as often.
func pagesOf(node pdf.Value, depth int) iter.Seq[pdf.Page] {
	return func(yield func(pdf.Page) bool) {
		kids := node.Key("Kids")
		switch {
		case node.Key("Type").Name() == "Page":
			yield(pdf.Page{V: node})
			return
		case depth == deepestPages:
			return
		}
		for i := range kids.Len() {
			for page := range pagesOf(kids.Index(i), depth+1) {
				if !yield(page) {
					return
				}
			}
		}
	}
}
