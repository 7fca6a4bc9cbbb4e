package skill

import (
	"strings"
	"testing"
)

// ordinary is a file of the size that is usual: 6 kB.
var ordinary = []byte("---\nname: pdf-tools\ndescription: Extracts text and tables from PDF files, fills in forms and merges documents. Use it when the user speaks of PDF files.\nlicense: MIT\nversion: 1.2.0\nauthor: Somebody\ntags: [pdf, documents, forms]\nallowed-tools: Bash(pdftotext:*), Read, Grep\nmetadata:\n  category: documents\n  updated: 2026-03-06\n  requires:\n    bins: [pdftotext]\n---\n\n# PDF tools\n\n" +
	strings.Repeat("Take the text out first, and look at the layout only when the text is not enough.\n", 68))

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(ordinary)))
	b.ReportAllocs()
	for b.Loop() {
		if d := Parse(ordinary, "pdf-tools"); !d.Loaded {
			b.Fatal(d.Diagnostics)
		}
	}
}
