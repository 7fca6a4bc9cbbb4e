package match

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestReplace: one place is found in spite of white space, and what replaces it stands there as it was written.
// spec: hedberg wrong_search
func TestReplace(t *testing.T) {
	tests := []struct {
		name, body, search, replacement string
		want                            string
		line                            int
		reindented                      bool
	}{
		{"in a line", "one two three", "two", "2", "one 2 three", 1, false},
		{"delete in a line", "a\nb\nc\n", "b\n", "", "a\nc\n", 2, false},
		{"dollar and backslash stay", "x = old\n", "old", `$& $1 \1 \n %s`, `x = $& $1 \1 \n %s` + "\n", 1, false},
		{"last line ending is kept", "a\nb\n", "b\n", "c", "a\nc\n", 2, false},
		{"no last line ending is kept", "a\nb", "b", "c", "a\nc", 2, false},
		{"everything goes", "a\n", "a\n", "", "", 1, false},
		{"search begins with a line ending", "a\n\nb\n", "\nb", "\nc", "a\n\nc\n", 2, false},

		{"deeper in the file", "  if x {\n    y()\n  }\n", "if x {\n  y()\n}", "if x {\n  y()\n  z()\n}",
			"  if x {\n    y()\n    z()\n  }\n", 1, true},
		{"shallower in the file", "if x {\n  y()\n}\n", "    if x {\n      y()\n    }", "    if x {\n      z()\n    }",
			"if x {\n  z()\n}\n", 1, true},
		{"tab against spaces", "\tfoo()\n", "  foo()", "  foo()\n    deep()", "\tfoo()\n\t  deep()\n", 1, true},
		{"tabs against spaces, line shallower than the search", "\t\tfoo()\n\t}\n", "        foo()\n    }", "        bar()\n    }",
			"\t\tbar()\n\t}\n", 1, true},
		{"search without any indentation", "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "if x {\ny()\n}", "if z {\ny()\n}",
			"func f() {\n\tif z {\n\ty()\n\t}\n}\n", 2, true},
		{"blank line in the search", "a\nb\n", "a\n\nb", "A\nB", "A\nB\n", 1, true},
		{"blank line in the file", "a\n\n\nb\nc\n", "a\nb", "A\nB", "A\nB\nc\n", 1, true},
		{"white space behind a line", "a  \nb\t\nc\n", "a\nb", "A\nB", "A\nB\nc\n", 1, true},
		{"replacement ends its line", " a\n b\nc\n", "a\nb\n", "A\n", " A\nc\n", 1, true},
		{"whole lines deleted", "x\n  a\n  b\ny\n", "a\nb", "", "x\ny\n", 2, true},
		{"last line without ending", "x\n  a\n  b", "a\nb\n", "c\n", "x\n  c", 2, true},
		{"blank lines of the replacement stay blank", "\ta\n\tb\n", "a\nb", "a\n\nb", "\ta\n\n\tb\n", 1, true},

		{"CRLF, search with LF", "a\r\nb\r\nc\r\n", "a\nb", "A\nB\nC", "A\r\nB\r\nC\r\nc\r\n", 1, false},
		{"CRLF, in a line", "a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n", 2, false},
		{"CRLF, replacement with CRLF", "a\r\nb\r\n", "a\r\n", "x\r\ny\r\n", "x\r\ny\r\nb\r\n", 1, false},
		{"CRLF, re-indented", "  a\r\n  b\r\n", "a\nb", "a\nc", "  a\r\n  c\r\n", 1, true},
		{"CRLF, search begins with a line ending", "a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n", 1, false},
		{"CRLF, last line ending is kept", "a\r\nb\r\n", "b\n", "c", "a\r\nc\r\n", 2, false},
		{"LF file, search with CRLF", "a\nb\n", "a\r\nb\r\n", "A\nB\n", "A\nB\n", 1, false},
		{"mixed endings, LF place", "a\r\nb\nc\r\n", "b\n", "x\ny\n", "a\r\nx\ny\nc\r\n", 2, false},
		{"mixed endings, CRLF place", "a\r\nb\nc\r\n", "a", "x\ny", "x\r\ny\r\nb\nc\r\n", 1, false},
		{"a lone carriage return is text", "a\rb\n", "\rb", "\rc", "a\rc\n", 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace(tt.body, tt.search, tt.replacement)
			if err != nil {
				t.Fatal(err)
			}
			if got.Body != tt.want || got.Line != tt.line || got.Reindented != tt.reindented {
				t.Errorf("got %q, line %d, reindented %v\nwant %q, line %d, reindented %v",
					got.Body, got.Line, got.Reindented, tt.want, tt.line, tt.reindented)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	tests := []struct {
		name, body, search string
		want               string
		byLines            bool
	}{
		{"in a line", "one two three", " two", "one three", false},
		{"a line", "a\nb\nc\n", "b", "a\nc\n", false},
		{"a line with its ending", "a\nb\n\nc\n", "b\n", "a\n\nc\n", false},
		{"a line with the ending before", "a\nb\nc", "\nb", "a\nc", false},
		{"lines", "a\nb\nc\nd\n", "b\nc", "a\nd\n", false},
		{"the first line", "a\nb\n", "a", "b\n", false},
		{"the last line", "a\nb\n", "b", "a\n", false},
		{"the last line without ending", "a\nb", "b", "a", false},
		{"all", "a", "a", "", false},
		{"all of a line", "a\n", "a", "", false},
		{"with its indentation", "a\n\tb \nc", "b", "a\nc", false},
		{"a line's begin", "a\n\tb c\n", "b", "a\n\t c\n", false},
		{"one blank line stays", "a\n\nb\n\nc\n", "b", "a\n\n\nc\n", false},
		{"by its lines", "x\n  a\n\n  b\ny\n", "a\nb", "x\ny\n", true},
		{"by its lines, the last ones", "x\n  a\n  b", "a\nb", "x", true},
		{"CRLF", "a\r\nb\r\nc\r\n", "b", "a\r\nc\r\n", false},
		{"CRLF, the last line", "a\r\n b", "b", "a", false},
		{"CRLF, by its lines", "x\r\n a\r\n b\r\ny", "a\nb", "x\r\ny", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Delete(tt.body, tt.search)
			if err != nil {
				t.Fatal(err)
			}
			if got.Body != tt.want || got.Reindented != tt.byLines {
				t.Errorf("got %q, by lines %v\nwant %q, by lines %v", got.Body, got.Reindented, tt.want, tt.byLines)
			}
		})
	}
	for _, search := range []string{"b", " "} {
		if got, err := Delete("a\na\n", search); err == nil {
			t.Errorf("Delete of %q made %q", search, got.Body)
		}
	}
	var conflict *ConflictError
	if _, err := Delete("a\na\n", "a"); !errors.As(err, &conflict) || len(conflict.Lines) != 2 {
		t.Errorf("what is there twice gave %v", err)
	}
}

// The indentation of a place is written for each line of what takes it.
func TestReplaceBoundsIndentation(t *testing.T) {
	body := strings.Repeat(" ", 1<<20) + "a\n\nb\n"
	if _, err := Replace(body, "a\nb", "a\nb\nc\nd"); err != nil {
		t.Error(err)
	}
	got, err := Replace(body, "a\nb", "a\nb\nc\nd\ne")
	if sdk.OutcomeOf(err) != sdk.Overflow || got.Body != "" {
		t.Errorf("five lines of a megabyte each gave %v", err)
	}
}

// TestReplaceConflict: of several places none is chosen.
// spec: wrong_search
func TestReplaceConflict(t *testing.T) {
	tests := []struct {
		name, body, search string
		lines              []int
		matches            int
		message            string
	}{
		{"every line", "a\na\na\n", "a", []int{1, 2, 3}, 3, "on lines 1, 2 and 3;"},
		{"within one line", "x\nab ab\n", "ab", []int{2}, 2, "2 times on line 2;"},
		{"overlapping", "aaa", "aa", []int{1}, 2, "2 times on line 1;"},
		{"several lines each", "a\nb\na\nb\n", "a\nb", []int{1, 3}, 2, "lines 1 and 3;"},
		{"re-indented", "a\nb\na\nb\n", " a\n b", []int{1, 3}, 2, "lines 1 and 3;"},
		{"CRLF", "a\r\nb\r\na\r\nb\r\n", "a\nb", []int{1, 3}, 2, "lines 1 and 3;"},
		{"begins with a line ending", "\na\n\na\n", "\n\na", []int{4}, 1, ""},
		{"text behind line endings is named", "x\na\nx\na\n", "\na", []int{2, 4}, 2, "lines 2 and 4;"},
		{"very many", strings.Repeat("a\n", 60), "a", nil, 60, "49, 50 and 10 more;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace(tt.body, tt.search, "Z")
			if tt.matches == 1 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if got != (Replacement{}) {
				t.Errorf("a conflict returned %+v", got)
			}
			if tt.lines != nil && !slices.Equal(conflict.Lines, tt.lines) || conflict.Matches != tt.matches {
				t.Errorf("lines %v, matches %d", conflict.Lines, conflict.Matches)
			}
			if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("message %q", err)
			}
		})
	}
}

