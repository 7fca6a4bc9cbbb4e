package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// demoting is a view that takes an entry out of sight when it fits a prompt.
type demoting struct {
	Assembler
	fit func(p sdk.Prompt) ([]sdk.Write, error)
}

func (d demoting) Fit(_ context.Context, p sdk.Prompt, _ func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, sdk.Fitting, error) {
	writes, err := d.fit(p)
	return p, sdk.Fitting{Writes: writes}, err
}

// demotion is what a view writes of an entry and of the turn in which it did not fit.
func demotion(p sdk.Prompt, path string) []sdk.Write {
	said := sdk.Write{
		Path: sdk.ActionPath{Turn: p.Turn, Tool: sdk.ErrorTool, Slug: "demoted"}.String(), Body: new("it was demoted"),
		Writer: sdk.WriterSystem, State: sdk.StateFailed, Outcome: sdk.Overflow, Loop: p.Loop.ID, Turn: p.Turn,
	}
	return []sdk.Write{{Path: path, Look: true, Visibility: sdk.Summarized, Writer: sdk.WriterSystem}, said}
}

func (h *house) demotes(fit func(p sdk.Prompt) ([]sdk.Write, error)) {
	h.config.Views[sdk.ViewTranscript] = demoting{h.config.Views[sdk.ViewTranscript], fit}
}

// sightOf is how much the run has in sight of an entry.
func (h *house) sightOf(run int64, path string) sdk.Entry {
	h.t.Helper()
	e, err := h.store.Entry(context.Background(), run, path)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// demoted are the commits that hold a demotion.
func (h *house) demoted() (n int) {
	for _, c := range h.store.changes {
		if slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Look && w.Visibility == sdk.Summarized }) {
			n++
		}
	}
	return n
}

