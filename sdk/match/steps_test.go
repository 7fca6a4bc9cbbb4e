package match

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// The steps of hostile patterns grow as they are said to: with the text, and for runs
// that something else must not fit with its square.
func TestStepsGrow(t *testing.T) {
	tests := []struct {
		name, pattern string
		text          func(n int) string
		factor        float64 // for a text of twice the length
	}{
		{"stars", strings.Repeat("*a", 100) + "b", func(n int) string { return strings.Repeat("a", 100*n) }, 2.2},
		{"folders", strings.Repeat("**/", 100) + "b*", func(n int) string { return strings.Repeat("a/", 100*n) }, 2.2},
		{"braces", strings.Repeat("{a,b}", 8) + strings.Repeat("*a", 50) + "*", func(n int) string { return strings.Repeat("a", 100*n) }, 2.2},
		{"not", "*!(a*b)*!(c)x*y", func(n int) string { return strings.Repeat("ab", 50*n) + "y" }, 4.4},
		{"regex", "/(a*)*" + strings.Repeat("a?", 50) + "b/", func(n int) string { return strings.Repeat("a", 100*n) }, 2.2},
		{"jsonpath", "$..*..*..b", func(n int) string { return "[" + strings.Repeat("[[[0]]],", 100*n) + "0]" }, 2.2},
		{"xpath", "//*[.//*]//b", func(n int) string { return "<r>" + strings.Repeat("<a><c/></a>", 100*n) + "</r>" }, 2.2},
	}
	for _, tt := range tests {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var before int
		for n := 4; n <= 16; n *= 2 {
			m := newMeter()
			if _, err := p.match(tt.text(n), m); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			steps := maxSteps - m.left
			if before > 0 && float64(steps) > tt.factor*float64(before) {
				t.Errorf("%s: %d steps, and %d on half of the text", tt.name, steps, before)
			}
			before = steps
		}
	}
}

// What would never end ends as an overflow.
func TestStepsEnd(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	wide := "<r>" + strings.Repeat("<a>x</a>", 20_000) + "</r>"
	for _, tt := range []struct{ pattern, text string }{
		{`$..*..*..*..*`, deep},
		{`$[?@..*..*..*]`, deep},
		{`$` + strings.Repeat("[*,*]", 40), `[[[[1]]]]`},
		{`$[?$[?$[?$[?$[?$.a]]]]]`, `[` + strings.Repeat(`{"a":1},`, 500) + `0]`},
		{`$[?search('aaaa', @)]`, manyExpressions(20_000)},
		{`//a[count(//a[count(//a)=1])=1]`, wide},
		{`//a[contains(string(/), 'y')]`, wide},
		{`//*[preceding::*[following::*[.='y']]]`, wide},
		{`/a` + strings.Repeat("?a{50}", 100) + `/`, strings.Repeat("a", 4<<20)},
		{`*` + strings.Repeat("!(*!(*b)*)", 50), strings.Repeat("a", 4000)},
		{`$.a`, "{" + strings.Repeat(" ", maxDocument) + "}"},
		{`//a`, "<a>" + strings.Repeat(" ", maxDocument) + "</a>"},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Errorf("Parse(%.40q): %v", tt.pattern, err)
			continue
		}
		if _, err := p.Match(tt.text); sdk.OutcomeOf(err) != sdk.Overflow {
			t.Errorf("%.40q gave %v", tt.pattern, err)
		}
	}
}

// What a pattern costs of many texts is bounded together, and what is cheap is asked of ten thousand.
func TestBudget(t *testing.T) {
	path := "known://" + strings.Repeat("a", 200)
	for _, tt := range []struct{ pattern, text string }{
		{`/(a?b){1000}c/`, path},
		{`*` + strings.Repeat("!(*!(*b)*)", 50), path},
		{`$..a`, "[" + strings.Repeat(" ", 1<<18)}, // no JSON, which is known when it was read
		{`//a`, "<a>" + strings.Repeat(" ", 1<<18) + "</b"},
		{`//a[.='x']`, "<a>" + strings.Repeat("<b/>", 5000) + "</a>"},
		{`b`, strings.Repeat("a", 10<<20)},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		counted, asked := p.Within(&Budget{1 << 20}), 0
		for err == nil && asked < 1000 {
			_, err = counted.Search(tt.text)
			asked++
		}
		if sdk.OutcomeOf(err) != sdk.Overflow || asked < 2 || !strings.Contains(err.Error(), "on all that it is asked of together") {
			t.Errorf("%.40q of %d texts: %v", tt.pattern, asked, err)
		}
		if _, again := counted.Match(tt.text); sdk.OutcomeOf(again) != sdk.Overflow {
			t.Errorf("%.40q goes on behind its end", tt.pattern)
		}
	}
	for pattern, text := range map[string]string{`known://**/*b`: path, `/^known:.*b$/`: path, `$.a`: `{"b":1}`, `known`: strings.Repeat("a", 10<<10)} {
		p, err := Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		counted := p.Within(NewBudget())
		for range 10_000 {
			if _, err := counted.Search(text); err != nil {
				t.Fatalf("%q: %v", pattern, err)
			}
		}
	}
	one, err := Parse(`/a` + strings.Repeat("?a{50}", 100) + `/`)
	if err != nil {
		t.Fatal(err)
	}
	counted := one.Within(NewBudget())
	for n := range 5 { // one text alone is too much, and is counted
		_, err := counted.Match(strings.Repeat("a", 4<<20))
		if sdk.OutcomeOf(err) != sdk.Overflow || strings.Contains(err.Error(), "together") != (n == 4) {
			t.Errorf("text %d: %v", n, err)
		}
	}
}

