package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/host"
)

// learnedScheme is that of the marks of rests that were learned from: one is written by the commit that writes what was learned,
// so that a rest which is told twice is learned from once.
const learnedScheme = "learned"

// The bounds of one rest.
const (
	mostSaid    = 32 << 10 // bytes of what a person said; of more the end
	mostLearned = 20
)

// rested learns from what a person said in a run since it rested last, and has its model be told anew of what is remembered.
func (m *memory) rested(ctx context.Context, rest sdk.Rest) error {
	m.parts.forget(rest.Run.ID)
	m.index.knows(rest.Run)
	if !m.learns(rest) {
		return nil
	}
	mark := learnedScheme + "://" + rest.ID
	switch _, err := host.From(ctx).Entry(ctx, mark); {
	case err == nil:
		return nil
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return err
	}
	said, err := saidIn(ctx, rest)
	if err != nil || strings.TrimSpace(said) == "" {
		return err
	}
	known, err := m.index.load(ctx, rest.Run.Owner)
	if err != nil {
		return err
	}
	answer, err := host.Ask(ctx, question(m.block.Model, said, known.all()))
	if sdk.OutcomeOf(err) == sdk.Permission && err != nil { // it would be refused again: what it may cost is spent, or the model is elsewhere
		slog.Info("nothing is learned from a run", "run", rest.Run.Alias, "reason", err)
		return nil
	}
	if err != nil {
		return err
	}
	return keepLearned(ctx, mark, learned(answer, said, rest, known))
}

// learns reports whether anything is learned from a run.
func (m *memory) learns(rest sdk.Rest) bool {
	return m.block.Learn && !slices.Contains(m.block.Agents, rest.Run.Agent) && !slices.Contains(m.block.People, rest.Run.Owner) &&
		(rest.Project == "" || !slices.Contains(m.block.Projects, rest.Project))
}

// saidIn is what a person said in the prompts of a rest: nothing that was given along, and nothing that a plugin or an agent gave.
func saidIn(ctx context.Context, rest sdk.Rest) (string, error) {
	var prompts []string
	for n := rest.From; n <= rest.To; n++ {
		e, err := host.From(ctx).Entry(ctx, fmt.Sprintf("prompt://%d", n))
		switch {
		case sdk.OutcomeOf(err) == sdk.NotFound && err != nil:
			continue
		case err != nil:
			return "", err
		case e.State == sdk.StateCancelled: // it was taken back
			continue
		}
		var at struct {
			Said int `json:"said"`
		}
		if len(e.Attributes) > 0 {
			if err := json.Unmarshal(e.Attributes, &at); err != nil {
				return "", err
			}
		}
		prompts = append(prompts, e.Body[:min(at.Said, len(e.Body))])
	}
	said := strings.ToValidUTF8(strings.Join(prompts, "\n\n"), "")
	for len(said) > mostSaid {
		_, size := utf8.DecodeRuneInString(said[len(said)-mostSaid:])
		said = strings.ToValidUTF8(said[len(said)-mostSaid+size:], "")
	}
	return said, nil
}

// learned are the facts of a model's answer whose quotes stand in what the person said, and that nobody said before in as many
// words to be remembered.
func learned(answer, said string, rest sdk.Rest, known *owned) (facts []fact.Fact) {
	for _, x := range readAnswer(answer) {
		f, err := fact.New(x.Key, x.Value, fact.About{Source: fact.Auto, Seen: time.Now().UTC(), Run: rest.Run.ID, Loop: rest.To, Quote: x.Quote})
		if err != nil || hasSecret(f) || !sdk.StandsIn(said, f.Quote) || len(facts) == mostLearned {
			continue
		}
		if was, is := known.at(f.Path); is && was.Source == fact.Explicit {
			continue
		}
		facts = append(facts, f)
	}
	return facts
}

// keepLearned writes facts with the mark of their rest, in one commit. Of a run that has read what came from outside it keeps them in
// the person's own words.
func keepLearned(ctx context.Context, mark string, facts []fact.Fact) error {
	err := writeLearned(ctx, mark, facts)
	if sdk.OutcomeOf(err) != sdk.Permission || err == nil || len(facts) == 0 {
		return err
	}
	var own []fact.Fact
	for _, f := range facts {
		if x, err := ownWords(f); err == nil {
			own = append(own, x)
		}
	}
	err = writeLearned(ctx, mark, own)
	if sdk.OutcomeOf(err) == sdk.Permission && err != nil {
		err = writeLearned(ctx, mark, nil)
	}
	return err
}

func writeLearned(ctx context.Context, mark string, facts []fact.Fact) error {
	empty := ""
	writes := []sdk.Write{{Path: mark, Body: &empty, Visibility: sdk.Archived, State: sdk.StateResolved}}
	for _, f := range facts {
		writes = append(writes, f.Write())
	}
	kept, err := host.From(ctx).Write(ctx, writes...)
	if err != nil {
		return err
	}
	for _, e := range kept { // what redaction knows and the model did not
		if f, is := fact.Of(e); is && hasSecret(f) {
			if err := drop(ctx, []fact.Fact{f}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownWords is a fact whose value is what the person said. Its key may be of who wrote the value: it is kept only where the person said
// it, too.
func ownWords(f fact.Fact) (fact.Fact, error) {
	key := f.Key
	if !sdk.StandsIn(fact.Fold(f.Quote), fact.Fold(key)) {
		key = "note"
	}
	a := f.About
	a.Source = fact.Auto
	return fact.New(key, f.Quote, a)
}
