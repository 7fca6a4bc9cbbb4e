package guard

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// cost bounds what a loop may cost. What a completion cost stands in its usage (ADR 0066). One
// of which nobody knows that counts as nothing and stops nothing, but a person is told once that
// it is so.
type cost struct {
	limit   float64
	spent   float64
	priced  bool // what the last request may cost is known
	unknown bool
	told    bool
	asking  chan struct{} // holds one: what is asked of a model now
}

// Costly is why a model was not asked: the work on a prompt has cost what it may, or
// the request may cost more than is left.
type Costly struct{ spent, held, limit float64 }

func (e *Costly) Error() string {
	if e.spent >= e.limit {
		return fmt.Sprintf("the work on this prompt has cost %.4g and may cost %.4g, so it was stopped (guard max_cost)", e.spent, e.limit)
	}
	return fmt.Sprintf("the work on this prompt has cost %.4g and may cost %.4g, and the next request may cost up to %.4g, so it was stopped (guard max_cost); "+
		"a smaller max_tokens of the agent or the model makes that less", e.spent, e.limit, e.held)
}

func (g *cost) take(t *judged) { g.add(t.answer().Usage) }

func (g *cost) add(usage *sdk.Usage) {
	if c, known := costOf(usage); known {
		g.spent += c
	} else if !g.priced {
		g.unknown = true
	}
}

func costOf(usage *sdk.Usage) (float64, bool) {
	if usage == nil || usage.Cost == nil || !(*usage.Cost >= 0) {
		return 0, false
	}
	return *usage.Cost, true
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
		c.add(asked.Usage)
	}
}

func (g *cost) stop() (string, string) {
	if g.spent < g.limit {
		return "", ""
	}
	return maxCost, (&Costly{spent: g.spent, limit: g.limit}).Error()
}

// Reserve is asked before each request to a model, and holds back what it may cost at most; nil
// is that nobody knows. A request that may make a loop cost more than max_cost is a *Costly,
// and must not be sent. Answer is what the loop's last answer used whose turn is not judged yet.
// Where a limit is set, requests are sent one after the other: settled has to be called when what
// one cost was counted.
func (g *Set) Reserve(ctx context.Context, loop int64, most *float64, answer *sdk.Usage) (settled func(), err error) {
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
	now, _ := costOf(answer)
	now += c.spent
	c.priced = most != nil
	held := 0.0
	if most != nil {
		held = *most
	}
	if now < c.limit && now+held <= c.limit {
		return func() { <-c.asking }, nil
	}
	<-c.asking
	return nil, &Costly{spent: now, held: held, limit: c.limit}
}

// Limited reports whether a loop has a limit on what it costs, so that prices are worth
// looking for.
func (g *Set) Limited(loop int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return ruleOf[*cost](g, loop, maxCost) != nil
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
	return "max_cost cannot be held: what some turns of this prompt cost is not known, and they count as nothing; a price block of the model or its provider tells"
}
