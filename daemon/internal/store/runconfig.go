package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// ConfigureRun changes the model of a run and what it has of its own; change gets the
// run as it is. Conflict when the persona would become another after the first turn, or
// what was said without memory would be learned from.
func (s *Store) ConfigureRun(ctx context.Context, run int64, change func(*sdk.Run)) (r sdk.Run, err error) {
	err = s.update(ctx, "configuring a run", func(t *tx) (err error) {
		if r, err = t.run(run); err != nil {
			return err
		}
		return t.configure(&r, change)
	})
	return r, err
}

// configure changes a run, and tells what of it became another.
func (t *tx) configure(r *sdk.Run, change func(*sdk.Run)) error {
	was := *r
	change(r)
	if err := t.s.checkConfig(r.RunConfig); err != nil {
		return err
	}
	if r.Persona != was.Persona && was.Turns > 0 {
		return sdk.Errorf(sdk.Conflict, "the run %s has begun, and keeps its persona: begin another run for another one", was.Alias)
	}
	if was.NoMemory && !r.NoMemory && was.Turns > 0 {
		return sdk.Errorf(sdk.Conflict, "the run %s has begun without memory, and nothing that is said in it is learned: begin another run to have it", was.Alias)
	}
	told := differences(was.RunConfig, r.RunConfig)
	if r.Model != was.Model {
		told["model"] = r.Model
	}
	if len(told) == 0 {
		return nil
	}
	err := t.exec(`UPDATE runs SET model = ?, temperature = ?, persona = ?, context_limit = ?, no_repo = ?, no_interaction = ?, no_web = ?, no_proposals = ?, no_memory = ? WHERE id = ?`,
		r.Model, r.Temperature, r.Persona, r.ContextLimit, r.NoRepo, r.NoInteraction, r.NoWeb, r.NoProposals, r.NoMemory, r.ID)
	if err != nil {
		return err
	}
	return t.record(event{kind: sdk.KindRunConfigured, project: r.Project, run: r.ID}, told)
}

func (s *Store) checkConfig(c sdk.RunConfig) error {
	switch {
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return sdk.Errorf(sdk.Validation, "the temperature of a run is from 0 to 2, not %v", *c.Temperature)
	case c.ContextLimit < 0:
		return sdk.Errorf(sdk.Validation, "the context limit of a run is a number of tokens, 0 for what its model takes, not %d", c.ContextLimit)
	case len(c.Persona) > sdk.MaxPersona:
		return sdk.Errorf(sdk.Validation, "the persona of a run has at most %d bytes, not %d", sdk.MaxPersona, len(c.Persona))
	case !utf8.ValidString(c.Persona):
		return sdk.Errorf(sdk.Validation, "the persona of a run is not valid UTF-8")
	}
	if s.redactor.Redact(c.Persona) != c.Persona {
		return sdk.Errorf(sdk.Validation, "the persona of a run must not hold a secret")
	}
	return nil
}

// differences are the members of a configuration that became others, as the journal
// tells them: of the persona, which may be long, its hash.
func differences(was, is sdk.RunConfig) map[string]any {
	told := map[string]any{}
	if is.Persona != was.Persona {
		sum := sha256.Sum256([]byte(is.Persona))
		told["persona"] = hex.EncodeToString(sum[:])
	}
	switch {
	case is.Temperature == nil && was.Temperature != nil:
		told["temperature"] = nil
	case is.Temperature != nil && (was.Temperature == nil || *is.Temperature != *was.Temperature):
		told["temperature"] = *is.Temperature
	}
	if is.ContextLimit != was.ContextLimit {
		told["context_limit"] = is.ContextLimit
	}
	for _, flag := range []struct {
		name    string
		was, is bool
	}{
		{"no_repo", was.NoRepo, is.NoRepo}, {"no_interaction", was.NoInteraction, is.NoInteraction},
		{"no_web", was.NoWeb, is.NoWeb}, {"no_proposals", was.NoProposals, is.NoProposals},
		{"no_memory", was.NoMemory, is.NoMemory},
	} {
		if flag.was != flag.is {
			told[flag.name] = flag.is
		}
	}
	return told
}
