package tags

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk/edit"
)

// inRegions is what stands in regions: whatever looks like their end, or like the end of the body, and is none.
var inRegions = []string{
	"x", " ", "\n", "\r\n", "</set>", "</set", "<set path=\"z\">", "<get path=\"a\"/>", "<get path=\"", "</get>", "</update>", "`", "```\n", "<<", "<<SEARCH ", "\n<<EOF\n", "\nEOF\n", "<<:::a ", " :::a ", "NEW", "SEARCH", "a < b", "é", "\xff",
	" APPEND of ", "\nAn APPEND is\n", " NEW day", "APPENDED",
}

// A body of set with markers is read as it was written, and what the edit takes of it is what was written between them.
func TestBodyOfEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body, want strings.Builder
		regions := rapid.IntRange(1, 4).Draw(t, "regions")
		for i := range regions {
			content := "." + strings.Join(rapid.SliceOf(rapid.SampledFrom(inRegions)).Draw(t, "content"), "") + "."
			word := rapid.SampledFrom([]string{"APPEND", "APPEND1", "APPEND_A"}).Draw(t, "word")
			fmt.Fprintf(&body, "<<%s\n%s\n%s", word, content, word)
			if i > 0 {
				want.WriteString("\n")
			}
			want.WriteString(content)
			if i < regions-1 {
				body.WriteString(rapid.SampledFrom([]string{"", " ", "\n", "\n\n", "\r\n"}).Draw(t, "between"))
			}
		}
		before := rapid.SampledFrom([]string{"", "Now an APPEND. ", "<set path=\"b\"><<APPEND\nb\nAPPEND</set>", "<set path=\"b\"><<APPEND b</set>", "<sh>cat <<APPEND\nx\nAPPEND\n</sh>"}).Draw(t, "before")
		behind := rapid.SampledFrom([]string{"", "\n", " An APPEND it is. ", "\nAPPEND\n", "<get path=\"a\"/>", "<set path=\"c\"><<APPEND\nc\nAPPEND\n</set>"}).Draw(t, "behind")
		lead := rapid.SampledFrom([]string{"", "\n", "\r\n", "\n \n"}).Draw(t, "lead")
		trail := rapid.SampledFrom([]string{"", "\n", "\r\n", "\n\n"}).Draw(t, "trail")
		answer := fmt.Sprintf(`%s<set path="a">%s%s%s</set>%s`, before, lead, body.String(), trail, behind)

		got := Read(offered, answer)
		i := slices.IndexFunc(got.Calls, func(c Call) bool { return c.Tool == "set" && c.Get("path") == "a" })
		if i < 0 || strings.TrimSpace(got.Calls[i].Body) != body.String() {
			t.Fatalf("%q is read as %+v, and has the body %q", answer, got, body.String())
		}
		e, err := edit.Parse(got.Calls[i].Body)
		if err != nil {
			t.Fatalf("%q: %v", body.String(), err)
		}
		unix := strings.NewReplacer("\r\n", "\n") // what is put behind a text has the line endings of that
		if r, err := e.Apply(""); err != nil || unix.Replace(r.Body) != unix.Replace(want.String()) || len(r.Warnings) > 0 {
			t.Fatalf("%q: %+v, %v, want %q", body.String(), r, err, want.String())
		}
		holds(t, answer, got)
	})
}

// Whatever stands in the body of set, the regions in which no end of it is looked for are those of the edit.
func TestRegionsAreThoseOfTheEdit(t *testing.T) {
	scraps := append(slices.Clone(inRegions), "<<NEW", "<<NEW\n", "\nNEW\n", " NEW ", "<<NEW1 ", " NEW1", "<<DELETE x DELETE", "<<SEARCH\n", "\nSEARCH\n", "<<REPLACE ", " REPLACE", " and so on", "</set>\n", "x<<", "\v", "\f")
	rapid.Check(t, func(t *rapid.T) {
		answer := "<set>" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 1, 20).Draw(t, "answer"), "")
		body, passed, refused := passedBy(answer, len("<set>"))
		passed = slices.DeleteFunc(passed, func(end int) bool { return end > len(body) }) // what stood open was closed before
		made := regionsOf(body)
		if refused {
			made = made[:min(len(made), len(passed))] // where the body is longer than it seemed, it has more
		}
		if !slices.Equal(passed, made) {
			t.Fatalf("%q has the body %q, of which regions were passed by up to %v, and end at %v", answer, body, passed, made)
		}
	})
}

// passedBy is the body from an offset on, and where the regions end within which it was not looked at.
func passedBy(answer string, from int) (body string, ends []int, refused bool) {
	r := NewReader(offered)
	r.text.s, r.text.whole = answer, true
	b := r.scan(offered.named("set"), from)
	for i := from; ; {
		if i = b.text.find('<', i); i < 0 {
			e := b.unclosed()
			return answer[from:e.body.End], ends, b.refused
		}
		last := b.last
		next, e, over := b.bracket(i)
		if over {
			return answer[from:e.body.End], ends, b.refused
		}
		if b.last != last {
			ends = append(ends, b.last-from)
		}
		i = next
	}
}

// regionsOf is where the regions of a body end, up to the first one that has no end.
func regionsOf(body string) (ends []int) {
	regions := edit.NewRegions(0)
	regions.Grow(body, true)
	last := 0
	for i := 0; i < len(body); {
		text := len(body) - len(strings.TrimLeft(body[last:], " \t\r\n\f\v"))
		opening, next := edit.Opens(body, i, last, text)
		region, closed, _ := regions.At(i)
		switch {
		case opening == edit.Operation && !closed:
			return ends
		case opening == edit.Operation:
			next, last = region.End, region.End
			ends = append(ends, last)
		case opening == edit.Shown && closed:
			next = region.End
		}
		i = next
	}
	return ends
}
