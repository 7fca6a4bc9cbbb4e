package edit

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// bodies draws texts of few different lines, so that places repeat, and with all kinds of
// endings.
func bodies() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a", "b", " a", "\tb", "", "  ", "NEW", "<<NEW x", "é漢 $& \\1", "SEARCH it", "</set>"})
	ending := rapid.SampledFrom([]string{"\n", "\n", "\r\n"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			b.WriteString(line.Draw(t, "line") + ending.Draw(t, "ending"))
		}
		return b.String() + rapid.SampledFrom([]string{"", "a", "c"}).Draw(t, "last")
	})
}

// marked writes a text between markers with a suffix that it does not have.
func marked(word, text string) string { return fmt.Sprintf("<<%s_Q\n%s\n%s_Q\n", word, text, word) }

func apply(t *rapid.T, text, body string) (Result, error) {
	e, err := Parse(text)
	if err != nil {
		return Result{}, err
	}
	r, err := e.Apply(body)
	if again, second := e.Apply(body); again.Body != r.Body || fmt.Sprint(second) != fmt.Sprint(err) {
		t.Fatalf("the second time it is %+v, %v", again, second)
	}
	return r, err
}

// What stands in a region is written byte by byte, whatever it looks like.
func TestRegionsAreOpaque(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, body := bodies().Draw(t, "text"), bodies().Draw(t, "body")
		word := rapid.SampledFrom([]string{"NEW", "REPLACE", "DOC"}).Draw(t, "word")
		r, err := apply(t, marked(word, text), body)
		if err != nil || r.Body != text || r.Warnings != nil {
			t.Fatalf("got %+v, %v, want %q", r, err, text)
		}
	})
}

// What an edit does not name is the same byte for byte.
func TestTheRestStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, behind := bodies().Draw(t, "before"), bodies().Draw(t, "behind")
		written := rapid.StringMatching(`[a-z$\\<]{1,9}`).Draw(t, "written")
		body := before + "<here>" + behind
		r, err := apply(t, marked("SEARCH", "<here>")+marked("REPLACE", written), body)
		want := before + written + behind
		if err != nil || r.Body != want {
			t.Fatalf("got %q, %v, want %q", r.Body, err, want)
		}
		for word, want := range map[string]func(string) bool{
			"APPEND":  func(now string) bool { return strings.HasPrefix(now, body) },
			"PREPEND": func(now string) bool { return strings.HasSuffix(now, body) },
		} {
			r, err := apply(t, marked(word, written), body)
			if err != nil || !want(r.Body) || !strings.Contains(r.Body, written) {
				t.Fatalf("%s of %q made %q of %q, %v", word, written, r.Body, body, err)
			}
			if strings.HasSuffix(body, "\n") && !strings.HasSuffix(r.Body, "\n") {
				t.Fatalf("%s lost the last line ending: %q", word, r.Body)
			}
		}
	})
}

// Operations in one edit come to what each alone comes to on what the one before left,
// and when one fails nothing is changed.
func TestOperationsFollow(t *testing.T) {
	word := rapid.SampledFrom([]string{"NEW", "PREPEND", "APPEND", "REPLACE", "DELETE", "SEARCH"})
	rapid.Check(t, func(t *rapid.T) {
		body := bodies().Draw(t, "body")
		now, all := body, ""
		var failed error
		for range rapid.IntRange(1, 4).Draw(t, "operations") {
			w := word.Draw(t, "word")
			one := marked(w, rapid.SampledFrom([]string{"a", "b", " a\nb", "c\n", "é漢", ""}).Draw(t, "text"))
			if w == "SEARCH" {
				one += marked("REPLACE", bodies().Draw(t, "replacement"))
			}
			all += one
			if failed != nil {
				continue
			}
			r, err := apply(t, one, now)
			now, failed = r.Body, err
		}
		r, err := apply(t, all, body)
		if failed != nil {
			if sdk.OutcomeOf(err) != sdk.OutcomeOf(failed) || r.Body != "" {
				t.Fatalf("got %+v, %v, and alone %v", r, err, failed)
			}
			return
		}
		if err != nil || r.Body != now {
			t.Fatalf("got %q, %v, and one after the other %q", r.Body, err, now)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, seed := range [][2]string{
		{"<<SEARCH\na\nSEARCH<<REPLACE\nb\nREPLACE", "a\r\n"}, {"<<DELETE a DELETE <<APPEND b APPEND", "a\n"},
		{"<<:::a\n<<NEW\n:::a <<NEW x NEW", ""}, {"<b><<NEW1 NEW NEW1</b>", "x"}, {"<<EOF\n\r\nEOF\n<<EOF EOF", "x"},
		{"s/a/b/", "x"}, {`{"search":"a","replace":""}`, "a"}, {"<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE", "a"},
		{"<<PREPEND\r\n\xff\r\nPREPEND", "\ufeff"}, {"<<NEW\n<<NEW\nNEW\nNEW", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		regions := NewRegions(0)
		if steps := regions.Grow(text, true); steps > 12*len(text)+12 {
			t.Fatalf("%d steps for %d bytes", steps, len(text))
		}
		for at := range text {
			r, closed, known := regions.At(at)
			if !known {
				t.Fatalf("at %d of %q nothing is known", at, text)
			}
			if !closed {
				continue
			}
			if r.Start != at || !strings.HasPrefix(text[at:r.End], "<<"+r.ident) || !strings.HasSuffix(text[:r.End], r.ident) || !strings.Contains(r.raw, r.content()) {
				t.Fatalf("at %d of %q: %+v", at, text, r)
			}
		}
		e, err := Parse(text)
		if err != nil {
			if o := sdk.OutcomeOf(err); o != sdk.Validation && o != sdk.Overflow {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		r, err := e.Apply(body)
		switch outcome := sdk.OutcomeOf(err); {
		case err != nil && (outcome != sdk.Validation && outcome != sdk.Conflict && outcome != sdk.Overflow || r.Body != ""):
			t.Fatalf("%q on %q: %+v, %v", text, body, r, err)
		case err == nil && len(e.ops) == 0 && r.Body != text:
			t.Fatalf("%q was written as %q", text, r.Body)
		}
	})
}

// What is known of a region while its text comes is what holds of the whole.
func TestRegionsInPieces(t *testing.T) {
	scrap := rapid.SampledFrom([]string{"<<NEW", "<<NEW1", "NEW", "NEW1", " NEW ", "\nNEW\n", "<<EOF", "\nEOF\n", "<<:::a", " :::a ", ":", "<", "</", "</set>", " ", "\n", "\r\n", "x", " and so on"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(scrap, 0, 20).Draw(t, "scraps"), "")
		whole, pieces := NewRegions(0), NewRegions(0)
		whole.Grow(text, true)
		for end := range len(text) + 1 {
			pieces.Grow(text[:end], end == len(text))
			for at := range end {
				got, closed, known := pieces.At(at)
				want, holds, _ := whole.At(at)
				if known && (got != want || closed != holds) || !known && end == len(text) {
					t.Fatalf("at %d of %q of %q: %+v %v %v, and of the whole %+v %v", at, text[:end], text, got, closed, known, want, holds)
				}
			}
		}
	})
}
