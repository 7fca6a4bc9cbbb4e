package searched

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRepeats: an address that is made of what a model searched for is the model's own; one that a page about that has
// by itself is not, nor one of the person's words.
func TestRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		query, said, address string
		want                 bool
	}{
		"a page about it":                      {query: "golang slog structured logging tutorial", address: "https://go.dev/blog/slog"},
		"a title with some of the words":       {query: "how to center a div with css grid", address: "https://css.example/center-a-div-2024/"},
		"a host of one of the words":           {query: "kubernetes ingress controller docs", address: "https://kubernetes.io/docs/concepts/services-networking/ingress/"},
		"a number of a document":               {query: "rfc9110 status codes", address: "https://www.rfc-editor.org/rfc/rfc9110.html"},
		"a number that many have":              {query: "CVE-2024-3094 xz backdoor", address: "https://nvd.example/vuln/detail/CVE-2024-3094"},
		"a version":                            {query: "postgres 16.2 release notes", address: "https://www.postgresql.org/docs/release/16.2/"},
		"another question's number":            {query: "sorted array branch prediction", address: "https://stackoverflow.com/questions/11227809/why"},
		"a video":                              {query: "boiling kettles", address: "https://video.example/watch?v=dQw4w9WgXcQ"},
		"a narrower place":                     {query: "site:go.dev slog handlers", address: "https://go.dev/blog/slog"},
		"a narrower place alone":               {query: "slog handlers filetype:pdf", address: "https://go.dev/talks/x.pdf"},
		"short words of a query":               {query: "where to go in rome", address: "https://travel.example/x?to=1&in=2&a=go"},
		"other words of a language":            {query: "чайник кипит долго зимой", address: "https://ru.example/%D1%87%D0%B0%D0%B9%D0%BD%D0%B8%D0%BA"},
		"a search elsewhere":                   {query: "falcon merges with acme", address: "https://other.example/search?q=falcon+merges+with+acme", want: true},
		"one word in a search elsewhere":       {query: "will falcon ever be sold", address: "https://other.example/search?q=falcon", want: true},
		"in the name of a value":               {query: "falcon acme", address: "https://other.example/?falcon=1", want: true},
		"escaped":                              {query: "falcon", address: "https://other.example/?q=%66%61lcon", want: true},
		"escaped twice":                        {query: "falcon", address: "https://other.example/?q=%2566%2561lcon", want: true},
		"in other letters":                     {query: "falcon", address: "https://other.example/?q=FALCON", want: true},
		"in hexadecimal":                       {query: "falcon acme", address: "https://other.example/x/" + hex.EncodeToString([]byte("falcon acme")), want: true},
		"in base64":                            {query: "falcon acme", address: "https://other.example/x?y=" + base64.URLEncoding.EncodeToString([]byte("falcon acme")), want: true},
		"in base64, of a path":                 {query: "falcon", address: "https://other.example/" + base64.RawURLEncoding.EncodeToString([]byte("q=falcon")), want: true},
		"all of it in a path":                  {query: "falcon merger", address: "https://other.example/tag/falcon-merger", want: true},
		"all of it in a path, without blanks":  {query: "falcon merger", address: "https://other.example/hashtag/falconmerger", want: true},
		"all of it in a path, over parts":      {query: "falcon merger", address: "https://other.example/s/falcon/merger/", want: true},
		"without the short words":              {query: "a falcon of the merger", address: "https://other.example/s/falcon-merger/", want: true},
		"much of it in a path":                 {query: "what became of the falcon merger with acme in spring", address: "https://other.example/became-of-the-falcon-merger", want: true},
		"one word in a path":                   {query: "falcon", address: "https://other.example/wiki/Falcon", want: true},
		"all that is looked for in one place":  {query: "site:other.example falcon merger", address: "https://other.example/falcon-merger", want: true},
		"by an operator":                       {query: "inurl:falconmerger", address: "https://other.example/falconmerger", want: true},
		"in quotes":                            {query: `"falcon merger"`, address: "https://other.example/falcon-merger", want: true},
		"an address that was looked for":       {query: "https://other.example/x?d=falcon", address: "https://other.example/x?d=falcon", want: true},
		"no word of a language":                {query: "what is 7f3a9b1e of kettles", address: "https://other.example/p/7f3a9b1e.html", want: true},
		"no word of a language, in a host":     {query: "what is 7f3a9b1e of kettles", address: "https://7f3a9b1e.other.example/", want: true},
		"no word of a language, in parts":      {query: "what is 7f3a9b1e of kettles", address: "https://other.example/7f3a/9b1e/x", want: true},
		"a long number":                        {query: "call 4917612345678 now", address: "https://other.example/n/4917612345678", want: true},
		"a long word":                          {query: "see qzxvwkjhqzxvwkjhqzxvwkjhqzxv there", address: "https://other.example/qzxvwkjhqzxvwkjhqzxvwkjhqzxv", want: true},
		"another writing, in a query":          {query: "секрет проекта", address: "https://other.example/?q=%D1%81%D0%B5%D0%BA%D1%80%D0%B5%D1%82", want: true},
		"no blanks between words":              {query: "秘密的项目", address: "https://other.example/s/%E7%A7%98%E5%AF%86%E7%9A%84%E9%A1%B9%E7%9B%AE", want: true},
		"the person's words":                   {query: "falcon merger", said: "find what is known of the Falcon merger.", address: "https://other.example/search?q=falcon+merger"},
		"the person's number":                  {query: "CVE-2024-3094", said: "what is CVE-2024-3094?", address: "https://nvd.example/vuln/detail/CVE-2024-3094"},
		"the person's words and one beside it": {query: "falcon merger acme", said: "find what is known of the falcon merger", address: "https://other.example/search?q=falcon+merger+acme", want: true},
		"part of a word of the person's":       {query: "falcon", said: "of falconry", address: "https://other.example/?q=falcon", want: true},
		"no address":                           {query: "falcon", address: "https://other.example/%zz", want: true},
	} {
		if got := searchedFor(c.query, c.said).in(c.address); got != c.want {
			t.Errorf("%s: %q for %q: %t", name, c.address, c.query, got)
		}
	}
}

// TestNoQueryIsPassedOn: in whatever way an engine puts a query into an address, its search vouches for none of these.
func TestNoQueryIsPassedOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{4,12}`), 1, 8).Draw(t, "words")
		query := strings.Join(words, " ")
		address := rapid.SampledFrom([]string{
			"https://e.example/search?q=" + url.QueryEscape(query),
			"https://e.example/search?q=" + url.QueryEscape(url.QueryEscape(query)) + "&page=1",
			"https://e.example/s/" + url.PathEscape(query),
			"https://e.example/s/" + strings.Join(words, "-") + "/",
			"https://e.example/s/" + strings.Join(words, "") + ".html",
			"https://e.example/s/" + strings.Join(words, "/"),
			"https://e.example/s/" + strings.ToUpper(strings.Join(words, "_")),
			"https://e.example/s?a=" + strings.Join(words, "&a="),
			"https://e.example/s/" + hex.EncodeToString([]byte(query)),
			"https://e.example/s?x=" + base64.StdEncoding.EncodeToString([]byte(query)),
		}).Draw(t, "address")
		if !searchedFor(query, "find it").in(address) {
			t.Fatalf("%q is vouched for, of %q", address, query)
		}
	})
}
