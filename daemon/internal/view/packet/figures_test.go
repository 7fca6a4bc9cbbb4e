package packet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// answered is an answer that knows what its model's server counted.
func answered(turn int, ratio float64) sdk.Entry {
	return entry(sdk.ReplyPath(turn), "done", at(1, turn), level(sdk.Archived), attributes(sdk.Reply{Model: "m", Ratio: ratio}))
}

// TestFiguresAreOfTheRun: a token is what the server counted for the last answer of the model in this run, whatever the view has
// heard of other runs and whether it was there.
// spec: token_accounting
func TestFiguresAreOfTheRun(t *testing.T) {
	other := answered(3, 1.5)
	other.Attributes = []byte(`{"model":"n","ratio":0.5}`)
	in := assembly(1, prompt(1, "task"), answered(1, 3), answered(2, 2), other)
	heard := newDesk()
	elsewhere := in
	elsewhere.Run.ID = 2
	p, err := heard.send(t, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := heard.Observe(p, sdk.Usage{Prompt: 3 * heard.promptTokens(&p)}); ratio < 3 || ratio > 3.001 {
		t.Errorf("counted by %v", ratio)
	}
	for name, d := range map[string]desk{"of another run has heard": heard, "is new": newDesk()} {
		p, err := d.send(t, in)
		if err != nil {
			t.Fatal(err)
		}
		if want := view.Scaled(d.promptTokens(&p), 2); p.Tokens != want {
			t.Errorf("a view that %s counts %d tokens, not %d", name, p.Tokens, want)
		}
	}
}

// TestFiguresOfOthersAreWrittenOver: what was rendered with other figures, by another view or to fit less, is the packet of a view that
// made it from the beginning, and nothing of the difference is taken for what others wrote.
// spec: token_accounting
func TestFiguresOfOthersAreWrittenOver(t *testing.T) {
	in := assembly(1, prompt(1, "task"), entry("known://a", "alpha"))
	in.Context = 100_000
	want, err := func() (sdk.Prompt, error) {
		d := newDesk()
		p, err := d.Assemble(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		p.Ceiling = 9000
		d.Calibrate("m", 4)
		if p, err = d.render(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p, _, err = d.Fit(t.Context(), p, d.render)
		return p, err
	}()
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk()
	beside := Beside(Config{Scheme: schemes})
	beside.Calibrate("m", 4)
	for range 2 {
		p, err := beside.Assemble(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = d.render(t.Context(), p); err != nil { // by the view at work, which counts otherwise
			t.Fatal(err)
		}
		p.Ceiling = 9000
		if p, _, err = beside.Fit(t.Context(), p, d.render); err != nil {
			t.Fatal(err)
		}
		if p.Messages[0].Text != want.Messages[0].Text || p.Tokens != want.Tokens {
			t.Fatalf("it is\n%s\nand was to be\n%s", p.Messages[0].Text, want.Messages[0].Text)
		}
		inOrder(t, p.Messages[0].Text, fmt.Sprintf(`<budget tokenUsage="%d" tokensFree="%d">`, p.Tokens, 9000-p.Tokens))
	}
}

// TestFiguresAtTheirEdges: a packet says of itself what it is estimated at also where the figures are such that, written down, they
// change its length: with a digit more used there may be a digit less free.
// spec: token_accounting
func TestFiguresAtTheirEdges(t *testing.T) {
	d := newDesk()
	in := assembly(1, prompt(1, "task"), entry("known://a", strings.Repeat("some words\n", 40)))
	p, err := d.send(t, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, ratio := range []float64{1, 1.003, 1.5, 2.337, 0.501} {
		d.Calibrate("m", ratio)
		usage := view.Scaled(d.promptTokens(&p), ratio)
		for _, free := range []int{0, 10, 100, 1000, 10_000} {
			for off := -12; off <= 12; off++ {
				p := p
				p.Ceiling = usage + free + off
				if p.Ceiling < usage {
					continue // it would not fit
				}
				p, _, err := d.Fit(t.Context(), p, d.render)
				if err != nil && sdk.OutcomeOf(err) != sdk.Overflow {
					t.Fatal(err)
				}
				says := fmt.Sprintf(`tokenUsage="%d" tokensFree="%d"`, p.Tokens, p.Ceiling-p.Tokens)
				if n := strings.Count(p.Messages[0].Text, says); n != 2 || !strings.Contains(p.Messages[0].Text, fmt.Sprintf("tokenUsage %d / ceiling %d. %d tokens free.", p.Tokens, p.Ceiling, p.Ceiling-p.Tokens)) {
					t.Errorf("by %v, to fit %d: it has %d tokens, and %q is there %d times in\n%s", ratio, p.Ceiling, p.Tokens, says, n, p.Messages[0].Text[strings.Index(p.Messages[0].Text, "<budget"):])
				}
			}
		}
	}
}
