package tags

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// watched is what is shown of an answer that comes in pieces.
func watched(pieces ...string) (text string, begun []string) {
	w := NewWatch(offered)
	take := func(more string, calls []Call) {
		text += more
		for _, c := range calls {
			begun = append(begun, strings.TrimSpace(c.Tool+" "+c.Target()))
		}
	}
	for _, piece := range pieces {
		take(w.Write(piece))
	}
	take(w.End())
	return text, begun
}

func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		text   string
		begun  []string
	}{
		{"a call", []string{"I look. ", `<get pa`, `th="a.go"`, "/>", " so"}, "I look.  so", []string{"get a.go"}},
		{"a body that is long", []string{`<set path="k`, `nown://a">`, "one\n", "two\n", "</set>"}, "", []string{"set known://a"}},
		{"two of a target", []string{`<get path="a"/><get path="a"/>`}, "", []string{"get a", "get a"}},
		{"a body that says the target", []string{"<get>a", ".go", "</get>"}, "", []string{"get"}},
		{"one that came at once", []string{"<get>a.go</get>"}, "", []string{"get a.go"}},
		{"code", []string{"use `<get ", "path=\"a\"/>` so"}, "use `<get path=\"a\"/>` so", nil},
		{"another program's form", []string{`{"name":"get",`, `"arguments":{"path":"a.go"}}`}, "", []string{"get a.go"}},
		{"text alone", []string{"a < b", " && c"}, "a < b && c", nil},
		{"a tag without an end", []string{`<get path="a`}, `<get path="a`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text, begun := watched(c.pieces...); text != c.text || !reflect.DeepEqual(begun, c.begun) {
				t.Errorf("shown %q and %q, want %q and %q", text, begun, c.text, c.begun)
			}
		})
	}
}

// What is shown piece by piece is the text of the whole, and no call that is made is missing from it.
func TestWatchShowsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40).Draw(t, "answer")
		whole := Read(offered, strings.Join(pieces, ""))
		text, begun := watched(pieces...)
		if strings.TrimSpace(text) != strings.TrimSpace(whole.Narration) && strings.TrimSpace(whole.Narration) != "" {
			t.Errorf("shown %q of %q", text, whole.Narration)
		}
		for _, c := range whole.Calls {
			at := 0
			for at < len(begun) && strings.Fields(begun[at])[0] != c.Tool {
				at++
			}
			if at == len(begun) {
				t.Fatalf("%q: a call of %s was not shown", strings.Join(pieces, ""), c.Tool)
			}
			begun = begun[at+1:]
		}
	})
}

// Watching an answer costs no more than a multiple of its length, however long a tag or a body is.
func TestWatchGrows(t *testing.T) {
	steps := func(answer string) int {
		w := NewWatch(offered)
		for i := 0; i < len(answer); i += 4 {
			w.Write(answer[i:min(i+4, len(answer))])
		}
		w.End()
		return w.r.text.steps
	}
	for _, answer := range []string{`<set path="`, `<set path="a">`, `<sh>`, `<get path=`, "<set ", "`"} {
		short, long := steps(answer+strings.Repeat("x ", 50<<10)), steps(answer+strings.Repeat("x ", 400<<10))
		if long > 10*short+(1<<20) {
			t.Errorf("%s: %d steps for 100 KB and %d for 800 KB", answer, short, long)
		}
	}
}
