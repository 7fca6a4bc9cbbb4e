package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
)

// wide is a text in UTF-16.
func wide(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a buffer takes all
	_ = z.Close()
	return b.String()
}

// TestOddDocuments: documents that contradict their headers, and headers that contradict themselves, come to a text that a
// person would expect, or are named.
func TestOddDocuments(t *testing.T) {
	const html = "text/html"
	low, high := binary.LittleEndian, binary.BigEndian
	for name, c := range map[string]struct {
		header, body string
		more         []any
		has          string // "\n" before and behind: all of the text
	}{
		"a mark against the header":            {"text/plain; charset=iso-8859-1", "\xef\xbb\xbfcaf\xc3\xa9", nil, "\ncafé\n"},
		"a mark of UTF-16 against the header":  {"text/plain; charset=utf-8", "\xfe\xff" + wide(high, "café"), nil, "\ncafé\n"},
		"a mark against the meta":              {html, "\xef\xbb\xbf<meta charset=windows-1251><p>caf\xc3\xa9", nil, "\ncafé\n"},
		"the header against the meta":          {html + "; charset=utf-8", "<meta charset=iso-8859-1><p>caf\xc3\xa9", nil, "\ncafé\n"},
		"UTF-16 by header alone":               {"text/plain; charset=utf-16be", wide(high, "café"), nil, "\ncafé\n"},
		"HTML of UTF-16 by header alone":       {html + "; charset=UTF-16", wide(low, "<p>café"), nil, "\ncafé\n"},
		"UTF-16 by meta, which it cannot be":   {html, "<meta charset=utf-16><p>caf\xc3\xa9", nil, "\ncafé\n"},
		"UTF-7, which is none":                 {html + "; charset=utf-7", "+ADw-script+AD4-", nil, "+ADw-script+AD4-"},
		"half a pair":                          {"text/plain; charset=utf-16le", wide(low, "a") + "\x00\xd8" + wide(low, "b"), nil, "\na\uFFFDb\n"},
		"half a unit":                          {"text/plain; charset=utf-16le", wide(low, "ab") + "c", nil, "\nab\uFFFD\n"},
		"a charset that is replaced":           {"text/plain; charset=hz-gb-2312", "~{<:Ky~}", nil, "\n\uFFFD\n"},
		"a charset in quotes":                  {`text/plain; charset="ISO-8859-1"`, "caf\xe9", nil, "\ncafé\n"},
		"two charsets":                         {"text/plain; charset=utf-8; charset=iso-8859-1", "caf\xe9", nil, "\ncafé\n"},
		"UTF-8 that is none":                   {"text/plain; charset=utf-8", "caf\xe9", nil, "\ncaf\uFFFD\n"},
		"UTF-8 of surrogates":                  {"text/plain; charset=utf-8", "a\xed\xa0\x80b", nil, "\na\uFFFDb\n"},
		"UTF-8 too long":                       {"text/plain; charset=utf-8", "a\xc0\xafb", nil, "\na\uFFFDb\n"},
		"XML of another charset":               {"application/xml", "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>", nil, "<a>é</a>"},
		"a type in capitals":                   {"TEXT/HTML; CHARSET=UTF-8", "<b>x</b>", nil, "\n**x**\n"},
		"two types":                            {"text/html, text/plain", "<!doctype html><b>x</b>", nil, "\n**x**\n"},
		"a type with what it has twice":        {"text/html; a=b; a=c", "<b>x</b>", nil, "\n**x**\n"},
		"a type without end":                   {"text/" + strings.Repeat("x", 300), "<!doctype html><b>x</b>", nil, "\n**x**\n"},
		"any type":                             {"*/*", "<b>x</b>", nil, "was not read"},
		"parts without end":                    {"multipart/x-mixed-replace; boundary=x", "--x\r\n\r\nx", nil, "was not read"},
		"a picture as a text":                  {"text/plain", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", nil, "text/plain, 16 bytes. It is no text"},
		"a picture as a page":                  {html, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", nil, "text/html, 16 bytes. It is no text"},
		"UTF-32":                               {"text/plain", "\x00\x00\xfe\xff\x00\x00\x00a", nil, "It is no text"},
		"gzip as it is":                        {"text/plain", gzipped("here"), nil, "It is no text"},
		"a PDF as a page":                      {html, "%PDF-1.4\n<p>x", nil, "%PDF-1.4"},
		"no bytes of a PDF":                    {"application/pdf", "", nil, "0 bytes"},
		"escapes of a terminal":                {"text/plain", "a\x1b[31mb", nil, "a\x1b[31mb"}, // what is shown is cleaned by the daemon
		"line breaks of an old machine":        {"text/plain", "a\rb", nil, "a\rb"},
		"nothing but line breaks":              {"text/plain", strings.Repeat("\n", 999_999), nil, "Lines 1 to 200 of 999999. Read on with line = 201."},
		"nested without end, in its source":    {html, "<title>Of\n kettles</title>" + strings.Repeat("<div>", 2000), []any{"raw", true}, "Of kettles\n"},
		"a title after one of a picture":       {html, "<svg><title>no</title></svg><p>x<title>yes</title>", nil, "yes\nhttp"},
		"a title of a megabyte":                {html, "<title>" + strings.Repeat("é", 400_000) + "</title>x", nil, "é…\n"},
		"links below a base":                   {html, "<base href='https://cdn.example/x/y?z'><a href=a>l</a> <a href=/b>m</a>", nil, "[l](https://cdn.example/x/a) [m](https://cdn.example/b)"},
		"links below a relative base":          {html, "<base href='/x/'><base href='/y/'><a href=a>l</a>", nil, "/x/a)"},
		"links below a base that is none":      {html, "<base href='javascript:x'><base href='http://[x'><a href=/a>l</a>", nil, "/a)"},
		"a base of its own host in a fragment": {html, "<base href='#'><a href=/a>l</a>", nil, "/a)"},
		"characters that are none":             {html, "<p>&#0;&#xd800;&#x110000;x", nil, "\n\uFFFD\uFFFD\uFFFDx\n"},
		"frames":                               {html, "<frameset><frame src=x></frameset>", nil, "the end."},
		"everything after it is text":          {html, "<plaintext></plaintext><b>x", nil, "/plaintext"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, serves(c.header, c.body))
			if r := s.get(t, "/a/b", c.more...); !r.Success || !strings.Contains(r.Output, c.has) {
				t.Errorf("without %q: %.500q", c.has, r.Output)
			}
		})
	}
}

