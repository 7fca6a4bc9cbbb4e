package packet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// fit is a turn as the engine makes it, with what became of it.
func (d desk) fit(t testing.TB, in sdk.Assembly) (sdk.Prompt, sdk.Fitting, error) {
	t.Helper()
	p, err := d.Assemble(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = d.render(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return d.Fit(t.Context(), p, d.render)
}

// written are entries as the store has them once writes are committed: a file that is not in sight has no text.
func written(entries []sdk.Entry, writes []sdk.Write) []sdk.Entry {
	out := slices.Clone(entries)
	for _, w := range writes {
		i := slices.IndexFunc(out, func(e sdk.Entry) bool { return e.Path == w.Path })
		if !w.Look {
			out = append(out, sdk.Entry{Path: w.Path, Body: *w.Body, Hash: *w.Body, Version: 1, Visibility: sdk.Visible, State: w.State, Outcome: w.Outcome, Writer: w.Writer, Loop: w.Loop, Turn: w.Turn})
			continue
		}
		if out[i].Visibility = w.Visibility; out[i].Scheme() == "file" {
			out[i].Body, out[i].Hash = "", ""
		}
	}
	return out
}

// crowd is a run of random entries, some of the turn before, in a context that may be too small for them.
func crowd(r *rapid.T) sdk.Assembly {
	in := assembly(2, prompt(1, "first"), prompt(2, strings.Repeat("do it. ", rapid.IntRange(1, 400).Draw(r, "prompt"))))
	in.Turn = 6
	for i := range rapid.IntRange(0, 12).Draw(r, "entries") {
		body := strings.Repeat("some <words> here\n", rapid.IntRange(0, 90).Draw(r, "length"))
		turn := rapid.IntRange(3, 6).Draw(r, "turn")
		with := []func(*sdk.Entry){at(2, turn), level(rapid.SampledFrom([]sdk.Visibility{sdk.Visible, sdk.Visible, sdk.Summarized, sdk.Archived}).Draw(r, "level"))}
		switch rapid.IntRange(0, 4).Draw(r, "kind") {
		case 0:
			in.Entries = append(in.Entries, entry(fmt.Sprintf("known://%d", i), body, with...))
		case 1:
			in.Entries = append(in.Entries, entry(fmt.Sprintf("unknown://%d", i), body, with...))
		case 2:
			e := entry(fmt.Sprintf("src/%d.go", i), body, append(with, attributes(sdk.FileFacts{Size: int64(len(body)), Tokens: len(body) / 4}))...)
			if e.Visibility != sdk.Visible {
				e.Body, e.Hash = "", ""
			}
			in.Entries = append(in.Entries, e)
		case 3:
			if rapid.Bool().Draw(r, "failed") {
				with = append(with, func(e *sdk.Entry) { e.State, e.Outcome = sdk.StateFailed, "exit:1" })
			}
			in.Entries = append(in.Entries, call(turn, fmt.Sprintf("bash%d", i), body, with...))
		default:
			in.Entries = append(in.Entries, entry(fmt.Sprintf("https://example.org/%d", i), body, with...))
		}
	}
	in.Context = rapid.IntRange(1500, 9000).Draw(r, "context")
	return in
}

// TestAPacketThatWasFittedIsThatOfTheStore: what is sent after a demotion is what a daemon makes of the store once the writes are
// there, which a crash before the answer shows.
// spec: budget_enforcement
func TestAPacketThatWasFittedIsThatOfTheStore(t *testing.T) {
	demotions := 0
	rapid.Check(t, func(r *rapid.T) {
		in := crowd(r)
		p, report, err := newDesk().fit(t, in)
		switch {
		case err != nil && sdk.OutcomeOf(err) != sdk.Overflow:
			r.Fatal(err)
		case err == nil && p.Tokens > p.Ceiling:
			r.Fatalf("%d tokens were let through, and %d fit", p.Tokens, p.Ceiling)
		case len(report.Writes) == 0 && report.Before != report.After, report.After != p.Tokens:
			r.Fatalf("%+v of a packet of %d tokens", report, p.Tokens)
		case report.Before <= p.Ceiling && len(report.Writes) > 0:
			r.Fatalf("%d tokens fit, and there are writes: %+v", report.Before, report.Writes)
		}
		for _, w := range report.Writes {
			if w.Look {
				demotions++
			}
		}
		again := in
		again.Entries = written(in.Entries, report.Writes)
		q, second, err2 := newDesk().fit(t, again)
		if (err == nil) != (err2 == nil) {
			r.Fatalf("first %v, then %v", err, err2)
		}
		if len(second.Writes) > 0 {
			r.Fatalf("demoted once more: %+v", second.Writes)
		}
		if p.Messages[0].Text != q.Messages[0].Text || p.System != q.System || p.Tokens != q.Tokens {
			r.Fatalf("sent:\n%s\n\nmade again:\n%s", p.Messages[0].Text, q.Messages[0].Text)
		}
	})
	if demotions == 0 {
		t.Error("nothing was demoted in any of them")
	}
}

// TestPromotionUndoesDemotion: what was demoted and is made visible again is shown as it was.
func TestPromotionUndoesDemotion(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := crowd(r)
		roomy := in
		roomy.Context = 1 << 20
		before, _, err := newDesk().fit(t, roomy)
		if err != nil {
			r.Fatal(err)
		}
		_, report, _ := newDesk().fit(t, in)
		back := slices.Clone(written(in.Entries, report.Writes))[:len(in.Entries)] // without what tells of it
		for i := range back {
			if back[i].Visibility != in.Entries[i].Visibility {
				back[i].Visibility, back[i].Body, back[i].Hash = sdk.Visible, in.Entries[i].Body, in.Entries[i].Hash
				if back[i].Scheme() != "prompt" {
					back[i].Turn = in.Turn
				}
			}
		}
		roomy.Entries = back
		after, _, err := newDesk().fit(t, roomy)
		if err != nil || after.Messages[0].Text != before.Messages[0].Text {
			r.Fatalf("before:\n%s\n\nafter (%v):\n%s", before.Messages[0].Text, err, after.Messages[0].Text)
		}
	})
}

