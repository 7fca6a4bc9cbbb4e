package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// costing makes a call and reports what that cost; 0 is nothing reported.
func costing(cost float64, c call) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Call: &sdk.CallDelta{ID: "x", Tool: c.tool, Arguments: c.arguments}}); err != nil {
			return err
		}
		if err := send(sdk.Delta{Usage: &sdk.Usage{Prompt: 10, Total: 10, Cost: cost}}); err != nil {
			return err
		}
		return send(sdk.Delta{Finish: &sdk.Finish{Reason: "calls"}})
	}
}

// listed is a price list for tests.
type listed map[string]float64

func (l listed) Cost(model string, usage *sdk.Usage) (float64, bool) {
	price, ok := l[model]
	if usage == nil || !ok {
		return 0, false
	}
	return price * float64(usage.Total), true
}

func TestMaxCost(t *testing.T) {
	for name, c := range map[string]struct {
		prices  guard.Prices
		reports []float64
		stop    string
		remarks int
	}{
		"reported":              {nil, []float64{0.3, 0.3, 0.5, 0.1}, "max_cost", 0},
		"not reported":          {nil, []float64{0, 0, 0, 0}, "answer", 1},
		"some of it":            {nil, []float64{0.9, 0, 0.2, 0}, "max_cost", 1},
		"listed":                {listed{"fake/m": 0.05}, []float64{0, 0, 0, 0}, "max_cost", 0},
		"reported goes first":   {listed{"fake/m": 0.05}, []float64{0.1, 0.1, 0.1, 0.1}, "answer", 0},
		"a model without price": {listed{"other/m": 9}, []float64{0, 0}, "answer", 1},
		"a price below zero":    {listed{"fake/m": -9}, []float64{0, 2}, "max_cost", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []step
			for i, cost := range c.reports {
				steps = append(steps, costing(cost, numbered("read", i)))
			}
			h := prepareHouse(t, append(steps, costing(0.01, call{"finish", "{}"}))...)
			h.config.Agents["it"] = sdk.Agent{Guards: sdk.Guards{MaxCost: 1}}
			h.config.Prices = c.prices
			h.start()
			a := h.submit(Submission{Agent: "it"})
			l := h.await(a)
			if want := strings.Replace(c.stop, "answer", "terminal", 1); l.Stop != want {
				t.Errorf("ended %q: %s", l.Stop, l.Reason)
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
		})
	}
}

// TestFailingBuiltInGuard: a guard of our own that breaks is a deny as well.
func TestFailingBuiltInGuard(t *testing.T) {
	h := prepareHouse(t, many("read", 3)...)
	h.config.Prices = panicPrices{}
	h.config.Agents["it"] = sdk.Agent{Guards: sdk.Guards{MaxCost: 1}}
	h.start()
	a := h.submit(Submission{Agent: "it"})
	if l := h.await(a); l.Status != 500 || !strings.Contains(l.Reason, "guard") {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	h.check(a.Run.ID)
}

type panicPrices struct{}

func (panicPrices) Cost(string, *sdk.Usage) (float64, bool) { panic("broken prices") }