// TestOddHTML: pages that are made to cost much come to a text or to one sentence, and to no more than is wanted.
func TestOddHTML(t *testing.T) {
	s := readersOf(t)
	for name, page := range map[string]string{
		"a million bold ones":     strings.Repeat("<b>", 300_000) + "x",
		"paragraphs of bold ones": strings.Repeat("<p><b>", 100_000) + "x",
		"links in links":          strings.Repeat("<a href=x><p>", 50_000) + "x",
		"tables in tables":        strings.Repeat("<table><tr><td>", 150) + "x",
		"lists in lists":          strings.Repeat("<ul><li>a", 250) + "x",
		"quotes in quotes":        strings.Repeat("<blockquote>a", 500) + "x",
		"a wide cell":             "<table><tr><td colspan=100000000>a</table>",
		"wide and high cells":     "<table>" + strings.Repeat("<tr><td rowspan=65534 colspan=1000>a", 100) + "</table>",
		"a table of a million":    "<table>" + strings.Repeat("<tr><td>a<td>b", 70_000) + "</table>",
		"many attributes":         "<p " + strings.Repeat("a=b ", 250_000) + ">x",
		"a long attribute":        "<a href='" + strings.Repeat("x", 900_000) + "'>x</a>",
		"a comment without end":   "<!--" + strings.Repeat("-", 900_000),
		"a tag without end":       "<" + strings.Repeat("x", 900_000),
		"entities":                strings.Repeat("&CounterClockwiseContourIntegral;", 30_000),
		"what Markdown escapes":   strings.Repeat("*_`[]#>", 140_000),
		"code in backticks":       strings.Repeat("<code>`</code>", 50_000),
		"forms in forms":          strings.Repeat("<select><option>", 50_000),
		"templates":               strings.Repeat("<template>", 400) + "x",
		"pictures of formulas":    strings.Repeat("<math><mi><svg>", 100) + "x",
	} {
		for _, in := range []reader.Form{reader.Markdown, reader.Main, reader.Raw} {
			t.Run(name+" "+string(in), func(t *testing.T) {
				d := reader.Document{Kind: reader.HTML, Address: "https://example.org/x?CANARY", Form: in, Most: 1_000_000}
				text, _, err := s.read(t.Context(), d, []byte(page))
				if failed, is := errors.AsType[*sdk.Error](err); err != nil && (!is || failed.Outcome == sdk.Internal || strings.Contains(err.Error(), "CANARY") || strings.Contains(err.Error(), "\n")) {
					t.Error(err)
				}
				if len(text) > d.Most || in == reader.Raw && (err != nil || text != page[:min(len(page), d.Most)]) {
					t.Errorf("%d bytes, %v", len(text), err)
				}
			})
		}
	}
}

