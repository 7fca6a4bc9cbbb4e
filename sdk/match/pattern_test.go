package match

import (
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// The document of the rows that ask for an element.
const page = `<?xml version="1.0"?><r><a id='1'>one</a><b/></r>`

func TestPatternTable(t *testing.T) {
	tests := []struct {
		pattern, text string
		kind          Kind
		want          bool
	}{
		{`*.go`, `main.go`, KindGlob, true},
		{`*.go`, `cmd/main.go`, KindGlob, false},
		{`**/*.go`, `main.go`, KindGlob, true},
		{`src/**`, `src/a/b`, KindGlob, true},
		{`src/**`, `src`, KindGlob, true},
		{`src/*`, `src/a/b`, KindGlob, false},
		{`[ab].go`, `a.go`, KindLiteral, false},
		{`[ab]*.go`, `a.go`, KindGlob, true},
		{`*??`, `泊`, KindGlob, false},
		{`*?`, `泊`, KindGlob, true},
		{`*[^a][^a]`, `泊`, KindGlob, false},
		{`*??`, "x\x80", KindGlob, true},
		{`!*.go`, `b.md`, KindGlob, true},
		{`!(a).go`, `b.go`, KindGlob, true},
		{`a(b)*`, `a(b)c`, KindGlob, true},
		{`known://a/*`, `known://a/b`, KindGlob, true},
		{`known://a/*`, `known://a/b/c`, KindGlob, false},
		{`known://a/**`, `known://a/b/c`, KindGlob, true},
		{`https://x.com/*`, `https://x.com/a/b`, KindGlob, false},
		{`/^a$/`, `ab`, KindRegex, false},
		{`/usr/bin/`, `/usr/bin/`, KindRegex, true},
		{`//a[@id='1']`, page, KindXPath, true},
		{`/r/a[2]`, page, KindXPath, false},
		{`$.5`, `x`, KindJSONPath, false},
		{`a.*b`, `axxb`, KindGlob, false},
		{`foo`, `foobar`, KindLiteral, false},
		{`src/[id]/*`, `src/[id]/page.tsx`, KindGlob, true},
		{`src/(group)/*`, `src/(group)/x`, KindGlob, true},
	}
	for _, tt := range tests {
		asked(t, tt.pattern, tt.text, tt.kind, tt.want)
	}
	if _, err := Parse(`/[/`); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("/[/: %v", err)
	}
}

func asked(t *testing.T, pattern, text string, kind Kind, want bool) {
	t.Helper()
	p, err := Parse(pattern)
	if err != nil {
		t.Errorf("Parse(%q): %v", pattern, err)
		return
	}
	got, err := p.Match(text)
	if err != nil || got != want || p.Kind() != kind {
		t.Errorf("%q on %q: %v, %v, read as %s", pattern, text, got, err, p.Kind())
	}
}

