package sdk

import "testing"

// TestContextUse: what is not said is as usual, and no share goes beyond the context.
func TestContextUse(t *testing.T) {
	for _, c := range []struct {
		use                  ContextUse
		context, answer      int
		most, prune, warning int // of the last: the first prompt that people are told of
	}{
		{ContextUse{}, 1000, 0, 900, 800, 701},
		{ContextUse{}, 0, 500, 0, 0, 0},
		{ContextUse{}, 1000, 300, 700, 622, 701},
		{ContextUse{}, 1000, 5000, 500, 444, 701},
		{ContextUse{Ceiling: 0.4}, 1000, 5000, 400, 400, 701},
		{ContextUse{Ceiling: 1, PruneAt: 0.5, WarnAt: 0.25}, 1000, 0, 1000, 500, 251},
		{ContextUse{PruneAt: 1}, 1000, 0, 900, 900, 701},
		{ContextUse{WarnAt: 1}, 1000, 0, 900, 800, 0},
	} {
		most := c.use.Most(c.context, c.answer)
		if prune := c.use.Prune(most); most != c.most || prune != c.prune {
			t.Errorf("%+v of %d with %d of answer: %d and %d", c.use, c.context, c.answer, most, prune)
		}
		if c.warning == 0 && c.use.Warns(1<<40, c.context) || c.warning > 0 && (c.use.Warns(c.warning-1, c.context) || !c.use.Warns(c.warning, c.context)) {
			t.Errorf("%+v of %d does not warn from %d on", c.use, c.context, c.warning)
		}
	}
	said := ContextUse{PruneAt: 0.5}.Or(ContextUse{PruneAt: 0.6, KeepTurns: 2}).Or(UsualContextUse)
	if want := (ContextUse{Ceiling: 0.9, PruneAt: 0.5, WarnAt: 0.7, KeepTurns: 2}); said != want {
		t.Errorf("%+v", said)
	}
}