func TestReplaceNotFound(t *testing.T) {
	tests := []struct {
		name, body, search string
		want               NotFoundError
	}{
		{"nothing alike", "x", "y", NotFoundError{}},
		{"empty body", "", "y", NotFoundError{}},
		{"inner white space counts", "foo  bar", "foo bar", NotFoundError{Line: 1, Text: "foo  bar", Want: "foo bar"}},
		{"the line that differs", "a\nb\nc\n", "a\nb\nd", NotFoundError{Line: 3, Text: "c", Want: "d"}},
		{"a slip in the only line", "x\n\treturn fmt.Errorf(\"no\")\n", "return fmt.Errorf('no')",
			NotFoundError{Line: 2, Text: `return fmt.Errorf("no")`, Want: "return fmt.Errorf('no')"}},
		{"the file ends too soon", "a\nb\n", "a\nb\nc", NotFoundError{Line: 2, Text: "b"}},
		{"the longest beginning wins", "a\nx\na\nb\ny\n", "a\nb\nc", NotFoundError{Line: 5, Text: "y", Want: "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Replace(tt.body, tt.search, "Z")
			var missing *NotFoundError
			if !errors.As(err, &missing) {
				t.Fatalf("got %v", err)
			}
			if *missing != tt.want {
				t.Errorf("got %+v, want %+v", *missing, tt.want)
			}
			if tt.want.Line > 0 && !strings.Contains(err.Error(), "line ") {
				t.Errorf("message %q names no line", err)
			}
		})
	}
}

