package store

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// past is a run as it was after one of its turns.
type past struct {
	run   *sdk.Run
	turn  int
	seq   int64 // the journal's position at the end of that turn
	first int   // the run's first turn of its own; those before it are its parent's
	loops int   // how many loops had begun

	steps map[string]*marks // of its plan, those that are others since
}

// past finds the end of a turn. NotFound when the run has no such turn of its
// own, Conflict when it has not ended.
func (t *tx) past(run *sdk.Run, turn int) (*past, error) {
	p := &past{run: run, turn: turn}
	if _, err := t.one(`SELECT (SELECT seq FROM journal WHERE run = ?1 ORDER BY seq LIMIT 1), coalesce((SELECT min(sequence) FROM turns WHERE run = ?1), ?2)`,
		[]any{run.ID, run.Turns + 1}, &p.seq, &p.first); err != nil {
		return nil, err
	}
	switch {
	case turn < 1 || turn > run.Turns:
		return nil, sdk.Errorf(sdk.NotFound, "the run %s has no turn %d; it has %d", run.Alias, turn, run.Turns)
	case turn < p.first-1:
		return nil, sdk.Errorf(sdk.NotFound, "the run %s was itself forked, after turn %d; to begin earlier, fork the run that it comes from", run.Alias, p.first-1)
	}
	var open int
	if _, err := t.one(`SELECT coalesce(min(sequence), 0) FROM turns WHERE run = ? AND sequence <= ? AND closed = 0`, []any{run.ID, turn}, &open); err != nil {
		return nil, err
	}
	if open != 0 {
		return nil, sdk.Errorf(sdk.Conflict, "the run %s is still at turn %d; wait for its end, abort it, or fork after an earlier turn", run.Alias, open)
	}
	if _, err := t.one(`SELECT coalesce(max(seq), ?) FROM journal WHERE run = ? AND kind = ? AND turn <= ?`,
		[]any{p.seq, run.ID, sdk.KindTurnClosed, turn}, &p.seq); err != nil {
		return nil, err
	}
	_, err := t.one(`SELECT coalesce(
		  (SELECT max(l.sequence) FROM loops l JOIN turns u ON u.loop = l.id WHERE u.run = ?1 AND u.sequence <= ?2),
		  (SELECT min(sequence) - 1 FROM loops WHERE run = ?1),
		  (SELECT loops FROM runs WHERE id = ?1))`, []any{run.ID, turn}, &p.loops)
	return p, err
}

// trace is what the journal tells of one path before and after a turn's end.
type trace struct {
	known bool // a row before tells of it
	there bool // and the last such row is no removal
	loop  int64
	turn  int
	view  sdk.EntryChange
	body  []byte // hash of the body at that time; nil is not known
	step  *marks // of a step of the plan; nil is none

	touched bool // a row after tells of it
	made    bool // the first of those made the entry
	changed bool // what it says changed: that of the turn's end is not kept
	other   bool // and more of that than attributes
}

// rewind makes a fresh fork's views those that its parent had after the turn, from
// the journal. A body that changed since is gone, so a fork that would need it is a
// Conflict which names the entry; but for a step of the plan, without which the fork
// has no plan. Entries of the project and of everybody are shared, and are as they
// are now.
func (t *tx) rewind(child int64, p *past) error {
	traces, err := t.traces(p)
	if err != nil {
		return err
	}
	var lost []string
	planned := true
	p.steps = map[string]*marks{}
	for path, x := range traces {
		switch {
		case !x.touched, !t.ownedByRuns(path):
		case !x.known && x.made, x.known && !x.there:
			err = t.dropView(child, path)
		case slices.Contains([]string{"instructions", "system"}, sdk.SchemeOf(path)):
			err = t.dropView(child, path) // rewritten at the next turn
		case x.step != nil && (x.other || !x.known):
			planned = false
		case x.step != nil:
			p.steps[path] = x.step
			err = t.restoreView(child, path, x)
		case x.changed || !x.known:
			lost = append(lost, path)
		default:
			err = t.restoreView(child, path, x)
		}
		if err != nil {
			return err
		}
	}
	if !planned {
		if err := t.dropPlan(child); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		if len(lost) > 3 {
			lost = append(lost[:2], lost[2]+" and more")
		}
		return sdk.Errorf(sdk.Conflict, "the run %s cannot be forked after turn %d: %s changed since, and what stood there then is not kept; fork after a later turn, or without one when the run rests",
			p.run.Alias, p.turn, strings.Join(lost, ", "))
	}
	if err := t.exec(`DELETE FROM run_views WHERE run = ?1 AND turn > ?2 AND entry IN (SELECT id FROM entries WHERE scope GLOB 'run:*')`, child, p.turn); err != nil {
		return err
	}
	// A prompt that had not begun is the parent's own to answer.
	return t.exec(`DELETE FROM run_views WHERE run = ?1 AND entry IN (
		SELECT prompt FROM loops WHERE run = ?2 AND (sequence > ?3 OR status = 100))`, child, p.run.ID, p.loops)
}

