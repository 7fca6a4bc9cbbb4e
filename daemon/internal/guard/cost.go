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
	account *account
	priced  bool    // what the last request may cost is known
	unknown bool    // what some of it cost is not
	told    bool    // a person knows that
	turn    int     // whose answer was counted when it had come
	counted float64 // what that cost
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

// take counts what the answer of a turn cost, unless that was counted when it had come.
func (g *cost) take(t *judged) { g.answered(t.Turn, t.answer().Usage) }

func (g *cost) answered(turn int, usage *sdk.Usage) {
	c, known := costOf(usage)
	if turn == g.turn {
		g.account.spend(-g.counted)
	} else if !known && !g.priced {
		g.unknown = true
	}
	g.account.spend(c)
	g.turn, g.counted = turn, c
}

func (g *cost) add(usage *sdk.Usage) {
	c, known := costOf(usage)
	g.account.spend(c)
	if !known && !g.priced {
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
	if asked.Usage != nil || asked.Error == "" || asked.Answered {
		w.used(asked.Usage)
	}
}

func (w *watched) used(usage *sdk.Usage) {
	if c, ok := w.rules[maxCost].(*cost); ok {
		c.add(usage)
	}
}

// Answered counts what the answer of a turn cost as soon as it has come, so that what works beside the loop knows of
// it before the turn is judged.
func (g *Set) Answered(loop int64, turn int, usage *sdk.Usage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := ruleOf[*cost](g, loop, maxCost); c != nil && usage != nil {
		c.answered(turn, usage)
	}
}

func (g *cost) stop() (string, string) {
	over := g.account.over()
	if over == nil {
		return "", ""
	}
	return maxCost, (&Costly{spent: over.spent, limit: over.limit}).Error()
}

// Reserve is asked before each request to a model, and holds back what it may cost at most; nil
// is that nobody knows. A request that may make a loop cost more than max_cost, or one that it works for, is a *Costly,
// and must not be sent. Requests of what works side by side are sent together as far as all of them may be paid, and else one
// after the other: settled has to be called when what one cost was counted.
func (g *Set) Reserve(ctx context.Context, loop int64, most *float64) (settled func(), err error) {
	for {
		g.mu.Lock()
		c := ruleOf[*cost](g, loop, maxCost)
		if c == nil {
			g.mu.Unlock()
			return func() {}, nil
		}
		c.priced = most != nil
		wait, never := c.account.hold(most)
		changed := g.settled
		g.mu.Unlock()
		switch {
		case never != nil:
			return nil, never
		case !wait:
			return func() { g.settle(c.account, most) }, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// settle gives back what a request held, and has those look again that wait.
func (g *Set) settle(on *account, most *float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	on.release(most)
	close(g.settled)
	g.settled = make(chan struct{})
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