// TestMatch: a pattern of each shape, held to whole texts.
// spec: hedberg
func TestMatch(t *testing.T) {
	store := `{"5":1,"a-b":{"c":[1,2,3]},"books":[{"title":"Go","price":8},{"title":"C","price":20}],"match":null}`
	feed := `<rss xmlns:dc="urn:dc"><channel><link>https://x</link><dc:creator>Ann</dc:creator><item><title>One</title></item><item><title>Two</title></item></channel></rss>`
	tests := []struct {
		pattern, text string
		kind          Kind
		want          bool
	}{
		// Globs: what is no pattern stands for itself.
		{`src/[id]/*`, `src/i/page.tsx`, KindGlob, false},
		{`src/[a-c]?/*`, `src/b1/x`, KindGlob, true},
		{`src/[!a-c]?/*`, `src/b1/x`, KindGlob, false},
		{`src/[id*`, `src/[idea`, KindGlob, true},
		{`[*].tsx`, `[slug].tsx`, KindGlob, true},
		{`[]x]*`, `]a`, KindGlob, true},
		{`*.{ts,tsx}`, `a.tsx`, KindGlob, true},
		{`{a,b/{c,d}}/*`, `b/d/x`, KindGlob, true},
		{`src/{id}/*`, `src/{id}/x`, KindGlob, true},
		{`\*.md`, `*.md`, KindGlob, true},
		{`\*.md`, `a.md`, KindGlob, false},
		{`!(a|b*).go`, `c.go`, KindGlob, true},
		{`!(a|b*).go`, `bob.go`, KindGlob, false},
		{`!(a).go`, `a.go`, KindGlob, false},
		{`!(a).go`, `cmd/b.go`, KindGlob, false},
		{`!*.go`, `b.go`, KindGlob, false},
		{`!(a`, `!(a`, KindLiteral, true},
		{`**/x/**`, `a/b/x`, KindGlob, true},
		{`**/x/**`, `x/y`, KindGlob, true},
		{`a/**/b`, `a/b`, KindGlob, true},
		{`a/**/b`, `a/x/y/b`, KindGlob, true},
		{`a/**/b`, `ab`, KindGlob, false},
		{`**`, `known://a/b`, KindGlob, true},
		{`known://**`, `known://a/b`, KindGlob, true},
		{`?.go`, `é.go`, KindGlob, true},
		{`*`, `.git`, KindGlob, true},
		{`*é*`, `café au`, KindGlob, true},

		// Regular expressions: the flags of JavaScript, found anywhere.
		{`/MAIN/i`, `main.go`, KindRegex, true},
		{`/a.b/s`, "a\nb", KindRegex, true},
		{`/^b$/gm`, "a\nb", KindRegex, true},
		{`/usr/bin`, `/usr/bin`, KindLiteral, true},
		{`/usr/bin`, `/usr/bin/x`, KindLiteral, false},

		// JSONPath: any value that it comes to, a null too.
		{`$.5`, store, KindJSONPath, true},
		{`$.a-b.c[2]`, store, KindJSONPath, true},
		{`$.a-b.c[3]`, store, KindJSONPath, false},
		{`$.match`, store, KindJSONPath, true},
		{`$..title`, store, KindJSONPath, true},
		{`$..5`, store, KindJSONPath, true},
		{`$['books'][?@.price < 10]`, store, KindJSONPath, true},
		{`$.books[?@.price > 100]`, store, KindJSONPath, false},
		{`$.books[?match(@.title, 'G.')]`, store, KindJSONPath, true},
		{`$.books[?match(@.title, 'G')]`, store, KindJSONPath, false},
		{`$.books[?search(@.title, 'o')]`, store, KindJSONPath, true},
		{`$.books[?search(@.title, @.none)]`, store, KindJSONPath, false},
		{`$.books[?search(@.title, '(')]`, store, KindJSONPath, false},
		{`$.books[?length(@.title) == 2]`, store, KindJSONPath, true},
		{`$.books[?@.title == 'match(']`, store, KindJSONPath, false},
		{`$[0]`, `[0]`, KindJSONPath, true},
		{`$[0]`, `[`, KindJSONPath, false},

		// XPath, of XML and of HTML.
		{`//dc:creator`, feed, KindXPath, true},
		{`//item[2]/title[.='Two']`, feed, KindXPath, true},
		{`//item[3]`, feed, KindXPath, false},
		{`//link[.='https://x']`, feed, KindXPath, true},
		{`//title/ancestor::channel`, feed, KindXPath, true},
		{`/rss/channel/child::item`, feed, KindXPath, true},
		{`//item = 'Two'`, feed, KindXPath, true},
		{`//item/text()`, feed, KindXPath, false},
		{`//a/i`, `<p><a><i>x</i></a></p>`, KindXPath, true},
		{`/r/a/@id`, page, KindXPath, true},
		{`/r/b/@id`, page, KindXPath, false},
		{`//p[contains(., 'two')]`, `<!doctype html><html><body><p>one<br>two</p></body></html>`, KindXPath, true},
		{`//p/br/b`, `<html><p>one<br><b>two</b></p></html>`, KindXPath, false},
		{`//a`, `no document`, KindXPath, false},
		{`//a`, `<a`, KindXPath, false},

		// Everything is its own pattern.
		{`src/[ab]*.go`, `src/[ab]*.go`, KindGlob, true},
		{`!*.go`, `!*.go`, KindGlob, true},
		{`/^x/`, `/^x/`, KindRegex, true},
		{`//a`, `//a`, KindXPath, true},
		{`what?(really)`, `what?(really)`, KindGlob, true},
		{``, ``, KindLiteral, true},
		{``, `a`, KindLiteral, false},
		{`/src/a[bc]*`, `/src/ab1`, KindGlob, true},
		{`/src/[id]/page`, `/src/[id]/page`, KindLiteral, true},
	}
	for _, tt := range tests {
		asked(t, tt.pattern, tt.text, tt.kind, tt.want)
	}
	if found, err := (Pattern{}).Match("a"); found || err != nil {
		t.Errorf("the zero value: %v, %v", found, err)
	}
}

