package guard

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Prices says what a completion cost. It is asked about those whose provider
// reported no cost. False is that nobody knows.
type Prices interface {
	Cost(model string, usage *sdk.Usage) (cost float64, known bool)
}

// cost bounds what a loop may cost. A turn whose cost nobody knows counts as
// nothing and stops nothing, but a person is told once that it is so.
type cost struct {
	limit   float64
	prices  Prices // nil: only what providers report is known
	spent   float64
	unknown bool
	told    bool
	asking  chan struct{} // holds one: what a plugin asks of a model now
}

func (g *cost) take(t *judged) { g.add(t.Loop.Model, t.answer().Usage) }

func (g *cost) add(model string, usage *sdk.Usage) {
	if c, known := g.of(model, usage); known {
		g.spent += c
	} else {
		g.unknown = true
	}
}

func (g *cost) of(model string, usage *sdk.Usage) (float64, bool) {
	if usage != nil && usage.Cost > 0 {
		return usage.Cost, true
	}
	if g.prices == nil {
		return 0, false
	}
	c, known := g.prices.Cost(model, usage)
	return c, known && c >= 0
}

// Spend counts what a plugin asked of a model in a loop, as one that the loop's
// guards watch.
func (g *Set) Spend(loop int64, asked sdk.PluginCompletion) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w, ok := g.loops[loop]; ok {
		w.spend(asked)
	}
}

// spend leaves out what was asked in vain: a server that answers nothing is paid
// nothing.
func (w *watched) spend(asked sdk.PluginCompletion) {
	if c, ok := w.rules[maxCost].(*cost); ok && (asked.Usage != nil || asked.Error == "" || asked.Answered) {
		c.add(asked.Model, asked.Usage)
	}
}

func (g *cost) stop() (string, string) {
	if g.spent < g.limit {
		return "", ""
	}
	return maxCost, fmt.Sprintf("the work on this prompt has cost %.4g and may cost %.4g, so it was stopped (guard max_cost)", g.spent, g.limit)
}

// Afford refuses what a plugin wants to ask of a model in a loop that has cost
// what it may. Answer is what the model's answer used whose turn is not judged
// yet: a verdict comes only after a turn, and one call can ask for much. Where a
// limit is set, plugins ask one after the other, for what an answer costs is known
// only at its end: the caller calls spent behind Spend.
func (g *Set) Afford(ctx context.Context, loop int64, model string, answer *sdk.Usage) (spent func(), err error) {
	g.mu.Lock()
	c := ruleOf[*cost](g, loop, maxCost)
	g.mu.Unlock()
	if c == nil {
		return func() {}, nil
	}
	select {
	case c.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now, known := c.of(model, answer)
	if !known {
		now = 0
	}
	if now += c.spent; now < c.limit {
		return func() { <-c.asking }, nil
	}
	<-c.asking
	return nil, sdk.Errorf(sdk.Permission, "no model was asked: the work on this prompt has cost %.4g and may cost %.4g (guard max_cost)", now, c.limit)
}

// Remark is what a person should know of a loop's guards and was not told yet;
// mostly nothing.
func (g *Set) Remark(loop int64) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := ruleOf[*cost](g, loop, maxCost)
	if c == nil || !c.unknown || c.told {
		return ""
	}
	c.told = true
	return "max_cost cannot be held: what some turns of this prompt cost is not known, and they count as nothing"
}