// TestDemotionsAreOneCommitBeforeTheRequest, and cost none where all fits. They are no failure of the turn.
func TestDemotionsAreOneCommitBeforeTheRequest(t *testing.T) {
	var h *house
	h = prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"text"}`}),
		func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			if e := h.sightOf(1, "known://a"); e.Visibility != sdk.Summarized || e.State != sdk.StateResolved || e.Body != "text" {
				t.Errorf("when the model is asked the entry is %+v", e)
			}
			return calls(call{"read", `{"path":"x"}`})(ctx, r, send, retry)
		}, say("done"))
	h.withVerbs()
	h.demotes(func(p sdk.Prompt) ([]sdk.Write, error) {
		if p.Turn != 2 {
			return nil, nil
		}
		return demotion(p, "known://a"), nil
	})
	var failures int
	h.hooks.TurnVerdict.On(10, "t", true, func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		failures += len(r.Errors)
		return r, nil
	})
	var told []string
	h.hooks.ErrorLog.On(10, "t", func(_ context.Context, e sdk.EntryEvent) error {
		told = append(told, e.Entry.Path)
		return nil
	})
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	h.untilIdle()
	if n := h.demoted(); n != 1 || failures != 0 {
		t.Errorf("%d commits hold the demotion, and %d failures were counted", n, failures)
	}
	if len(told) != 1 || told[0] != "log://turn_2/error/demoted" {
		t.Errorf("told of %v", told)
	}
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	var last int64 // row of the demotion
	for _, row := range rows {
		switch {
		case row.Path == "known://a", row.Path == told[0]:
			last = row.Seq
		case row.Kind == sdk.KindNoteSent && row.Turn == 2:
			var s sdk.Sent
			if err := json.Unmarshal(row.Data, &s); err != nil || s.Seq < last {
				t.Errorf("what was sent is of row %d, and the demotion is row %d: %v", s.Seq, last, err)
			}
		}
	}
	h.check(a.Run.ID)
}

// TestDemotionsOfWhatIsGone are left out, and the rest is recorded.
func TestDemotionsOfWhatIsGone(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"text"}`}), say("done"))
	h.withVerbs()
	h.demotes(func(p sdk.Prompt) ([]sdk.Write, error) {
		if p.Turn != 2 {
			return nil, nil
		}
		return append(demotion(p, "known://gone"), demotion(p, "known://a")[0]), nil
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if e := h.sightOf(a.Run.ID, "known://a"); e.Visibility != sdk.Summarized {
		t.Errorf("the other is %s", e.Visibility)
	}
	if e := h.sightOf(a.Run.ID, "log://turn_2/error/demoted"); e.Status() != sdk.StatusOverflow {
		t.Errorf("what tells of it is %+v", e)
	}
}

// TestOverflowKeepsWhatWasDemoted: a prompt that does not fit all the same ends its loop at 413, and the next one begins with what
// was taken out of sight for it.
func TestOverflowKeepsWhatWasDemoted(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"text"}`}))
	h.withVerbs()
	h.demotes(func(p sdk.Prompt) ([]sdk.Write, error) {
		if p.Turn != 2 {
			return nil, nil
		}
		return demotion(p, "known://a"), sdk.Errorf(sdk.Overflow, "12 tokens are too many")
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOverflow || l.Stop != sdk.StopOverflow || !strings.Contains(l.Reason, "12 tokens are too many") {
		t.Errorf("ended %d (%s): %s", l.Status, l.Stop, l.Reason)
	}
	for path, want := range map[string]int{"log://turn_2/error/demoted": 413, "log://turn_2/error/overflow": 413, "known://a": 200} {
		if e := h.sightOf(a.Run.ID, path); e.Status() != want || want == 200 && e.Visibility != sdk.Summarized {
			t.Errorf("%s is %+v", path, e)
		}
	}
	if l := h.run(Submission{Run: a.Run.Alias}); l.Status != sdk.StatusOK {
		t.Errorf("the next prompt ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
}

// TestAServersOverflowDemotes by the same way as an estimate does.
func TestAServersOverflowDemotes(t *testing.T) {
	tooLong := func(context.Context, sdk.Request, func(sdk.Delta) error, func(sdk.Retry) error) error {
		return &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
	}
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"text"}`}), tooLong, say("done"))
	h.withVerbs()
	sent := 0
	h.demotes(func(p sdk.Prompt) ([]sdk.Write, error) {
		if sent++; p.Turn != 2 || sent < 3 {
			return nil, nil
		}
		return demotion(p, "known://a"), nil
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if e := h.sightOf(a.Run.ID, "known://a"); e.Visibility != sdk.Summarized {
		t.Errorf("it is %s", e.Visibility)
	}
}

// TestSoftOverflowsAreNoStrikesAfterARestart: a loop that is taken up counts the failures of its turns anew.
func TestSoftOverflowsAreNoStrikesAfterARestart(t *testing.T) {
	left := leftTurn{row: sdk.Turn{Sequence: 4}}
	for _, e := range []sdk.Entry{
		{Path: "log://turn_4/error/demoted", State: sdk.StateFailed, Outcome: sdk.Overflow},
		{Path: "log://turn_4/error/dialect_1", State: sdk.StateFailed, Outcome: sdk.Validation},
	} {
		left.take(e)
	}
	if len(left.errors) != 1 || left.errors[0].Outcome != sdk.Validation {
		t.Errorf("the turn has the failures %+v", left.errors)
	}
}

// settling is a view of which each turn demotes an entry when it is over.
type settling struct {
	Assembler
	settle func(next sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error)
}

func (s settling) Settle(_ context.Context, next sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error) {
	return s.settle(next, sent)
}

// settles has a model write known://a, call a tool and answer, and counts the commits.
func settles(t *testing.T, settle func(next sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error)) (*house, Accepted, int) {
	t.Helper()
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"text"}`}), calls(call{"read", `{"path":"x"}`}), say("done"))
	h.withVerbs()
	if settle != nil {
		h.config.Views[sdk.ViewTranscript] = settling{h.config.Views[sdk.ViewTranscript], settle}
	}
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
	return h, a, len(h.store.changes)
}

// TestATurnDemotesInTheCommitThatClosesIt, which adds no commit.
func TestATurnDemotesInTheCommitThatClosesIt(t *testing.T) {
	_, _, plain := settles(t, nil)
	asked := 0
	h, a, commits := settles(t, func(next sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error) {
		if asked++; next.Turn != 2 {
			return nil, nil
		}
		if sent.Turn != 1 || next.Entries[len(next.Entries)-1].Path != "known://a" && len(next.Entries) < 4 {
			t.Errorf("the next is made of %+v, and sent was turn %d", next.Entries, sent.Turn)
		}
		return demotion(sent, "known://a"), nil
	})
	if commits != plain {
		t.Errorf("%d commits, and %d without it", commits, plain)
	}
	if asked != 2 {
		t.Errorf("asked %d times: a turn that ends its loop has none behind it", asked)
	}
	for _, c := range h.store.changes {
		if slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Look }) && (c.CloseTurn == nil || c.CloseTurn.Sequence != 1 || c.OpenTurn == nil) {
			t.Errorf("it is demoted by %+v", c)
		}
	}
	if e := h.sightOf(a.Run.ID, "known://a"); e.Visibility != sdk.Summarized || h.sightOf(a.Run.ID, "log://turn_1/error/demoted").Status() != sdk.StatusOverflow {
		t.Errorf("it is %+v", e)
	}
}

// TestATurnIsClosedWhateverItDemotes: what is gone meanwhile, or cannot be known, holds nothing up.
func TestATurnIsClosedWhateverItDemotes(t *testing.T) {
	for name, settle := range map[string]func(sdk.Assembly, sdk.Prompt) ([]sdk.Write, error){
		"gone":    func(_ sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error) { return demotion(sent, "known://gone"), nil },
		"unknown": func(sdk.Assembly, sdk.Prompt) ([]sdk.Write, error) { return nil, sdk.Errorf(sdk.Internal, "unknown") },
	} {
		t.Run(name, func(t *testing.T) {
			h, a, _ := settles(t, settle)
			if e := h.sightOf(a.Run.ID, "known://a"); e.Visibility != sdk.Visible {
				t.Errorf("it is %s", e.Visibility)
			}
		})
	}
}
