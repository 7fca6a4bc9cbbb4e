package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// chained is a house's models with a chain: the first model, whose failure is given, and
// those by whose names it is answered for.
type chained struct {
	*fakeModels
	first    sdk.ModelChoice
	others   map[string]sdk.ModelChoice
	fails    map[string]error // by alias
	contexts map[string]int   // by alias: what the prompt was fitted to
	resolved int              // how many of the others were looked for
}

func (m *chained) Resolve(context.Context, string) (sdk.ModelChoice, error) { return m.first, nil }

func (m *chained) ResolveConfigured(_ context.Context, name string) (sdk.ModelChoice, error) {
	if c, ok := m.others[name]; ok {
		m.resolved++
		return c, nil
	}
	return m.first, nil
}

func (m *chained) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	m.contexts[alias] = req.Context
	if err := m.fails[alias]; err != nil {
		var failed *sdk.ProviderError
		var broke *lostPlugin
		if errors.As(err, &failed) && failed.Streamed || errors.As(err, &broke) {
			if err := send(sdk.Delta{Text: "a piece"}); err != nil {
				return err
			}
		}
		if broke != nil {
			return broke.error
		}
		return err
	}
	return m.fakeModels.Complete(ctx, alias, req, send, retry)
}

// lostPlugin is a failure behind a piece of the answer that does not say that one came.
type lostPlugin struct{ error }

func TestFallback(t *testing.T) {
	down := &sdk.ProviderError{Class: sdk.ClassGateway, Message: "refused"}
	tools := &sdk.ProviderError{Class: sdk.ClassNever, NoTools: true, Message: "no tools"}
	long := &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
	cut := &sdk.ProviderError{Class: sdk.ClassGateway, Streamed: true, Message: "reset"}
	replayed := &sdk.ProviderError{Class: sdk.ClassNever, Replay: true, Message: "no match"}
	local := sdk.ModelChoice{Alias: "near", Provider: "near", Name: "near", Local: true}
	far := sdk.ModelChoice{Alias: "far", Provider: "far", Name: "far", Context: 50000}
	unable := sdk.ModelChoice{Alias: "unable", Provider: "far", Name: "unable", Tools: new(false)}
	for name, c := range map[string]struct {
		first  sdk.ModelChoice
		fails  map[string]error
		model  string // that answered; empty: none
		notes  int
		says   string
		others map[string]sdk.ModelChoice
	}{
		"nothing fails":                     {first: with(local, "far"), model: "near"},
		"a server that is down":             {first: with(far, "near"), fails: map[string]error{"far": down}, model: "near", notes: 1, says: "near answers in the place of far"},
		"local and down":                    {first: with(local, "far"), fails: map[string]error{"near": down}, notes: 1, says: "fallback_on"},
		"local and down, with leave":        {first: leave(with(local, "far")), fails: map[string]error{"near": down}, model: "far", notes: 1},
		"no detour out":                     {first: with(local, "other", "far"), fails: map[string]error{"near": down, "other": down}, notes: 2, others: map[string]sdk.ModelChoice{"other": {Alias: "other", Local: true}}},
		"local without tools":               {first: with(local, "far"), fails: map[string]error{"near": tools}, model: "far", notes: 1},
		"local, known to be without tools":  {first: withTools(with(local, "far"), false), model: "far", notes: 1},
		"local and too small":               {first: with(local, "far"), fails: map[string]error{"near": long}, model: "far", notes: 1},
		"never behind a piece":              {first: with(far, "near"), fails: map[string]error{"far": cut}},
		"nor where the plugin was lost":     {first: with(far, "near"), fails: map[string]error{"far": &lostPlugin{sdk.Errorf(sdk.Unavailable, "the plugin cannot be reached")}}},
		"the plugin does not start":         {first: with(far, "near"), fails: map[string]error{"far": sdk.Errorf(sdk.Unavailable, "the plugin cannot be started")}, model: "near", notes: 1},
		"never in the place of a recording": {first: with(far, "near"), fails: map[string]error{"far": replayed}},
		"one that is passed over":           {first: with(far, "unable", "near"), fails: map[string]error{"far": down}, model: "near", notes: 2, says: "unable is passed over"},
		"none left":                         {first: with(far, "near"), fails: map[string]error{"far": down, "near": down}, notes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t)
			all := map[string]sdk.ModelChoice{"near": local, "far": far, "unable": unable}
			for name, choice := range c.others {
				all[name] = choice
			}
			m := &chained{fakeModels: h.models, first: c.first, others: all, fails: c.fails, contexts: map[string]int{}}
			h.config.Models = m
			h.start()
			a := h.submit(Submission{})
			l := h.await(a)
			turns, err := h.store.Turns(t.Context(), a.Run.ID)
			if err != nil || len(turns) != 1 {
				t.Fatal(turns, err)
			}
			if (l.Status == sdk.StatusOK) != (c.model != "") || c.model != "" && turns[0].Model != c.model {
				t.Errorf("ended %d by %s (%q): %s", l.Status, turns[0].Model, l.Stop, l.Reason)
			}
			if len(c.fails) == 0 && c.notes == 0 && m.resolved > 0 { // which may start servers that nobody needs
				t.Errorf("%d of its chain were looked for", m.resolved)
			}
			if c.model == "far" && m.contexts["far"] != 50000 {
				t.Errorf("the prompt was fitted to %d tokens", m.contexts["far"])
			}
			rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID, Kinds: []string{sdk.KindNoteFallback}})
			if err != nil || len(rows) != c.notes {
				t.Fatalf("%d notes, %v", len(rows), err)
			}
			said := ""
			for _, row := range rows {
				var d struct{ From, To, Why, Message string }
				if err := json.Unmarshal(row.Data, &d); err != nil || d.From == "" || d.To == "" || d.Why == "" {
					t.Errorf("%s %v", row.Data, err)
				}
				said += d.Message
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("it says %q", said)
			}
			h.check(a.Run.ID)
		})
	}
}

func with(c sdk.ModelChoice, names ...string) sdk.ModelChoice {
	c.Fallback = names
	return c
}

func withTools(c sdk.ModelChoice, able bool) sdk.ModelChoice {
	c.Tools = &able
	return c
}

func leave(c sdk.ModelChoice) sdk.ModelChoice {
	c.FallbackUnreachable = true
	return c
}
