package project

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// member is what one run told of those that hang together by delegation: a run, its children, and theirs.
type member struct {
	told
	run   int64
	alias string
	in    *member   // that delegated the work; nil of the first
	by    sdk.Entry // the call by which it did
	loop  int64     // that the work was
}

// told reads what a run did and its children did for it, among all that was done by those that it hangs together
// with: what one of them took back stands for none. What a fork has from its parent is the parent's.
func (h *History) told(ctx context.Context, run int64) (told, error) {
	top, err := h.top(ctx, run)
	if err != nil {
		return told{}, err
	}
	if top.Private { // each of them works in a folder of its own
		var own told
		_, err := h.own(ctx, run, &own)
		return own, err
	}
	all, err := h.members(ctx, []*member{{run: top.ID, alias: top.Alias}})
	if err != nil {
		return told{}, err
	}
	var out told
	for _, m := range all {
		if m.run == run {
			out = m.told
		}
	}
	for i, m := range all {
		if m.run != run {
			out.join(m, run, i)
		}
	}
	return out, nil
}

// top is the run in which the work began that a run is part of.
func (h *History) top(ctx context.Context, run int64) (sdk.Run, error) {
	row, err := h.Store.Run(ctx, run)
	for err == nil && row.Delegator != 0 {
		row, err = h.Store.Run(ctx, row.Delegator)
	}
	return row, err
}

// members reads what runs told, and their children. Of a child that was deleted nobody knows any more what it changed.
func (h *History) members(ctx context.Context, all []*member) ([]*member, error) {
	for i := 0; i < len(all); i++ {
		m := all[i]
		children, err := h.own(ctx, m.run, &m.told)
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			_, err := h.Store.Run(ctx, c.child.Run)
			if sdk.OutcomeOf(err) == sdk.NotFound {
				m.untold = append(m.untold, c.Entry)
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, &member{run: c.child.Run, alias: c.child.Alias, in: m, by: c.Entry, loop: c.child.Loop})
		}
	}
	return all, nil
}

// delegated is the entry of a call that delegated work, and the child that it began.
type delegated struct {
	sdk.Entry
	child sdk.ActionChild
}

// backsOfARun is more than how often the changes of one run are taken back.
const backsOfARun = 1 << 24

// join adds what another run told, the i-th. What a child did for a delegation is what that call did, at its prompt and
// its turn; what a later prompt to the child changed is the child's own, and stays.
func (t *told) join(m *member, run int64, i int) {
	var steps []Step
	for _, s := range m.steps {
		if s.Unsure { // what it was about to take back: the files say what that came to
			continue
		}
		loop, turn, within := m.place(run, s.Loop, s.Turn)
		s.Loop, s.Turn, s.Action, s.other = loop, turn, m.named(s.Action), !within
		if s.Back != 0 {
			s.Back += i * backsOfARun
		}
		steps = append(steps, s)
	}
	t.steps = merged(t.steps, steps)
	for _, e := range m.untold {
		if loop, turn, within := m.place(run, e.Loop, e.Turn); within {
			e.Loop, e.Turn, e.Path = loop, turn, m.named(actionAt(e.Path))
			t.untold = append(t.untold, e)
		}
	}
	if _, _, within := m.place(run, m.loop, 0); !within {
		return
	}
	for path, parent := range m.parents {
		if parent != "" {
			parent = m.named(parent)
		} else if parent = m.by.Path; m.in.run != run {
			parent = m.in.named(parent)
		}
		t.parents[m.named(path)] = parent
	}
}

// place is where in a run stands what was done in a prompt of this one; false where it is no part of that run's work.
func (m *member) place(run, loop int64, turn int) (atLoop int64, atTurn int, within bool) {
	for m.run != run {
		if m.in == nil || loop != m.loop {
			return loop, turn, false
		}
		loop, turn, m = m.by.Loop, m.by.Turn, m.in
	}
	return loop, turn, true
}

// named is the path of an action as it is told of another run.
func (m *member) named(path string) string { return m.alias + " " + path }

// merged are two lists of steps in the order in which they were told, each in its own.
func merged(a, b []Step) []Step {
	all := make([]Step, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].told.Before(a[0].told) {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}