// TestReplaceNothing: an empty text is found nowhere.
// spec: wrong_search
func TestReplaceNothing(t *testing.T) {
	for _, search := range []string{"", "   ", "\n", "\r\n\t"} {
		if _, err := Replace("line1\n", search, "line2"); !errors.Is(err, ErrEmptySearch) {
			t.Errorf("search %q gave %v", search, err)
		}
	}
}

// unixBody draws a body of few different lines, so that places repeat.
func unixBody() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a\n", "b\n", " a\n", "\tb\n", "\n", "  \n", "ab ba\n", "é $& \\1\n", "a"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "")
	})
}

func TestReplaceKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := unixBody().Draw(t, "before"), unixBody().Draw(t, "after")
		replacement := unixBody().Draw(t, "replacement")
		got, err := Replace(before+"<here>"+after, "<here>", replacement)
		if err != nil {
			t.Fatal(err)
		}
		want := before + replacement + after
		if strings.HasSuffix(before+"<here>"+after, "\n") && want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if got.Body != want || got.Line != 1+strings.Count(before, "\n") || got.Reindented {
			t.Fatalf("got %+v, want %q", got, want)
		}
	})
}

func TestReplaceIsTheSameOnCRLF(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	rapid.Check(t, func(t *rapid.T) {
		body, search := unixBody().Draw(t, "body"), unixBody().Draw(t, "search")
		replacement := unixBody().Draw(t, "replacement")
		plain, plainErr := Replace(body, search, replacement)
		dos, dosErr := Replace(crlf(body), search, replacement)
		both, bothErr := Replace(crlf(body), crlf(search), crlf(replacement))
		if plainErr != nil {
			if dosErr == nil || dosErr.Error() != plainErr.Error() || bothErr == nil {
				t.Fatalf("%v, but with CRLF %v", plainErr, dosErr)
			}
			return
		}
		if dosErr != nil || bothErr != nil {
			t.Fatal(dosErr, bothErr)
		}
		if !strings.Contains(body, "\n") {
			return // no ending to keep
		}
		if dos.Body != crlf(plain.Body) || both.Body != dos.Body || dos.Line != plain.Line {
			t.Fatalf("%q, but with CRLF %q and %q", plain.Body, dos.Body, both.Body)
		}
	})
}

