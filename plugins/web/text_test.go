package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
)

// FuzzText: whatever is said of a text, what it is decoded to is one, and only its own kind of document is read as it.
func FuzzText(f *testing.F) {
	for _, header := range []string{"text/plain; charset=utf-16", "text/html; charset=iso-2022-jp", "application/json", "text/plain; charset=gb18030", "", "x"} {
		f.Add(header, []byte("caf\xe9 \x1b$B$3$s\x1b(B"))
	}
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		is, media := kindOf(header, body[:min(len(body), 512)])
		if len(media) > mostType || strings.ContainsAny(media, "\r\n\x1b\x00") {
			t.Errorf("the type is %q", media)
		}
		if is == reader.Other || is == reader.PDF {
			return
		}
		text, r := reader.Read(reader.Document{Kind: is, Type: header, Form: reader.Raw}, reader.Whole(body))
		if !utf8.ValidString(text) || len(text) > 4*len(body)+4 {
			t.Errorf("%d bytes, %s", len(text), r.Failed)
		}
		if is == reader.Text && plain(header, body) && text != string(reader.Whole(body)) {
			t.Errorf("%q is plain, and becomes %q, %s", body, text, r.Failed)
		}
	})
}

// TestSection: the parts of a text that its results show are the text, line by line.
func TestSection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab]{0,2}\n|é){0,12}`).Draw(t, "text")
		if rapid.IntRange(0, 9).Draw(t, "wide") == 0 {
			text += strings.Repeat("é", mostShown)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		for at := 1; at <= len(lines); {
			shown, last, part := section(text, at, limit)
			if part {
				if last != at || !strings.HasPrefix(lines[at-1], shown) || len(shown) > mostShown || len(lines[at-1]) <= mostShown {
					t.Fatalf("line %d of %q: a part of %d bytes", at, text, len(shown))
				}
			} else if want := strings.Join(lines[at-1:last], "\n"); shown != want || last-at >= limit || last < min(at+limit-1, len(lines)) && len(want)+len(lines[last]) <= mostShown {
				t.Fatalf("lines %d to %d of %q: %q", at, last, text, shown)
			}
			at = last + 1
		}
		if _, err := (page{text: text, address: "https://example.org/"}).result(fetchArgs{Line: len(lines) + 1, Limit: 1}, ""); err == nil {
			t.Fatalf("there is a line %d of %q", len(lines)+1, text)
		}
	})
}