// manyExpressions is a document of expressions, each another one.
func manyExpressions(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a{100}a{100}%d",`, i)
	}
	return "[" + b.String() + "0]"
}

func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{`**/*.{go,md}`, `a/b.go`}, {`!(a|[b-c]*)?`, `x`}, {`/(a|b)*c{2,3}/i`, `abcc`}, {`{{a,b},c}*\`, `bc`},
		{`$..a[?@.b == 1 && search(@.c, 'x')]`, `{"a":[{"b":1,"c":"x"}]}`}, {`$.5-a['b',1:2:-1]`, `{"5-a":[1]}`},
		{`//a[@id='1']/ancestor::*[last()]|//b`, page}, {`//a[translate(., 'a', 'b') = concat('b', 'c')]`, `<html><a>ac<br></html>`},
		{`/r/a[position() mod 2 = 1]`, page}, {`//*[sum(//a) > -1 or not(following-sibling::b)]`, page},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Parse(pattern)
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		if own, err := p.Match(pattern); !own || err != nil {
			t.Fatalf("%q is not found by itself: %v", pattern, err)
		}
		found, err := p.Match(text)
		if o := sdk.OutcomeOf(err); err != nil && (found || o != sdk.Validation && o != sdk.Overflow) {
			t.Fatalf("%q on %q: %v, %v", pattern, text, found, err)
		}
		if found && !strings.HasPrefix(text, p.Prefix()) {
			t.Fatalf("%q matches %q, which does not begin with %q", pattern, text, p.Prefix())
		}
		inside, err := p.Search(text)
		if found && err == nil && !inside && !p.glob.negated && !strings.Contains(text, "\n") {
			t.Fatalf("%q fits %q, and no part of it", pattern, text)
		}
	})
}

// A glob of the simple kind means the same to both readers.
func FuzzGlobsAgree(f *testing.F) {
	f.Add("a/**/b*/?c", "a/x/bb/cc")
	f.Add("**/[ab]*", "x/ab")
	f.Add("*??", "泊")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		special := strings.ContainsAny(pattern, `\{}[]!()$`) || strings.Contains(pattern, "***") || !strings.ContainsAny(pattern, "*?") || strings.ContainsAny(path, `*?\`)
		noPath := strings.Contains("/"+path+"/", "//") || strings.Contains("/"+pattern+"/", "//") || !utf8.ValidString(path) || !utf8.ValidString(pattern)
		folder, tree := strings.CutSuffix(pattern, "/**")
		if special || noPath || tree && strings.Contains(folder, "*") { // of a*/** the library finds no a
			return
		}
		p, err := Parse(pattern)
		g, err2 := ParseGlob(pattern)
		if err != nil || err2 != nil {
			return
		}
		if got, _ := p.Match(path); got != g.Match(path) {
			t.Fatalf("%q on %q: %v, and ParseGlob says %v", pattern, path, got, g.Match(path))
		}
	})
}

func BenchmarkPattern(b *testing.B) {
	paths := []string{"known://project/notes/2026", "src/components/[id]/page.tsx", "log://turn_12/bash/list", "daemon/internal/store/entry.go"}
	for _, bb := range []struct{ name, pattern string }{
		{"glob", "src/**/*.tsx"}, {"literal", "known://project"}, {"regex", `/\.go$/`}, {"not", "!(src|known:)/**"},
	} {
		p, err := Parse(bb.pattern)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := p.Match(paths[i%len(paths)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