// TestOddPDFs: files that are made to cost much, or that are not as they say, come to their text or to one sentence.
func TestOddPDFs(t *testing.T) {
	s := readersOf(t)
	good := pdfOf("", words("They boil."))
	length := fmt.Sprintf("/Length %d", len(words("They boil.")))
	// of is the file with a part of it written otherwise, at the same length, so that its table of objects holds.
	of := func(part, otherwise string) []byte {
		if !bytes.Contains(good, []byte(part)) || len(otherwise) > len(part) {
			t.Fatalf("%q cannot become %q", part, otherwise)
		}
		return bytes.ReplaceAll(good, []byte(part), []byte(otherwise+strings.Repeat(" ", len(part)-len(otherwise))))
	}
	// behind is one whose table says more; nothing comes behind it that it has offsets of.
	behind := func(part, otherwise string) []byte {
		if !bytes.Contains(good, []byte(part)) {
			t.Fatalf("there is no %q", part)
		}
		return bytes.ReplaceAll(good, []byte(part), []byte(otherwise))
	}
	many := make([][]byte, 3000)
	for i := range many {
		many[i] = words(fmt.Sprint("page ", i))
	}
	for name, c := range map[string]struct {
		file []byte
		has  string // of the text; without one there is an error, or none
	}{
		"as it should be":                 {good, "They boil."},
		"more pages than it has":          {of("/Count 1", "/Count 9"), "They boil."},
		"no number of pages":              {of("/Count 1", "/Count/x"), "They boil."},
		"no pages, it says":               {of("/Count 1", "/Count 0"), "They boil."},
		"3,000 pages":                     {pdfOf("", many...), "page 2999"},
		"pages that are their own":        {of("[5 0 R ]", "[2 0 R ]"), ""},
		"a page that is its own contents": {of("/Contents 6 0 R", "/Contents 5 0 R"), ""},
		"a page that is its own parent":   {of("/Parent 2 0 R", "/Parent 5 0 R"), "They boil."},
		"a length that is its own":        {of("<< "+length+"  >>", "<</Length 6 0 R>>"), ""},
		"a length of too much":            {of(length+"  ", "/Length 9999"), ""},
		"a length of less":                {of(length, "/Length -1"), ""},
		"a table elsewhere":               {behind("startxref\n", "startxref\n9"), ""},
		"a table before the file":         {behind("startxref\n", "startxref\n-9"), ""},
		"a table that goes before itself": {behind("/Size 7 ", fmt.Sprintf("/Size 7 /Prev %d ", bytes.LastIndex(good, []byte("xref\n0")))), ""},
		"a table of 2^31":                 {behind("/Size 7 ", "/Size 2147483647 "), ""},
		"a table of less than nothing":    {behind("/Size 7 ", "/Size -7 "), ""},
		"a table with 2^31 rows":          {behind("xref\n0 7", "xref\n0 2147483647"), ""},
		"a table with 2^63 rows":          {behind("xref\n0 7", "xref\n0 9223372036854775807"), ""},
		"a table that begins before":      {behind("xref\n0 7", "xref\n-3 7"), ""},
		"no root":                         {behind("/Root 1 0 R ", ""), ""},
		"a root that is not there":        {behind("/Root 1 0 R", "/Root 99 0 R"), ""},
		"encrypted":                       {behind("/Root 1 0 R", "/Root 1 0 R /ID [(a)(b)] /Encrypt << /Filter /Standard /V 2 /R 3 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) /P -4 >>"), ""},
		"half of it":                      {good[:len(good)/2], ""},
		"lines before it":                 {append([]byte("\r\n\r\n"), good...), "They boil."},
		"much before it":                  {append(bytes.Repeat([]byte("x"), 2000), good...), ""},
		"a filter that nobody knows":      {pdfOf("/Filter /JBIG2Decode", words("x")), ""},
		"a thousand filters":              {pdfOf("/Filter ["+strings.Repeat("/FlateDecode ", 1000)+"]", words("x")), ""},
		"columns of 2^31":                 {pdfOf("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 2147483647 >>", inflating(t, words("x"), 2)), ""},
		"columns of less than nothing":    {pdfOf("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns -1 >>", inflating(t, words("x"), 2)), ""},
		"dictionaries in dictionaries":    {pdfOf("", bytes.Repeat([]byte("<< /a "), 200_000)), ""},
		"lists in lists":                  {pdfOf("", bytes.Repeat([]byte("["), 1_000_000)), ""},
		"parentheses without end":         {pdfOf("", []byte("BT "+strings.Repeat("(", 1_000_000)+" Tj ET")), ""},
		"a stack without end":             {pdfOf("", bytes.Repeat([]byte("1 "), 2_000_000)), ""},
		"states without end":              {pdfOf("", bytes.Repeat([]byte("q "), 2_000_000)), ""},
		"one page that breaks":            {pdfOf("", []byte("BT /F1 12 Tf (x) (y) Tj ET"), words("They boil.")), "They boil."},
		"nothing but zeros":               {append([]byte("%PDF-1.4\n"), make([]byte, 5<<20)...), ""},
		"a head and an end":               {[]byte("%PDF-1.4\nstartxref\n0\n%%EOF"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := reader.Document{Kind: reader.PDF, Address: "https://example.org/x?CANARY", Most: 1_000_000}
			text, _, err := s.read(t.Context(), d, c.file)
			if failed, is := errors.AsType[*sdk.Error](err); err != nil && (!is || failed.Outcome == sdk.Internal || strings.Contains(err.Error(), "CANARY") || strings.Contains(err.Error(), "\n")) {
				t.Error(err)
			}
			if !strings.Contains(text, c.has) || c.has != "" && err != nil {
				t.Errorf("without %q: %.100q, %v", c.has, text, err)
			}
		})
	}
}

// TestCompressedTwice: what two headers say, of which net/http undoes one, is no text of a page.
func TestCompressedTwice(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = []string{"gzip", "gzip"}
		serves("text/html", gzipped(gzipped("<p>here")))(w, nil)
	})
	if r := s.get(t, "/"); !strings.Contains(r.Output, "It is no text") || len(r.Writes) > 0 {
		t.Errorf("%q", r.Output)
	}
}
