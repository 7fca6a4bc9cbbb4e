package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestLast: of a long conversation the last messages are shown.
func TestLast(t *testing.T) {
	for name, c := range map[string]struct {
		story *story
		most  int
		want  string
	}{
		"all":                     {new(story).prompt("p1").answer("a1").prompt("p2"), 0, "p1 a1 p2"},
		"few":                     {new(story).prompt("p1").answer("a1").prompt("p2"), 3, "p1 a1 p2"},
		"long ago":                {new(story).prompt("p1").answer("a1").prompt("p2").answer("a2").prompt("p3"), 2, "p1 ~ a2 p3"},
		"the first prompt stays":  {new(story).prompt("p1").answer("a1").prompt("p2").answer("a2").prompt("p3"), 1, "p1 ~ p3"},
		"a result with its call":  {new(story).prompt("p1").answer("a1", "read:r1", "read:r2").answer("a2").prompt("p2"), 4, "p1 ~ a2 p2"},
		"and a call with its own": {new(story).prompt("p1").answer("a0").answer("a1", "read:r1", "read:r2").answer("a2").prompt("p2"), 5, "p1 ~ a1 r1 r2 a2 p2"},
		"work on the prompt":      {new(story).prompt("p1").answer("a1").prompt("p2").answer("a2", "read:r1").answer("a3", "read:r2"), 2, "p1 ~ p2 a2 r1 a3 r2"},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.story.assembly()
			in.Agent.Messages = c.most
			p, err := newView().Assemble(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range p.Messages {
				got = append(got, strings.TrimSpace(strings.Replace(m.Text, notShown, "~", 1)))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("shown %q, want %s", got, c.want)
			}
		})
	}
}

// TestLastIsWhole: whatever is left out, no result is without its call, and no call without its results; the newest messages
// are shown.
func TestLastIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := new(story).prompt("first")
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "prompt") {
				s.prompt(fmt.Sprint("p", i))
				continue
			}
			var calls []string
			for n := range rapid.IntRange(0, 3).Draw(t, "calls") {
				calls = append(calls, fmt.Sprintf("read:r%d", n))
			}
			s.answer(fmt.Sprint("a", i), calls...)
		}
		in := s.assembly()
		whole, err := newView().Assemble(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(1, 20).Draw(t, "most")
		cut := last(whole.Messages, most)
		pending := 0
		for _, m := range cut {
			if m.Role == sdk.RoleTool {
				pending--
			} else if pending != 0 {
				t.Fatalf("%d results are missing: %+v", pending, cut)
			} else {
				pending = len(m.Calls)
			}
		}
		if pending != 0 {
			t.Fatalf("%d results are missing at the end", pending)
		}
		if n := len(cut); cut[0].Text != "first" || !slices.EqualFunc(cut[n-1:], whole.Messages[len(whole.Messages)-1:], func(a, b sdk.Message) bool { return a.Text == b.Text }) {
			t.Fatalf("shown %+v", cut)
		}
		if len(whole.Messages) <= most && len(cut) != len(whole.Messages) {
			t.Fatal("nothing had to go")
		}
	})
}
