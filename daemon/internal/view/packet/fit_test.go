package packet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	for i := range rapid.IntRange(0, 2).Draw(r, "images") {
		one, data := picture(strconv.Itoa(i))
		in.Entries[i].Attributes = prompt(int64(i), "", with("with an image", one)).Attributes
		in.Entries = append(in.Entries, data)
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
		if p.Messages[0].Text != q.Messages[0].Text || len(p.Messages[0].Media) != len(q.Messages[0].Media) || p.System != q.System || p.Tokens != q.Tokens {
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

// TestADemotedPromptIsItsBeginning: of a prompt of 4,000 characters, in the first turn, 500 are left, and a line that says so.
func TestADemotedPromptIsItsBeginning(t *testing.T) {
	in := assembly(1, prompt(1, strings.Repeat("p", 4000)))
	in.Turn = 1
	before, _, err := newDesk().fit(t, in)
	if err != nil || !strings.Contains(before.Messages[0].Text, strings.Repeat("p", 4000)) {
		t.Fatalf("%v: %s", err, before.Messages[0].Text)
	}
	in.Context = 2400
	p, report, err := newDesk().fit(t, in)
	if err != nil || len(report.Writes) != 2 || report.Writes[0].Path != "prompt://1" || report.Writes[1].Path != "log://turn_1/error/demoted_prompt" {
		t.Fatalf("%v: %+v", err, report)
	}
	text := p.Messages[0].Text
	if at := strings.Index(text, strings.Repeat("p", 500)+"\n[the first 500 of 4000 characters]"); at < 0 || strings.Contains(text, strings.Repeat("p", 501)) {
		t.Errorf("it is\n%s", text)
	}
	if tokens := p.Rows[0].Tokens; len(p.Rows) != 1 || tokens.Difference < 1700 || tokens.Difference > 1750 {
		t.Errorf("of 2,000 tokens it frees %+v", tokens)
	}
}

// picture is an image of 853 tokens, and its entry.
func picture(name string) (sdk.Medium, sdk.Entry) {
	m := sdk.Medium{Kind: sdk.MediumImage, MIMEType: "image/png", URI: "image://" + name, Width: 800, Height: 800}
	return m, entry(m.URI, "data of "+name)
}

// with are images of a prompt.
func with(text string, media ...sdk.Medium) func(*sdk.Entry) {
	return attributes(map[string]any{"meaning": sdk.Meaning{Text: text, Media: media}})
}

// TestADemotedPromptKeepsItsImages: they are what it was given with, so that one which does not fit with them ends the loop, and says
// so. A model that takes none is told of them all the same.
// spec: budget_enforcement
func TestADemotedPromptKeepsItsImages(t *testing.T) {
	one, data := picture("1")
	long := strings.Repeat("p", 4000)
	for _, inputs := range [][]string{{"text", "image"}, {"text"}} {
		takes := len(inputs) == 2
		in := assembly(1, prompt(1, long, with(long, one)), data)
		in.Inputs = inputs
		for _, context := range []int{100_000, 2700} {
			in.Context = context
			p, report, err := newDesk().fit(t, in)
			if err != nil || (len(report.Writes) == 2) != (context == 2700) || (len(p.Messages[0].Media) == 1) != takes || strings.Contains(p.Messages[0].Text, "[Image 1 of") == takes {
				t.Fatalf("%v: %+v with %d images in %s", err, report, len(p.Messages[0].Media), p.Messages[0].Text)
			}
			again := in
			again.Entries = written(in.Entries, report.Writes)
			q, _, err := newDesk().fit(t, again)
			if err != nil || q.Messages[0].Text != p.Messages[0].Text || len(q.Messages[0].Media) != len(p.Messages[0].Media) {
				t.Errorf("%v: made again it is\n%s\nand not\n%s", err, q.Messages[0].Text, p.Messages[0].Text)
			}
		}
		in.Context = 1700
		_, _, err := newDesk().fit(t, in)
		if said := err != nil && strings.Contains(err.Error(), "The images of the prompt, which stay with it, are 853 of them"); sdk.OutcomeOf(err) != sdk.Overflow && takes || said != takes {
			t.Errorf("one that does not fit: %v", err)
		}
	}
}

// TestImagesOfEarlierPromptsGo with the prompts when these are demoted, and come back with them: however short a prompt is, its images
// count for what it costs. The prompt of the loop keeps its own.
// spec: budget_enforcement token_accounting
func TestImagesOfEarlierPromptsGo(t *testing.T) {
	old, first := picture("old")
	now, second := picture("now")
	in := assembly(2, prompt(1, "see this", with("see this", old)), first, prompt(2, "and this", with("and this", now)), second)
	in.Turn = 9
	roomy, _, err := newDesk().fit(t, in)
	if err != nil || len(roomy.Messages[0].Media) != 2 {
		t.Fatalf("%v: %d images", err, len(roomy.Messages[0].Media))
	}
	in.Context = 2400
	d := newDesk()
	p, report, err := d.fit(t, in)
	if err != nil || len(report.Writes) != 2 || report.Writes[0].Path != "prompt://1" || report.Writes[1].Path != "log://turn_9/error/demoted_prompts" {
		t.Fatalf("%v, %+v", err, report)
	}
	if m := p.Messages[0].Media; len(m) != 1 || m[0].URI != now.URI || m[0].Data == "" {
		t.Errorf("it has %+v", m)
	}
	for _, r := range p.Rows {
		if freed := report.Before - report.After; r.Path == "prompt://1" && (r.Tokens.Difference < freed-20 || r.Tokens.Difference > freed+20) || r.Path == "prompt://2" && r.Tokens.Difference != 0 {
			t.Errorf("%s: demoting it frees %d, and %d were freed", r.Path, r.Tokens.Difference, freed)
		}
	}
	inOrder(t, p.Messages[0].Text, `path="prompt://2" tokens="0">and this</prompt>`, "<log>", "see this\n[Left out with it, images: 1. get makes it visible again, with its images.]")
	small := in.Context
	in.Entries = written(in.Entries, report.Writes)
	for _, desk := range []desk{d, newDesk()} {
		q, _, err := desk.fit(t, in)
		if err != nil || q.Messages[0].Text != p.Messages[0].Text || len(q.Messages[0].Media) != 1 {
			t.Errorf("%v: made again it is\n%s\nand not\n%s", err, q.Messages[0].Text, p.Messages[0].Text)
		}
	}
	in.Entries, in.Context = in.Entries[:4], 100_000
	in.Entries[0].Visibility = sdk.Visible
	if back, _, err := d.fit(t, in); err != nil || back.Messages[0].Text != roomy.Messages[0].Text || len(back.Messages[0].Media) != 2 {
		t.Errorf("%v: with the prompt visible again it is\n%s\nand not\n%s", err, back.Messages[0].Text, roomy.Messages[0].Text)
	}
	in.Context, in.Entries[1].Body, in.Entries[1].Hash = small, "", "gone"
	if _, report, err := d.fit(t, in); err != nil || len(report.Writes) != 0 {
		t.Errorf("an image that is kept no more counts: %v, %+v", err, report)
	}
}

// TestTheOldestImagesAreLeftOut where a packet has more than a request takes, and said to be.
func TestTheOldestImagesAreLeftOut(t *testing.T) {
	in := assembly(2)
	for loop := range 2 {
		var media []sdk.Medium
		for n := range 15 {
			m, data := picture(fmt.Sprintf("%d_%d", loop+1, n))
			media, in.Entries = append(media, m), append(in.Entries, data)
		}
		in.Entries = append(in.Entries, prompt(int64(loop+1), "see", with("see", media...)))
	}
	p, err := newDesk().send(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Messages[0].Media; len(m) != sdk.MaxMedia || m[0].URI != "image://1_10" || m[len(m)-1].URI != "image://2_14" {
		t.Errorf("there are %d images: %v", len(m), m)
	}
	inOrder(t, p.Messages[0].Text, "<instructions>", "[Image 1 of these", "[Image 10 of these", "later ones fill", "</instructions>")
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
