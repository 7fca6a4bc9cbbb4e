package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// answered commits the answer of a turn.
func (f *fixture) answered(turn int, text string) {
	f.t.Helper()
	f.commit(sdk.Write{Path: sdk.ReplyPath(turn), Body: &text, Writer: sdk.WriterSystem, State: sdk.StateResolved, Turn: turn})
}

// keeps commits what a model writes in a turn.
func (f *fixture) keeps(turn int, path, text string) {
	f.t.Helper()
	f.commit(sdk.Write{Path: path, Body: &text, Writer: sdk.WriterModel, Turn: turn})
}

// within are the paths of the entries whose bodies stand in answers.
func (f *fixture) within() []string {
	f.t.Helper()
	paths, err := list(f.reader(f.t.Context()), scanValue[string], `SELECT path FROM entries WHERE answer IS NOT NULL ORDER BY id`)
	if err != nil {
		f.t.Fatal(err)
	}
	return paths
}

// bodyAt is what a run reads at a path, by each way of reading.
func (f *fixture) bodyAt(run int64, path string) string {
	f.t.Helper()
	e, err := f.Entry(f.t.Context(), run, path)
	if err != nil {
		f.t.Fatal(err)
	}
	all, err := f.Entries(f.t.Context(), sdk.EntryQuery{Run: run, Pattern: path})
	if err != nil || len(all) != 1 || all[0].Body != e.Body {
		f.t.Errorf("of %s is listed %+v, %v", path, all, err)
	}
	err = f.Bodies(f.t.Context(), run, []string{path}, func(_, body string) error {
		if body != e.Body {
			f.t.Errorf("the body of %s is %q", path, body)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return e.Body
}

// TestWhatStandsInAnAnswerIsNotStoredAgain: a body that a model wrote in its answer is there once, and is read as any other. It
// stays whatever becomes of the answer, or of the run.
func TestWhatStandsInAnAnswerIsNotStoredAgain(t *testing.T) {
	long := strings.Repeat("ä line of it\n", 60)
	for name, c := range map[string]struct {
		body   string
		do     func(f *fixture)
		within int // of the entry and of the fork's, once that is done
	}{
		"nothing":            {long, func(*fixture) {}, 1},
		"a short one":        {"short", func(*fixture) {}, 0},
		"another one":        {"x" + long, func(*fixture) {}, 0},
		"the answer goes":    {long, func(f *fixture) { f.commit(sdk.Write{Path: "assistant://1", Remove: true, Writer: sdk.WriterSystem}) }, 0},
		"the answer changes": {long, func(f *fixture) { f.answered(1, "other") }, 0},
		"it has attributes": {long, func(f *fixture) {
			f.commit(sdk.Write{Path: "unknown://a", Attributes: object(`{"summary":"s"}`), Writer: sdk.WriterModel})
		}, 1},
		"it is written anew": {long, func(f *fixture) { f.keeps(2, "unknown://a", long+"x"); f.keeps(2, "unknown://a", long) }, 0},
		"it is appended to": {long, func(f *fixture) {
			f.commit(sdk.Write{Path: "unknown://a", Append: true, Body: body(""), Writer: sdk.WriterModel, Turn: 1})
		}, 1},
		"it is out of sight": {long, func(f *fixture) {
			f.commit(sdk.Write{Path: "unknown://a", Look: true, Visibility: sdk.Archived, Writer: sdk.WriterSystem})
		}, 1},
		"a person writes it": {long, func(f *fixture) {
			f.commit(sdk.Write{Path: "unknown://a", Body: body(long + "x"), Writer: sdk.WriterClient})
			f.commit(sdk.Write{Path: "unknown://a", Body: body(long), Writer: sdk.WriterClient})
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.answered(1, "I write.\n<set>"+long+"</set>\nmore")
			f.keeps(1, "unknown://a", c.body)
			c.do(f)
			if got := f.bodyAt(f.run.ID, "unknown://a"); got != c.body {
				t.Errorf("it reads %q", got)
			}
			if got := f.within(); len(got) != c.within {
				t.Errorf("%q stand in answers", got)
			}
			f.verify()
			checkIntegrity(t, f.Store)
		})
	}
}

// TestForksKeepWhatStoodInAnAnswer: a run that goes leaves a fork what the fork has seen of it, and a change of the parent's leaves it
// as it was.
func TestForksKeepWhatStoodInAnAnswer(t *testing.T) {
	long := strings.Repeat("a line of it\n", 60)
	f := newFixture(t)
	f.answered(1, "<set>"+long+"</set>")
	f.keeps(1, "unknown://a", long)
	fork := f.newRun(sdk.Run{Alias: "fork", Parent: f.run.ID})
	f.keeps(2, "unknown://a", "other")
	if got := f.within(); len(got) != 1 {
		t.Errorf("%q stand in answers", got)
	}
	if got := f.bodyAt(fork.ID, "unknown://a"); got != long {
		t.Errorf("the fork reads %q", got)
	}
	f.verify()
	f.commit(sdk.Write{Path: "assistant://1", Remove: true, Writer: sdk.WriterSystem})
	if got := f.bodyAt(fork.ID, "unknown://a"); got != long {
		t.Errorf("the fork reads %q", got)
	}
	f.verify()
	checkIntegrity(t, f.Store)

	f.answered(3, "<set>"+long+"</set>")
	f.keeps(3, "unknown://b", long)
	other := f.newRun(sdk.Run{Alias: "other", Parent: f.run.ID})
	f.delete(f.run.ID)
	if got := f.bodyAt(other.ID, "unknown://b"); got != long {
		t.Errorf("the fork of a run that was deleted reads %q", got)
	}
	f.delete(other.ID)
	if got := f.within(); len(got) != 0 {
		t.Errorf("%q stand in answers that are gone", got)
	}
	f.verify()
	checkIntegrity(t, f.Store)
}

// TestAnEntryReadsAsItWasWritten: whatever is written, changed and taken away in whatever order, each entry has the body that it was
// given last.
func TestAnEntryReadsAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFixture(t)
		pieces := []string{strings.Repeat("ä\x00<set>", 80), strings.Repeat("lines\n", 100), strings.Repeat("z", 600)}
		want := map[string]string{}
		for i := range rapid.IntRange(1, 12).Draw(r, "steps") {
			turn := rapid.IntRange(1, 3).Draw(r, "turn")
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(r, "text"), rapid.SampledFrom([]string{"", "|"}).Draw(r, "between"))
			path := fmt.Sprintf("unknown://%d", rapid.IntRange(1, 3).Draw(r, "path"))
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0, 1:
				f.answered(turn, text)
			case 2, 3:
				f.keeps(turn, path, text)
				want[path] = text
			case 4:
				if _, is := want[path]; is {
					f.commit(sdk.Write{Path: path, Remove: true, Writer: sdk.WriterModel})
					delete(want, path)
				}
			default:
				if _, err := f.Entry(t.Context(), f.run.ID, sdk.ReplyPath(turn)); err == nil {
					f.commit(sdk.Write{Path: sdk.ReplyPath(turn), Remove: true, Writer: sdk.WriterSystem})
				}
			}
			for path, body := range want {
				if got := f.bodyAt(f.run.ID, path); got != body {
					r.Fatalf("after step %d %s reads %q and not %q", i+1, path, got, body)
				}
			}
		}
		f.verify()
	})
}

