package main

import (
	"bytes"
	"strings"

	"github.com/ledongthuc/pdf"
)

// readPDF is the text of a PDF, a paragraph for each page, as far as it is wanted.
func readPDF(d document, file []byte) (string, reading) {
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		if strings.Contains(err.Error(), "encrypt") || strings.Contains(err.Error(), "password") {
			return "", reading{Failed: "is a PDF that is encrypted"}
		}
		return "", reading{Failed: "is no PDF that can be read"}
	}
	var text strings.Builder
	out := reading{Title: titled(r.Trailer().Key("Info").Key("Title").Text())}
	pages := r.NumPage()
	for n := 1; n <= pages; n++ {
		page := r.Page(n)
		if page.V.IsNull() { // it says that it has more than it has
			break
		}
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
