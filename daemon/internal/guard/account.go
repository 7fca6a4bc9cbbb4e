package guard

import (
	"cmp"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// account is what the work on a prompt comes to, that of the prompts which it delegated included: each adds to its own
// account and to all above.
type account struct {
	above    *account // of the loop that delegated this one; nil is none
	limit    float64  // of what it may cost; 0 is none
	spent    float64
	held     float64 // what requests that are under way may cost
	asking   int     // how many those are
	alone    bool    // nobody knows what the one that is under way may cost
	most     int     // of the delegations; 0 is no limit
	children int     // delegations that were begun
}

// up are the account and those above it.
func (a *account) up(yield func(*account) bool) {
	for ; a != nil; a = a.above {
		if !yield(a) {
			return
		}
	}
}

func (a *account) spend(cost float64) {
	for on := range a.up {
		on.spent += cost
	}
}

func (a *account) beget(n int) {
	for on := range a.up {
		on.children += n
	}
}

// limited reports whether there is a limit to what the work may cost.
func (a *account) limited() bool {
	for on := range a.up {
		if on.limit > 0 {
			return true
		}
	}
	return false
}

// over is the first account whose limit is reached; nil where none is.
func (a *account) over() *account {
	for on := range a.up {
		if on.limit > 0 && on.spent >= on.limit {
			return on
		}
	}
	return nil
}

// full is the limit of delegations that leaves no room for so many more; 0 where there is room.
func (a *account) full(more int) int {
	for on := range a.up {
		if on.most > 0 && on.children+more > on.most {
			return on.most
		}
	}
	return 0
}

// hold keeps back what a request may cost; nil is that nobody knows, and then it is the only one under way. Wait is
// that others must be settled first, and a *Costly that it may never be sent.
func (a *account) hold(most *float64) (wait bool, never *Costly) {
	cost := 0.0
	if most != nil {
		cost = *most
	}
	for on := range a.up {
		switch {
		case on.limit <= 0:
		case on.spent >= on.limit, on.spent+cost > on.limit:
			return false, &Costly{spent: on.spent, held: cost, limit: on.limit}
		case on.alone, most == nil && on.asking > 0, on.spent+on.held+cost > on.limit:
			wait = true
		}
	}
	if wait {
		return true, nil
	}
	for on := range a.up {
		on.held, on.asking, on.alone = on.held+cost, on.asking+1, most == nil
	}
	return false, nil
}

// release gives back what hold kept.
func (a *account) release(most *float64) {
	for on := range a.up {
		if on.asking--; on.asking == 0 {
			on.held = 0 // to the last bit
		} else if most != nil {
			on.held -= *most
		}
		on.alone = on.alone && most != nil
	}
}

// children bounds how many delegations there are below a prompt. A call is counted when it is recorded, so that what works
// side by side does not take the same place twice, and given back with its turn where no child was begun for it.
type children struct {
	account *account
	counted int // calls of the turn that is open
	full    int // the limit that the last turn met; 0 is none
}

func (g *children) screen(c madeCall) screened {
	if c.plugin != sdk.OwnPlugin || c.tool != sdk.ToolDelegate {
		return screened{}
	}
	if full := g.account.full(1); full > 0 {
		return screened{refusal: tooMany(full)}
	}
	g.account.beget(1)
	g.counted++
	return screened{}
}

func (g *children) take(t *judged) {
	begun, refused := 0, false
	for _, a := range t.actions {
		switch {
		case a.Plugin != sdk.OwnPlugin || cmp.Or(a.Declared, a.Tool) != sdk.ToolDelegate:
		case a.Child != nil:
			begun++
		case a.State == sdk.StateCancelled:
			refused = true
		}
	}
	g.account.beget(begun - g.counted)
	if g.counted, g.full = 0, 0; refused {
		g.full = g.account.full(1)
	}
}

func tooMany(most int) string {
	return fmt.Sprintf("%d tasks were delegated for the prompt, all that may be", most)
}

func (g *children) stop() (string, string) {
	if g.full == 0 {
		return "", ""
	}
	return maxChildren, "the model delegated once more than it may for one prompt, so it was stopped (guard max_children): " + tooMany(g.full)
}