// TestForksReadAsTheyWereWritten: a run and its forks, and theirs, read what each of them saw or wrote, whichever of them changes an
// answer, takes one away or is deleted; bytes that are no UTF-8, and bodies that begin in the middle of a character, too.
func TestForksReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFixture(t)
		pieces := []string{strings.Repeat("ä\x00<set>", 80), strings.Repeat("lines\n", 100), strings.Repeat("z\xff", 300), strings.Repeat("ä", 400)[1:]}
		want := map[int64]map[string]string{f.run.ID: {}}
		runs := []int64{f.run.ID}
		for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
			run := rapid.SampledFrom(runs).Draw(r, "run")
			write := func(w sdk.Write) {
				if _, err := f.Commit(t.Context(), sdk.Change{Run: run, Writes: []sdk.Write{w}}); err != nil {
					r.Fatal(err)
				}
			}
			turn := rapid.IntRange(1, 2).Draw(r, "turn")
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 3).Draw(r, "text"), rapid.SampledFrom([]string{"", "|"}).Draw(r, "between"))
			path := fmt.Sprintf("unknown://%d", rapid.IntRange(1, 3).Draw(r, "path"))
			switch rapid.IntRange(0, 8).Draw(r, "step") {
			case 0, 1:
				path = sdk.ReplyPath(turn)
				write(sdk.Write{Path: path, Body: &text, Writer: sdk.WriterSystem, State: sdk.StateResolved, Turn: turn})
				want[run][path] = text
			case 2, 3:
				text = rapid.SampledFrom(pieces).Draw(r, "piece") // as an answer has it
				write(sdk.Write{Path: path, Body: &text, Writer: sdk.WriterModel, Turn: turn})
				want[run][path] = text
			case 4:
				write(sdk.Write{Path: path, Body: &text, Append: true, Writer: sdk.WriterModel, Turn: turn})
				want[run][path] += text
			case 5, 6:
				p, by := path, sdk.WriterModel
				if rapid.Bool().Draw(r, "answer") {
					p, by = sdk.ReplyPath(turn), sdk.WriterSystem
				}
				if _, is := want[run][p]; is {
					write(sdk.Write{Path: p, Remove: true, Writer: by})
					delete(want[run], p)
				}
			case 7:
				c, err := f.CreateRun(t.Context(), sdk.Run{Project: f.project.ID, Agent: "chat", Model: "m", Parent: run, Alias: fmt.Sprintf("f%d", i)})
				if err != nil {
					r.Fatal(err)
				}
				runs = append(runs, c.ID)
				want[c.ID] = maps.Clone(want[run])
			default:
				if len(runs) > 1 {
					if _, err := f.DeleteRun(t.Context(), run, "test"); err != nil {
						r.Fatal(err)
					}
					delete(want, run)
					runs = slices.DeleteFunc(runs, func(id int64) bool { return id == run })
				}
			}
			for id, all := range want {
				for path, body := range all {
					if got := f.bodyAt(id, path); got != body {
						r.Fatalf("after step %d %s of %d reads %q and not %q", i+1, path, id, got, body)
					}
				}
			}
		}
		f.verify()
		checkIntegrity(t, f.Store)
	})
}