// TestAFullyDemotedTurnIsToldInTheNext: in the turn itself what tells of the demotion would be one more thing that has to fit.
func TestAFullyDemotedTurnIsToldInTheNext(t *testing.T) {
	d := newDesk()
	in := assembly(1, prompt(1, "task"), entry("known://a", strings.Repeat("a", 3000), at(1, 4)), entry("known://old", strings.Repeat("o", 400), at(1, 2)))
	in.Context = 3000
	p, report, err := d.fit(t, in)
	if err != nil || len(report.Writes) != 2 || report.Writes[0].Path != "known://a" {
		t.Fatalf("%v, %+v", err, report)
	}
	if strings.Contains(p.Messages[0].Text, "413") {
		t.Error("it is told in the turn itself")
	}
	for _, r := range p.Rows {
		if (r.Path == "known://old") != r.IsVisible() && r.Category == sdk.CategoryData {
			t.Errorf("%s is %s", r.Path, r.Visibility)
		}
	}
	in.Entries, in.Turn = written(in.Entries, report.Writes), 6
	inOrder(t, user(t, d, in), "<log>", `status="413"`, "known://a (1", "</log>")
}

// TestAServersOverflowDemotesMore: a lower ceiling is held to like the first, by the same way.
func TestAServersOverflowDemotesMore(t *testing.T) {
	d := newDesk()
	in := assembly(1, prompt(1, strings.Repeat("p", 1500)), entry("known://a", strings.Repeat("a", 3000), at(1, 4)))
	p, report, err := d.fit(t, in)
	if err != nil || report.Writes != nil {
		t.Fatalf("%v, %+v", err, report)
	}
	p.Ceiling = p.Tokens * 7 / 10
	p, report, err = d.Fit(t.Context(), p, d.render)
	if err != nil || report.Writes[0].Path != "known://a" || report.After > p.Ceiling || !strings.Contains(p.Messages[0].Text, fmt.Sprintf("/ ceiling %d. ", p.Ceiling)) {
		t.Fatalf("%v, %+v in %s", err, report, p.Messages[0].Text)
	}
	p.Ceiling = p.Tokens - 40
	if p, report, err = d.Fit(t.Context(), p, d.render); err != nil || report.Writes[0].Path != "prompt://1" || p.Tokens > p.Ceiling {
		t.Fatalf("%v, %+v", err, report)
	}
	p.Ceiling = p.Tokens - 40
	if _, report, err = d.Fit(t.Context(), p, d.render); sdk.OutcomeOf(err) != sdk.Overflow || len(report.Writes) > 0 {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestADemotedPromptShowsNoImages, as it would not if it were read from the store so.
func TestADemotedPromptShowsNoImages(t *testing.T) {
	picture := sdk.Medium{Kind: "image", MIMEType: "image/png", URI: "image://1", Width: 800, Height: 800}
	data := entry("image://1", "data")
	for _, inputs := range [][]string{{"text", "image"}, {"text"}} {
		in := assembly(1, prompt(1, strings.Repeat("p", 4000), attributes(map[string]any{"meaning": sdk.Meaning{Text: strings.Repeat("p", 4000), Media: []sdk.Medium{picture}}})), data)
		in.Inputs = inputs
		before, _, err := newDesk().fit(t, in)
		if err != nil || (len(before.Messages[0].Media) == 1) != (len(inputs) == 2) || strings.Contains(before.Messages[0].Text, "[Image 1 of") != (len(inputs) == 1) {
			t.Fatalf("%v: %d images in %s", err, len(before.Messages[0].Media), before.Messages[0].Text)
		}
		in.Context = 2400
		p, report, err := newDesk().fit(t, in)
		if err != nil || len(report.Writes) != 2 || len(p.Messages[0].Media) != 0 || strings.Contains(p.Messages[0].Text, "[Image 1 of") {
			t.Fatalf("%v: %+v with %d images in %s", err, report, len(p.Messages[0].Media), p.Messages[0].Text)
		}
		in.Entries = written(in.Entries, report.Writes)
		q, _, err := newDesk().fit(t, in)
		if err != nil || q.Messages[0].Text != p.Messages[0].Text || len(q.Messages[0].Media) != 0 {
			t.Errorf("%v: made again it is\n%s\nand not\n%s", err, q.Messages[0].Text, p.Messages[0].Text)
		}
	}
}

// TestARenderingThatFailsEndsTheFit: no model takes what is left of a packet for all that there is, and nothing is demoted for it.
func TestARenderingThatFailsEndsTheFit(t *testing.T) {
	d := newDesk()
	in := assembly(1, prompt(1, "task"), entry("known://a", strings.Repeat("a", 3000), at(1, 4)))
	in.Context = 2000
	p, err := d.Assemble(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = d.render(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, report, err := d.Fit(t.Context(), p, func(_ context.Context, p sdk.Prompt) (sdk.Prompt, error) { return p, broken })
	if !errors.Is(err, broken) || len(report.Writes) > 0 {
		t.Errorf("%v, and demotes %+v", err, report.Writes)
	}
}
