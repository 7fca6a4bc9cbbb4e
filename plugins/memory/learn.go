package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

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
	said, err := m.saidIn(ctx, rest)
	if err != nil || len(said) == 0 {
		return err
	}
	known, err := m.index.load(ctx, rest.Run.Owner)
	if err != nil {
		return err
	}
	answer, err := host.Ask(ctx, question(m.block.Model, together(said), known.all()))
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
	of := func(label string) bool {
		channel, person, _ := strings.Cut(label, "/")
		return label == rest.Run.Owner || sdk.PersonID(channel, person) == rest.Run.Owner
	}
	return m.block.Learn && !rest.Run.NoMemory && !slices.Contains(m.block.Agents, rest.Run.Agent) && !slices.ContainsFunc(m.block.People, of) &&
		(rest.Project == "" || !slices.Contains(m.block.Projects, rest.Project))
}

// words are what a person said in a prompt.
type words struct {
	text string
	at   time.Time
}

// saidIn is what a person said in the prompts of a rest: nothing that was given along, nothing that a plugin or an agent gave, and
// nothing to an agent that is left out. Of more than mostSaid bytes it is what was said last.
func (m *memory) saidIn(ctx context.Context, rest sdk.Rest) (said []words, err error) {
	left := mostSaid
	for n := rest.To; n >= rest.From && left > 0; n-- {
		e, err := host.From(ctx).Entry(ctx, fmt.Sprintf("prompt://%d", n))
		switch {
		case err != nil && sdk.OutcomeOf(err) == sdk.NotFound:
			continue
		case err != nil:
			return nil, err
		case e.State == sdk.StateCancelled: // it was taken back
			continue
		}
		var at struct {
			Said  int    `json:"said"`
			Agent string `json:"agent"`
		}
		if len(e.Attributes) > 0 {
			if err := json.Unmarshal(e.Attributes, &at); err != nil {
				return nil, err
			}
		}
		if slices.Contains(m.block.Agents, at.Agent) {
			continue
		}
		text := sdk.Head(e.Body[:min(at.Said, len(e.Body))], left)
		if left -= len(text); strings.TrimSpace(text) != "" {
			said = append(said, words{text, e.Created})
		}
	}
	slices.Reverse(said)
	return said, nil
}

// together are the words of all prompts.
func together(said []words) string {
	var b strings.Builder
	for _, w := range said {
		b.WriteString(w.text + "\n\n")
	}
	return b.String()
}

// learned are the facts of a model's answer whose quotes stand in what the person said. What somebody said before is to be remembered
// stays theirs, and what was forgotten since the words were said is not learned from them again.
func learned(answer string, said []words, rest sdk.Rest, known *owned) (facts []fact.Fact) {
	for _, x := range readAnswer(answer) {
		f, err := fact.New(x.Key, x.Value, fact.About{Source: fact.Auto, Seen: time.Now().UTC(), Run: rest.Run.ID, Loop: rest.To, Quote: x.Quote})
		if err != nil || hasSecret(f) || len(facts) == mostLearned {
			continue
		}
		last := -1
		for i, w := range said {
			if sdk.StandsIn(w.text, f.Quote) {
				last = i
			}
		}
		if was, is := known.at(f.Path); last < 0 || is && was.Source == fact.Explicit || known.forgotten(f, said[last].at) {
			continue
		}
		facts = append(facts, f)
	}
	return facts
}

// keepLearned writes facts with the mark of their rest, in one commit; where the daemon takes none of them, the mark alone, so that no
// model is asked about them again.
func keepLearned(ctx context.Context, mark string, facts []fact.Fact) error {
	err := writeLearned(ctx, mark, facts)
	if outcome := sdk.OutcomeOf(err); err != nil && (outcome == sdk.Permission || outcome == sdk.Validation) && len(facts) > 0 {
		slog.Info("what was learned is not kept", "reason", err)
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
