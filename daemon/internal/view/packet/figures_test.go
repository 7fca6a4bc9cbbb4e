package packet

import (
	"fmt"
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
