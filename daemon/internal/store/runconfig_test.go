package store

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestConfigureARun(t *testing.T) {
	f := newFixture(t)
	warm := 0.3
	given := sdk.RunConfig{Temperature: &warm, Persona: "a pirate", ContextLimit: 4000, NoRepo: true, NoInteraction: true, NoWeb: true, NoProposals: true, NoMemory: true}
	made := f.newRun(sdk.Run{Alias: "made", RunConfig: given})
	configure := func(run int64, change func(*sdk.Run)) (sdk.Run, error) {
		t.Helper()
		return f.ConfigureRun(t.Context(), run, change)
	}
	got, err := configure(f.run.ID, func(r *sdk.Run) { r.RunConfig, r.Model = given, "fake/other" })
	if err != nil || !reflect.DeepEqual(got.RunConfig, given) || got.Model != "fake/other" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, id := range []int64{f.run.ID, made.ID, f.newRun(sdk.Run{Project: f.run.Project, Parent: f.run.ID}).ID} {
		if r, err := f.Run(t.Context(), id); err != nil || !reflect.DeepEqual(r.RunConfig, given) {
			t.Errorf("run %d: %+v, %v", id, r, err)
		}
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID})
	if err != nil {
		t.Fatal(err)
	}
	last := rows[len(rows)-1]
	for _, part := range []string{`"model":"fake/other"`, `"temperature":0.3`, `"context_limit":4000`, `"no_web":true`, `"persona":"`} {
		if last.Kind != sdk.KindRunConfigured || !strings.Contains(string(last.Data), part) || strings.Contains(string(last.Data), "pirate") {
			t.Errorf("%s %s lacks %s", last.Kind, last.Data, part)
		}
	}
	seq := f.Seq()
	if _, err := configure(f.run.ID, func(*sdk.Run) {}); err != nil || f.Seq() != seq {
		t.Errorf("nothing changed, and %d rows were written: %v", f.Seq()-seq, err)
	}
	if r, err := configure(f.run.ID, func(r *sdk.Run) { r.Temperature, r.NoWeb = nil, false }); err != nil || r.Temperature != nil || r.NoWeb {
		t.Errorf("%+v, %v", r, err)
	}
	for name, c := range map[string]sdk.RunConfig{
		"cold": {Temperature: number(-0.1)}, "hot": {Temperature: number(2.1)}, "no number": {Temperature: number(math.NaN())},
		"no limit": {ContextLimit: -1}, "no text": {Persona: "\xff"}, "a book": {Persona: strings.Repeat("x", sdk.MaxPersona+1)},
	} {
		if _, err := configure(f.run.ID, func(r *sdk.Run) { r.RunConfig = c }); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Agent: "a", Model: "m", RunConfig: c}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("a run that is %s: %v", name, err)
		}
	}
	if _, err := configure(99, func(*sdk.Run) {}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	f.verify()
}

// TestNoMemoryStays: a run that has begun without memory does not get one, for then what was said in it would be learned from.
func TestNoMemoryStays(t *testing.T) {
	f := newFixture(t)
	without := func(no bool) error {
		_, err := f.ConfigureRun(t.Context(), f.run.ID, func(r *sdk.Run) { r.NoMemory = no })
		return err
	}
	for _, no := range []bool{true, false} {
		if err := without(no); err != nil {
			t.Fatal(err)
		}
	}
	f.turn(0)
	if err := without(true); err != nil {
		t.Errorf("a run that has begun cannot be without: %v", err)
	}
	if err := without(false); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("it has memory again: %v", err)
	}
	if r, err := f.Run(t.Context(), f.newRun(sdk.Run{Project: f.run.Project, Parent: f.run.ID}).ID); err != nil || !r.NoMemory {
		t.Errorf("a fork is %+v, %v", r, err)
	}
}

// From the first turn on the persona stays, and all else can be changed.
func TestPersonaIsFixed(t *testing.T) {
	f := newFixture(t)
	persona := func(text string) error {
		_, err := f.ConfigureRun(t.Context(), f.run.ID, func(r *sdk.Run) { r.Persona, r.ContextLimit = text, r.ContextLimit+1 })
		return err
	}
	for _, text := range []string{"a pirate", "", "a poet"} {
		if err := persona(text); err != nil {
			t.Fatal(err)
		}
	}
	f.turn(0)
	if err := persona("a pirate"); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("another persona: %v", err)
	}
	if err := persona("a poet"); err != nil {
		t.Errorf("the same persona: %v", err)
	}
	if r, err := f.Run(t.Context(), f.run.ID); err != nil || r.Persona != "a poet" || r.ContextLimit != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPromptChangesItsRun: what a prompt changes in its run comes with it, or not at all.
func TestPromptChangesItsRun(t *testing.T) {
	f := newFixture(t)
	body := "b"
	prompt := func(persona, path string) error {
		_, r, err := f.Begin(t.Context(), sdk.Loop{Run: f.run.ID, Prompt: "p", Change: &sdk.RunChange{
			Configure: func(r *sdk.Run) { r.Persona, r.NoWeb = persona, true }, Writes: []sdk.Write{{Path: path, Body: &body, Writer: sdk.WriterSystem}},
		}})
		if err == nil && (len(r.Entries) != 2 || r.Entries[1].Path != path || r.Entries[0].Scheme() != "prompt") {
			t.Errorf("the receipt has %v", r.Entries)
		}
		return err
	}
	for name, c := range map[string]struct {
		persona, path string
		want          sdk.Outcome
	}{"a persona that is none": {"\xff", "mode://run", sdk.Validation}, "an entry that is none": {"p", "nowhere://x", sdk.Validation}} {
		seq := f.Seq()
		if err := prompt(c.persona, c.path); sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := f.Run(t.Context(), f.run.ID); err != nil || r.NoWeb || r.Status != sdk.StatusQueued || f.Seq() != seq {
			t.Errorf("%s left %+v, %v, and %d rows", name, r, err, f.Seq()-seq)
		}
	}
	if err := prompt("a poet", "mode://run"); err != nil {
		t.Fatal(err)
	}
	if r, err := f.Run(t.Context(), f.run.ID); err != nil || !r.NoWeb || r.Persona != "a poet" || r.Status != sdk.StatusRunning {
		t.Errorf("%+v, %v", r, err)
	}
	f.verify()
}

func number(n float64) *float64 { return &n }