// ownedByRuns reports whether entries of the path belong to one run.
func (t *tx) ownedByRuns(path string) bool {
	scheme, ok := t.s.Scheme(sdk.SchemeOf(path))
	return !ok || scheme.Scope == "run"
}

// traces reads every row of the run that speaks of an entry, once.
func (t *tx) traces(p *past) (map[string]*trace, error) {
	traces := map[string]*trace{}
	err := t.query(`SELECT seq, kind, loop, turn, path, data, body_hash FROM journal WHERE run = ? AND path <> '' AND kind GLOB 'entry.*' ORDER BY seq`,
		[]any{p.run.ID}, func(scan scanner) error {
			var seq, loop int64
			var turn int
			var kind, path string
			var data, body []byte
			if err := scan(&seq, &kind, &loop, &turn, &path, &data, &body); err != nil {
				return err
			}
			x := traces[path]
			if x == nil {
				x = &trace{step: marksOf(path)}
				traces[path] = x
			}
			if seq <= p.seq {
				return x.before(kind, loop, turn, data, body)
			}
			return x.after(p, kind, loop, turn, data, body)
		})
	return traces, err
}

func (x *trace) before(kind string, loop int64, turn int, data, body []byte) error {
	x.known = true
	switch kind {
	case sdk.KindEntryRemoved:
		x.there, x.body = false, nil
	case sdk.KindEntrySet:
		x.there, x.loop, x.turn, x.view = true, loop, turn, sdk.EntryChange{}
		if body != nil {
			x.body = slices.Clone(body)
		}
		if err := json.Unmarshal(data, &x.view); err != nil {
			return err
		}
		return x.step.take(x.view)
	}
	return nil
}

func (x *trace) after(p *past, kind string, loop int64, turn int, data, body []byte) error {
	first := !x.touched
	x.touched = true
	if kind != sdk.KindEntrySet {
		x.changed, x.other = true, true
		return nil
	}
	var c sdk.EntryChange
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	switch {
	case c.Look && body != nil && first: // what the run keeps is what it had at the end of the turn
		x.touched = false
		return x.before(kind, loop, turn, data, body)
	case c.Look:
		return nil
	}
	// What a run has from its parent has no row before its first change.
	x.made = x.made || first && !x.known && (p.first == 1 || turn >= p.first)
	differs := body != nil && hex.EncodeToString(body) != hex.EncodeToString(x.body)
	x.other = x.other || differs
	x.changed = x.changed || differs || len(c.Hashed) > 0 || len(c.Attributes) > 0 && string(c.Attributes) != "{}"
	return nil
}

const viewOf = `run = ?1 AND entry IN (SELECT e.id FROM entries e WHERE e.path = ?2 AND e.scope GLOB 'run:*')`

func (t *tx) dropView(run int64, path string) error {
	return t.exec(`DELETE FROM run_views WHERE `+viewOf, run, path)
}

func (t *tx) restoreView(run int64, path string, x *trace) error {
	v := x.view
	if !v.State.Ended() {
		return t.dropView(run, path) // what had not ended is not the fork's
	}
	return t.exec(`UPDATE run_views SET loop = ?3, turn = ?4, state = ?5, outcome = ?6, phase = ?7, visibility = ?8, writer = ?9 WHERE `+viewOf,
		run, path, x.loop, x.turn, string(v.State), string(v.Outcome), string(v.Phase), string(v.Visibility), string(v.Writer))
}
