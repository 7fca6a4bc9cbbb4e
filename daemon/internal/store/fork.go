package store

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// fork copies the parent's views, never a body. What has not ended is the
// parent's own to end.
func (t *tx) fork(parent, child int64) error {
	return t.exec(`INSERT INTO run_views (run, entry, loop, turn, state, outcome, phase, visibility, writer, write_count, updated)
		SELECT ?, entry, loop, turn, state, outcome, phase, visibility, writer, write_count, updated
		FROM run_views WHERE run = ? AND state IN ('resolved', 'failed', 'cancelled') ORDER BY id`, child, parent)
}

// tellPlan gives a fork a copy of each step of the plan that it begins with, and a row that tells it: how far the plan is, people
// see from the rows of the run alone. Of steps that are others since the turn it has the marks of then.
func (t *tx) tellPlan(child int64, p *past) error {
	type step struct {
		inheritance
		entry      int64
		path       string
		attributes json.RawMessage
		hash       []byte
	}
	var steps []step
	err := t.query(`SELECT v.id, v.run, r.project, v.loop, v.turn, v.state, v.outcome, v.phase, v.visibility, v.writer, e.id, e.path, e.attributes, e.hash
		FROM run_views v JOIN runs r ON r.id = v.run JOIN entries e ON e.id = v.entry WHERE v.run = ? AND e.path GLOB ? ORDER BY v.id`,
		[]any{child, planPaths}, func(scan scanner) error {
			var s step
			c := &s.change
			err := scan(&s.view, &s.run, &s.project, &s.loop, &s.turn,
				(*string)(&c.State), (*string)(&c.Outcome), (*string)(&c.Phase), (*string)(&c.Visibility), (*string)(&c.Writer),
				&s.entry, &s.path, (*[]byte)(&s.attributes), &s.hash)
			steps = append(steps, s)
			return err
		})
	for _, s := range steps {
		if err == nil && p != nil && p.steps[s.path] != nil {
			s.attributes, err = p.steps[s.path].of(s.attributes)
		}
		if err == nil {
			err = t.copyFor(s.inheritance, s.entry, s.path, s.attributes, digest(s.hash))
		}
	}
	return err
}

// planPaths are those of the steps of a plan.
const planPaths = sdk.PlanScheme + "://*"

// dropPlan takes the plan from a fork.
func (t *tx) dropPlan(child int64) error {
	return t.exec(`DELETE FROM run_views WHERE run = ? AND entry IN (SELECT id FROM entries WHERE path GLOB ? AND scope GLOB 'run:*')`, child, planPaths)
}

// marks are the attributes of a step as the journal tells them: the long ones by their hash.
type marks struct {
	short members
	long  map[string]string
}

// marksOf begins with those of an entry; nil is one that is no step.
func marksOf(path string) *marks {
	if sdk.SchemeOf(path) != sdk.PlanScheme {
		return nil
	}
	return &marks{members{}, map[string]string{}}
}

// take takes in what a row says.
func (m *marks) take(c sdk.EntryChange) error {
	if m == nil {
		return nil
	}
	wrote, err := parseMembers(c.Attributes)
	for name, value := range wrote {
		delete(m.long, name)
		if delete(m.short, name); string(value) != string(null) {
			m.short[name] = value
		}
	}
	for name, hash := range c.Hashed {
		delete(m.short, name)
		m.long[name] = hash
	}
	return err
}

// of are the attributes, the long ones where the step has them still.
func (m *marks) of(now json.RawMessage) (json.RawMessage, error) {
	has, err := parseMembers(now)
	for name, hash := range m.long {
		if value, ok := has[name]; ok && hexHash(value) == hash {
			m.short[name] = value
		}
	}
	if err != nil {
		return nil, err
	}
	return encodeMembers(m.short)
}
