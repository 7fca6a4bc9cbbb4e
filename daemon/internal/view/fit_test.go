package view

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestTokens(t *testing.T) { // P5
	for text, want := range map[string]int{"": 0, "abcd": 1, "abcde": 2, "😀😀😀😀": 1} {
		if got := Tokens(text); got != want {
			t.Errorf("%q is %d tokens, want %d", text, got, want)
		}
	}
}

func fit(t *testing.T, v *Transcript, p sdk.Prompt) (sdk.Prompt, sdk.Fitting) {
	t.Helper()
	got, report, err := v.Fit(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ceiling > 0 && v.Estimate(got) > got.Ceiling {
		t.Fatalf("%d tokens do not fit %d", v.Estimate(got), got.Ceiling)
	}
	checkConversation(t, got.Messages)
	return got, report
}

func TestFitUnderTheThreshold(t *testing.T) { // P1
	v := newView()
	in := (&story{}).prompt("p").answer("", "ls:x").assembly()
	in.Context = 4000
	p := render(t, v, in)
	got, report := fit(t, v, p)
	if sketch(got.Messages) != sketch(p.Messages) || report.Groups != 0 {
		t.Fatalf("changed: %s", sketch(got.Messages))
	}
}

// long is one prompt and n answers with a result of about 250 tokens each.
func long(n int) *story {
	s := (&story{}).prompt("the task")
	for i := range n {
		s.answer(fmt.Sprintf("step %d", i), fmt.Sprintf("read_file:result %d %s", i, strings.Repeat("x", 1000)))
	}
	return s
}

func TestFitDropsOldestGroups(t *testing.T) { // P2, P3
	v := newView()
	in := long(200).assembly()
	in.Context = 10_000
	p := render(t, v, in)
	got, report := fit(t, v, p)
	m := got.Messages
	if got.System != p.System || m[0].Text != "the task" {
		t.Fatal("system or task went")
	}
	if !strings.Contains(m[1].Text, "read_file") || !strings.Contains(m[1].Text, "left out") || m[1].Role != sdk.RoleUser {
		t.Fatalf("no summary: %q", m[1].Text)
	}
	if n := strings.Count(m[1].Text, fmt.Sprintf("%d of your earlier answers", report.Groups)); n != 1 || report.Groups < 150 {
		t.Fatalf("%d groups went; summary %q", report.Groups, m[1].Text)
	}
	for i := 195; i < 200; i++ {
		if !strings.Contains(sketch(m), fmt.Sprintf("result %d x", i)) {
			t.Errorf("recent result %d went", i)
		}
	}
	if len(m) > 2+2*(200-report.Groups) {
		t.Fatalf("%d messages are left of %d groups", len(m), 200-report.Groups)
	}
}

func TestFitAgainGivesOneSummary(t *testing.T) { // P4
	v := newView()
	s := long(60)
	for range 5 {
		in := s.assembly()
		in.Context = 8000
		got, _ := fit(t, v, render(t, v, in))
		got, _ = fit(t, v, got)
		if n := strings.Count(sketch(got.Messages), "left out of this conversation"); n != 1 {
			t.Fatalf("%d summaries", n)
		}
		if got.Messages[0].Text != "the task" {
			t.Fatal("the first instruction went")
		}
		s.answer("more", "read_file:"+strings.Repeat("y", 1000))
	}
}

func TestFitKeepsItsStartForSomeTurns(t *testing.T) {
	v := newView()
	s := long(40)
	starts := map[string]bool{}
	for range 8 {
		in := s.assembly()
		in.Context = 8000
		got, _ := fit(t, v, render(t, v, in))
		starts[got.Messages[2].Text] = true
		s.answer("more", "read_file:"+strings.Repeat("y", 1000))
	}
	if len(starts) > 4 {
		t.Fatalf("in 8 turns the prompt began in %d ways", len(starts))
	}
}

func TestFitAcrossLoops(t *testing.T) {
	v := newView()
	s := &story{}
	for i := range 30 {
		s.prompt(fmt.Sprintf("prompt %d %s", i, strings.Repeat("p", 400))).answer("", "ls:"+strings.Repeat("x", 1000)).answer(strings.Repeat("a", 400))
	}
	in := s.assembly()
	in.Context = 4000
	got, report := fit(t, v, render(t, v, in))
	text := sketch(got.Messages)
	if !strings.Contains(text, "prompt 0 ") || !strings.Contains(text, "prompt 29 ") || report.Prompts == 0 {
		t.Fatalf("first or current prompt went, %d prompts dropped", report.Prompts)
	}
}

func TestFitShortensLargeResults(t *testing.T) {
	v := newView()
	s := (&story{}).prompt("p").answer("", "a:"+strings.Repeat("x", 9000), "b:"+strings.Repeat("y", 9000), "c:"+strings.Repeat("z", 9000), "d:"+strings.Repeat("w", 9000), "e:small")
	in := s.assembly()
	in.Context = 9000
	p := render(t, v, in)
	got, report := fit(t, v, p)
	if report.Cut == 0 || !strings.Contains(sketch(got.Messages), "t:small") {
		t.Fatalf("cut %d: %.200s", report.Cut, sketch(got.Messages))
	}
	again := render(t, v, in)
	if again.Tokens != p.Tokens {
		t.Fatal("shortening changed what is kept")
	}
}

func TestFitMessageLargerThanTheBudget(t *testing.T) { // P6
	v := newView()
	in := (&story{}).prompt(strings.Repeat("x", 100_000)).assembly()
	in.Context = 8000
	_, _, err := v.Fit(t.Context(), render(t, v, in), nil)
	if sdk.OutcomeOf(err) != sdk.Overflow || !strings.Contains(err.Error(), "shorten the prompt") {
		t.Fatalf("%v", err)
	}
	in = (&story{}).prompt("p").answer("", "a:"+strings.Repeat("x", 2_000_000)).assembly()
	in.Context = 8000
	got, _ := fit(t, v, render(t, v, in))
	if !strings.Contains(got.Messages[2].Text, "left out here") {
		t.Fatal("a huge result is not marked as cut")
	}
}

func TestUnknownContextIsNotFitted(t *testing.T) {
	v := newView()
	p := render(t, v, long(500).assembly())
	if got, _ := fit(t, v, p); len(got.Messages) != len(p.Messages) {
		t.Fatal("something went although nothing is known")
	}
}

func TestCalibration(t *testing.T) {
	v := newView()
	p := render(t, v, long(10).assembly())
	raw := v.Estimate(p)
	for _, usage := range []sdk.Usage{{}, {Prompt: -5}} {
		v.Observe(p, usage)
	}
	if v.Estimate(p) != raw {
		t.Fatal("usage that cannot be true was believed")
	}
	v.Observe(p, sdk.Usage{Prompt: raw * 2})
	if got := v.Estimate(p); got < raw*2-1 || got > raw*2+1 {
		t.Fatalf("estimate %d, want about %d", got, raw*2)
	}
	other := p
	other.Model = "other"
	if v.Estimate(other) != raw {
		t.Fatal("another model was calibrated too")
	}
	v.Observe(p, sdk.Usage{Prompt: 1})
	if v.Estimate(p) < raw/2 {
		t.Fatal("one odd report ruined the estimate")
	}
}

// TestFitByAContextBlock: what is configured counts in the place of the usual, each by itself.
func TestFitByAContextBlock(t *testing.T) {
	for _, c := range []struct {
		use         sdk.ContextUse
		kept, least int // answers that stay however little fits, and tokens above which something goes
	}{
		{sdk.ContextUse{}, 5, 8000},
		{sdk.ContextUse{PruneAt: 0.4}, 5, 4000},
		{sdk.ContextUse{PruneAt: 0.4, KeepTurns: 9}, 9, 4000},
		{sdk.ContextUse{Ceiling: 0.5}, 5, 5000},
		{sdk.ContextUse{Ceiling: 0.3, PruneAt: 0.9, KeepTurns: 1}, 1, 3000},
	} {
		v := newView()
		in := long(200).assembly()
		in.Context, in.Use = 10_000, c.use
		_, report := fit(t, v, render(t, v, in))
		if report.After > c.least || report.After < c.least*7/10 {
			t.Errorf("%+v: %d tokens are left, of %d", c.use, report.After, c.least)
		}
		in = long(30).assembly()
		in.Context, in.Use = 10_000, c.use
		in.Use.PruneAt = 0.01 // all goes that may
		if _, report = fit(t, v, render(t, v, in)); report.Groups != 30-c.kept || report.Cut > 0 {
			t.Errorf("%+v: %d answers went of 30", c.use, report.Groups)
		}
	}
}

// TestFitHolds: what is fitted fits or is an overflow; no call loses its
// result, and the first and current prompts stay.
func TestFitHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &story{}
		for i := range rapid.IntRange(1, 4).Draw(t, "loops") {
			s.prompt(fmt.Sprintf("prompt %d", i) + strings.Repeat("p", rapid.IntRange(0, 2000).Draw(t, "prompt")))
			for range rapid.IntRange(0, 12).Draw(t, "turns") {
				var calls []string
				for range rapid.IntRange(0, 3).Draw(t, "calls") {
					calls = append(calls, "ls:"+strings.Repeat("x", rapid.IntRange(0, 6000).Draw(t, "result")))
				}
				s.answer("thinking", calls...)
			}
		}
		in := s.assembly()
		in.Context = rapid.IntRange(1500, 20_000).Draw(t, "context")
		v := newView()
		p, err := v.Assemble(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := v.Fit(t.Context(), p, nil)
		if fits := v.Estimate(got) <= got.Ceiling; fits != (err == nil) {
			t.Fatalf("%d tokens, ceiling %d, error %v", v.Estimate(got), got.Ceiling, err)
		}
		checkConversation(t, got.Messages)
		text := sketch(got.Messages)
		for _, want := range []string{"u:prompt 0", fmt.Sprintf("u:prompt %d", s.loop-1)} {
			if !strings.Contains(text, want) {
				t.Fatalf("%s went", want)
			}
		}
		if report.Groups+report.Prompts > 0 && strings.Count(text, "left out of this conversation") != 1 {
			t.Fatal("not exactly one summary")
		}
	})
}

// TestCharacters are counted the same wherever in a text the first is that is not ASCII.
func TestCharacters(t *testing.T) {
	for n := range 40 {
		for _, more := range []string{"", "é", "é and more", "\xff", "日本語 in eight bytes and more"} {
			text := strings.Repeat("a", n) + more
			if got, want := characters(text), utf8.RuneCountInString(text); got != want {
				t.Errorf("%q has %d characters, not %d", text, want, got)
			}
		}
	}
}

func BenchmarkFit(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		v := newView()
		in := long(n / 2).assembly()
		in.Context = 20_000
		p, err := v.Assemble(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := v.Fit(b.Context(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
