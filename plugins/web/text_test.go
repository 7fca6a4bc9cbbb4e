package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
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
		if is == kindOther || is == kindPDF {
			return
		}
		text, err := decode(document{Kind: is, Type: header}, whole(body))
		if err == nil && !utf8.Valid(text) || len(text) > 4*len(body)+4 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		if is == kindText && plain(header, body) && (err != nil || string(text) != string(whole(body))) {
			t.Errorf("%q is plain, and becomes %q, %v", body, text, err)
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

// TestTitleInSource: what stands behind an empty title is none.
func TestTitleInSource(t *testing.T) {
	for page, want := range map[string]string{
		"<title>Kettles</title>all of them": "Kettles",
		"<title></title>all of them":        "",
		"<p>all of them</p><title>Kettles":  "Kettles",
		"all of them":                       "",
	} {
		if got := titleInSource([]byte(page)); got != want {
			t.Errorf("%s has the title %q, want %q", page, got, want)
		}
	}
}
