package main

import (
	"strings"
	"testing"
)

func TestFillIn(t *testing.T) {
	for _, c := range []struct{ body, input, want string }{
		{"Do it.", "", "Do it."},
		{"Do it.\n", "now", "Do it.\n\nnow"},
		{"Do $ARGUMENTS.", "this and that", "Do this and that."},
		{"Do $ARGUMENTS[1], then $ARGUMENTS[0] and $ARGUMENTS[7].", "this that", "Do that, then this and ."},
		{"In {baseDir} and ${CLAUDE_SKILL_DIR}: $ARGUMENTS", "{baseDir} $ARGUMENTS", "In /s and /s: {baseDir} $ARGUMENTS"},
		{"$ARGUMENTS_FILE stays", "", "$ARGUMENTS_FILE stays"},
		{"Do $ARGUMENTS.", "", "Do ."},
	} {
		if got := fillIn(c.body, c.input, "/s"); got != c.want {
			t.Errorf("%q with %q: %q", c.body, c.input, got)
		}
	}
}

// FuzzFillIn: it ends, stays within bounds, and loses no input.
func FuzzFillIn(f *testing.F) {
	f.Add("Do $ARGUMENTS[1] in {baseDir}", "a b")
	f.Add(strings.Repeat("$ARGUMENTS", 100), strings.Repeat("x", 100))
	f.Fuzz(func(t *testing.T, body, input string) {
		got := fillIn(body, input, "/s")
		if len(got) > len(body)+len(input)+mostPrompt+2 {
			t.Errorf("%d bytes of %d and %d", len(got), len(body), len(input))
		}
		if !places.MatchString(body) && !strings.HasSuffix(got, input) {
			t.Errorf("%q with %q lost it: %q", body, input, got)
		}
	})
}

func TestInputOf(t *testing.T) {
	for _, c := range []struct {
		arguments map[string]string
		want      string
	}{
		{nil, ""},
		{map[string]string{"input": "this"}, "this"},
		{map[string]string{"b": "2", "a": "1", "c": ""}, "a: 1\nb: 2"},
		{map[string]string{"input": "this", "a": "1"}, "a: 1\ninput: this"},
	} {
		if got := inputOf(c.arguments); got != c.want {
			t.Errorf("%v: %q", c.arguments, got)
		}
	}
}

func TestASkillIsFoundByOtherSeparators(t *testing.T) {
	b := &bridge{offered: map[string]string{promptKey + "a-b": "x", promptKey + "c_d": "x", promptKey + "c-d": "x"}}
	for name, want := range map[string]string{"a-b": "a-b", "a_b": "a-b", "c_d": "c_d", "e_f": "e_f"} {
		if got := b.skillNamed(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