func TestSearch(t *testing.T) {
	const body = "func main() {\n\treturn path/filepath // what? no\n}\n"
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{`main()`, body, true},
		{`Main()`, body, false},
		{`/MAIN/i`, body, true},
		{`/^return/`, body, false},
		{`ret*path`, body, true},
		{`path*path`, body, true}, // over a slash
		{`func*return`, body, false},
		{`func**return`, body, false},
		{`ma?n`, body, true},
		{`what?`, body, true},
		{`[fg]*main`, body, true},
		{`!ret*path`, body, false},
		{`!nothing*`, body, true},
		{`$.a`, `{"a":1}`, true},
		{`$.a`, body, false},
		{`//a`, `<b><a/></b>`, true},
		{``, body, true},
	}
	for _, tt := range tests {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.pattern, err)
			continue
		}
		if got, err := p.Search(tt.text); err != nil || got != tt.want {
			t.Errorf("%q in %.40q: %v, %v", tt.pattern, tt.text, got, err)
		}
	}
}

// TestParseRefuses: a pattern that cannot be used is an error that says why.
// spec: hedberg wrong_search
func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ pattern, says string }{
		{`/[/`, "missing closing ]"},
		{`/a(?=b)/`, "no lookaround"},
		{`/(x{1000}){2}/`, "repeat"},
		{`/` + strings.Repeat("x{1000}", 20) + `/`, "instructions"},
		{`/` + strings.Repeat("x", maxExpression) + `/`, "longer than"},
		{`$.`, "JSONPath"},
		{`$[`, "JSONPath"},
		{`$[?nothing(@.a)]`, "JSONPath"},
		{`$[?match(@.a)]`, "match"},
		{`//[`, "XPath"},
		{`//a[`, "XPath"},
		{`//a[$x]`, "XPath"},
		{`//a[matches(., 'b')]`, "matches()"},
		{`//a[replace (., 'b', 'c') = 'd']`, "replace()"},
		{`//nowhere::a`, "XPath"},
		{strings.Repeat("{a,b}", 9) + "*", "braces"},
		{strings.Repeat("a", maxPattern+1), "longer than"},
		{strings.Repeat("*", maxPattern+1), "longer than"},
	} {
		_, err := Parse(tt.pattern)
		var bad *PatternError
		if !errors.As(err, &bad) || sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(bad.Reason, tt.says) || strings.Contains(bad.Reason, ours) {
			t.Errorf("Parse(%.40q) gave %v", tt.pattern, err)
		}
	}
}

// What only shows when a document is there is an error then, with the same code.
func TestSenseless(t *testing.T) {
	p, err := Parse(`//a[starts-with(1, 2)]`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Match(`<a/>`); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("it gave %v", err)
	}
}

func TestPrefix(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{`known://a/*`, `known://a/`},
		{`known://a/**`, `known://a`},
		{`known://a`, `known://a`},
		{`src/{ab,ac}*`, `src/`},
		{`src/[id]/*`, `src/[id]/`},
		{`src/[id]x*`, `src/`},
		{`src/\[a*`, `src/`}, // it matches src/[ab and its own text
		{`!src/*`, ``},
		{`/src/`, ``},
		{`*`, ``},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Prefix(); got != tt.want {
			t.Errorf("%q begins with %q, not %q", tt.pattern, got, tt.want)
		}
	}
}