func TestReplaceReindents(t *testing.T) {
	name := rapid.StringMatching(`[a-z]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(name, 4, 10, rapid.ID).Draw(t, "names")
		depth := rapid.SliceOfN(rapid.IntRange(0, 3), len(names), len(names)).Draw(t, "depth")
		shift := strings.Repeat(rapid.SampledFrom([]string{" ", "\t"}).Draw(t, "unit"), rapid.IntRange(1, 5).Draw(t, "shift"))
		first := rapid.IntRange(0, len(names)-2).Draw(t, "first")
		last := rapid.IntRange(first+2, len(names)).Draw(t, "last")

		var file, search, replacement, want strings.Builder
		for i, n := range names {
			own := strings.Repeat(" ", depth[i])
			file.WriteString(shift + own + n + "\n")
			if i < first || i >= last {
				want.WriteString(shift + own + n + "\n")
				continue
			}
			search.WriteString(own + n + "\n")
			replacement.WriteString(own + n + "!\n")
			want.WriteString(shift + own + n + "!\n")
		}
		got, err := Replace(file.String(), search.String(), replacement.String())
		if err != nil {
			t.Fatal(err)
		}
		if got.Body != want.String() || got.Line != first+1 {
			t.Fatalf("file %q\nsearch %q\ngot  %q\nwant %q", file.String(), search.String(), got.Body, want.String())
		}
	})
}

func TestReplaceAgainstNaiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringMatching(`[ab\n]{0,30}`).Draw(t, "body")
		search := rapid.StringMatching(`[ab\n]{0,3}[ab]`).Draw(t, "search")
		matches := 0
		for i := range body {
			if strings.HasPrefix(body[i:], search) {
				matches++
			}
		}
		got, err := Replace(body, search, "Z")
		var conflict *ConflictError
		switch {
		case matches > 1:
			if !errors.As(err, &conflict) || conflict.Matches != matches {
				t.Fatalf("%d matches gave %v", matches, err)
			}
		case matches == 1:
			if err != nil || got.Reindented {
				t.Fatalf("one match gave %+v, %v", got, err)
			}
		case err == nil && !got.Reindented:
			t.Fatalf("no match gave %+v", got)
		}
	})
}

// BenchmarkReplaceGrowth reports how much more time sixteen times the text takes
// for searches that nearly fit everywhere: about 16 when the work is linear.
func BenchmarkReplaceGrowth(b *testing.B) {
	hostile := map[string]func(n int) (body, search string){
		"overlapping":       func(n int) (string, string) { return strings.Repeat("a", n), strings.Repeat("a", n/2) },
		"nearly everywhere": func(n int) (string, string) { return strings.Repeat("a", n), strings.Repeat("a", n/2) + "b" },
		"lines nearly everywhere": func(n int) (string, string) {
			return strings.Repeat("a\n", n/2), strings.Repeat(" a\n", n/4) + "b"
		},
		"lines overlapping": func(n int) (string, string) { return strings.Repeat("a\n", n/2), strings.Repeat(" a\n", n/4) },
		"nothing alike, long search": func(n int) (string, string) {
			return strings.Repeat("xyz\n", n/4), strings.Repeat("y", n/2) + "q"
		},
		"CRLF": func(n int) (string, string) { return strings.Repeat("a\r\n", n/3), strings.Repeat(" a\n", n/6) + "b" },
	}
	for name, input := range hostile {
		b.Run(name, func(b *testing.B) {
			const size, times = 1 << 14, 16
			cost := func(n int) time.Duration {
				body, search := input(n)
				start := time.Now()
				if _, err := Replace(body, search, "Z"); err == nil {
					b.Fatal("the hostile search was found once")
				}
				return time.Since(start)
			}
			small, large := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() { // a busy machine only adds to either
				small, large = min(small, cost(size)), min(large, cost(times*size))
			}
			b.ReportMetric(float64(large)/float64(small), "x-of-16")
		})
	}
}

// TestReplaceEndsOnHostileSearches: the search of each of them is found nowhere
// or twice, and a square algorithm would not end.
func TestReplaceEndsOnHostileSearches(t *testing.T) {
	for body, search := range map[string]string{
		strings.Repeat("a", 1<<20):   strings.Repeat("a", 1<<19) + "b",
		strings.Repeat("a\n", 1<<19): strings.Repeat(" a\n", 1<<18) + "b",
	} {
		if _, err := Replace(body, search, "Z"); err == nil {
			t.Error("the hostile search was found once")
		}
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("a\na\na\n", "a", "z")
	f.Add("  if x {\n    y()\n  }\n", "if x {\n  y()\n}", "if x {\n}")
	f.Add("a\r\nb\r\n", "\nb", "$&")
	f.Add("a\xff\r\r\n", "\xff", "")
	f.Fuzz(func(t *testing.T, body, search, replacement string) {
		if got, err := Delete(body, search); len(got.Body) > max(len(body), 2) || err == nil && got.Line < 1 {
			t.Fatalf("%+v with %v", got, err)
		}
		got, err := Replace(body, search, replacement)
		if err != nil {
			if got != (Replacement{}) || err.Error() == "" {
				t.Fatalf("%+v with %v", got, err)
			}
			return
		}
		if got.Line < 1 || got.Line > 1+strings.Count(got.Body, "\n") {
			t.Fatalf("line %d of %q", got.Line, got.Body)
		}
		if strings.HasSuffix(body, "\n") && got.Body != "" && !strings.HasSuffix(got.Body, "\n") {
			t.Fatalf("the last line ending of %q was lost: %q", body, got.Body)
		}
		if len(got.Body) > 2*(len(body)+len(replacement))+len(body)*(1+strings.Count(replacement, "\n")) {
			t.Fatalf("%d bytes out of %d and %d", len(got.Body), len(body), len(replacement))
		}
	})
}
