package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// costing makes a call and reports what that cost; 0 is nothing reported.
func costing(cost float64, c call) step {
	u := sdk.Usage{Prompt: 10, Completion: 1, Total: 11}
	if cost != 0 {
		u.Cost = &cost
	}
	return reporting(&u, c)
}

// reporting makes a call and reports a usage; nil is none.
func reporting(u *sdk.Usage, c call) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Call: &sdk.CallDelta{ID: "x", Tool: c.tool, Arguments: c.arguments}}); err != nil {
			return err
		}
		if u != nil {
			if err := send(sdk.Delta{Usage: u}); err != nil {
				return err
			}
		}
		return send(sdk.Delta{Finish: &sdk.Finish{Reason: "calls"}})
	}
}

func TestMaxCost(t *testing.T) {
	told, untold := &sdk.Usage{Prompt: 10, Completion: 1, Total: 11}, (*sdk.Usage)(nil)
	untrue := &sdk.Usage{Prompt: 10, Total: 10}                                             // though a call was written
	of := func(completion float64) *sdk.Price { return &sdk.Price{Completion: completion} } // 4,096 tokens are reserved
	costs := func(c float64) *sdk.Usage { return &sdk.Usage{Prompt: 10, Total: 10, Cost: &c} }
	for name, c := range map[string]struct {
		price, listed *sdk.Price
		maxTokens     int
		tells         []*sdk.Usage
		stop          string
		requests      int
		says          string
		remarks       int
	}{
		"reported":                 {tells: []*sdk.Usage{costs(0.3), costs(0.3), costs(0.5), costs(0.1)}, stop: "max_cost", requests: 3, says: "has cost 1.1 and may cost 1,"},
		"not reported":             {tells: []*sdk.Usage{told, told, untold}, stop: "terminal", requests: 4, remarks: 1},
		"some of it":               {tells: []*sdk.Usage{costs(0.9), told, costs(0.2), told}, stop: "max_cost", requests: 3, remarks: 1},
		"reported goes first":      {price: of(100), tells: []*sdk.Usage{costs(0.3), costs(0.3), told}, stop: "max_cost", requests: 2, says: "up to 0.4096"},
		"priced":                   {price: of(200), tells: []*sdk.Usage{told, told, told}, stop: "terminal", requests: 4},
		"priced, nothing told":     {price: of(200), tells: []*sdk.Usage{untold, untold}, stop: "max_cost", requests: 1, says: "has cost 0.8192 and may cost 1, and the next request may cost up to 0.8192"},
		"priced, untrue":           {price: of(200), tells: []*sdk.Usage{untrue, untrue}, stop: "max_cost", requests: 1},
		"too dear for one request": {price: of(300), tells: []*sdk.Usage{told}, stop: "max_cost", requests: 0, says: "max_tokens"},
		"dearer from a cache":      {price: &sdk.Price{Cached: new(1e6)}, tells: []*sdk.Usage{told}, stop: "max_cost", requests: 0},
		"shorter answers":          {price: of(300), maxTokens: 100, tells: []*sdk.Usage{told, untold}, stop: "terminal", requests: 3},
		"the provider lists it":    {listed: of(200), tells: []*sdk.Usage{untold, untold}, stop: "max_cost", requests: 1},
		"free":                     {price: of(0), tells: []*sdk.Usage{untold, told}, stop: "terminal", requests: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []step
			for i, u := range c.tells {
				steps = append(steps, reporting(u, numbered("read", i)))
			}
			h := prepareHouse(t, append(steps, costing(0.01, call{"finish", "{}"}))...)
			h.agents["it"] = sdk.Agent{MaxTokens: c.maxTokens, Guards: sdk.Guards{MaxCost: 1}}
			h.models.price, h.models.listed = c.price, c.listed
			h.start()
			a := h.submit(Submission{Agent: "it"})
			l := h.await(a)
			if l.Stop != c.stop || len(h.models.requests) != c.requests || !strings.Contains(l.Reason, c.says) {
				t.Errorf("ended %q after %d requests: %s", l.Stop, len(h.models.requests), l.Reason)
			}
			rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
			if err != nil {
				t.Fatal(err)
			}
			remarks := 0
			for _, row := range rows {
				if row.Kind == "note.warning" && strings.Contains(string(row.Data), "max_cost cannot be held") {
					remarks++
				}
			}
			if remarks != c.remarks {
				t.Errorf("%d remarks, want %d", remarks, c.remarks)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestWhatATurnCost: the usage of a turn says what it cost, as far as anybody knows.
func TestWhatATurnCost(t *testing.T) {
	told := sdk.Usage{Prompt: 1000, Cached: 400, Completion: 100, Total: 1100}
	dear := &sdk.Price{Prompt: 10, Cached: new(1.0), Completion: 50}
	for name, c := range map[string]struct {
		price     *sdk.Price
		told      *sdk.Usage
		cost      *float64
		estimated bool
	}{
		"unknown":          {told: &told},
		"priced":           {price: dear, told: &told, cost: new(600*10e-6 + 400*1e-6 + 100*50e-6)},
		"no cache price":   {price: &sdk.Price{Prompt: 10, Completion: 50}, told: &told, cost: new(1000*10e-6 + 100*50e-6)},
		"free":             {price: &sdk.Price{}, told: &told, cost: new(0.0)},
		"free and untold":  {price: &sdk.Price{}, cost: new(0.0), estimated: true},
		"free and untrue":  {price: &sdk.Price{}, told: &sdk.Usage{Completion: 1, Total: 1}, cost: new(0.0)},
		"untold":           {price: &sdk.Price{Completion: 1000}, cost: new(4.096), estimated: true},
		"more than cached": {price: &sdk.Price{Completion: 1000}, told: &sdk.Usage{Prompt: 1, Cached: 2, Completion: 1}, cost: new(4.096), estimated: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, reporting(c.told, call{"finish", "{}"}))
			h.models.price = c.price
			h.start()
			a := h.submit(Submission{})
			h.await(a)
			turns, err := h.store.Turns(t.Context(), a.Run.ID)
			if err != nil || len(turns) != 1 {
				t.Fatal(turns, err)
			}
			u := turns[0].Usage
			if u == nil {
				u = &sdk.Usage{}
			}
			if (u.Cost == nil) != (c.cost == nil) || u.Cost != nil && !near(*u.Cost, *c.cost) || u.Estimated != c.estimated {
				t.Errorf("the turn used %+v, want cost %v", u, c.cost)
			}
		})
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestADeniedAnswerCosts: one that a hook denies was paid for.
func TestADeniedAnswerCosts(t *testing.T) {
	h := prepareHouse(t, say("secret plans"))
	h.models.price = &sdk.Price{Completion: 1e6}
	h.hooks.LLMResponse.On(10, "t", true, func(_ context.Context, c sdk.Completion) (sdk.Completion, error) {
		return c, errors.New("not this one")
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusFailed {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	turns, err := h.store.Turns(t.Context(), a.Run.ID)
	if err != nil || len(turns) != 1 || turns[0].Usage == nil || turns[0].Usage.Cost == nil || *turns[0].Usage.Cost != 5 {
		t.Errorf("%+v %v", turns, err)
	}
}

// TestACutAnswerCosts: what came before the end of an answer that was cut off is paid for.
func TestACutAnswerCosts(t *testing.T) {
	h := prepareHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Text: "half of an answer"}); err != nil {
			return err
		}
		return &sdk.ProviderError{Class: sdk.ClassGateway, Message: "reset", Streamed: true}
	})
	h.models.price = &sdk.Price{Completion: 1000}
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	turns, err := h.store.Turns(t.Context(), a.Run.ID)
	if err != nil || len(turns) != 1 || turns[0].Usage == nil || turns[0].Usage.Cost == nil || *turns[0].Usage.Cost != 4.096 || !turns[0].Usage.Estimated {
		t.Errorf("%+v %v", turns, err)
	}
}
