package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"github.com/bothyd/bothy/sdk"
)

const loopQuery = `SELECT l.id, l.run, l.sequence, l.read_only, l.model, l.agent, coalesce(` + bodyOf + `, ''), l.status, l.reason, l.stop, l.options, l.created, l.ended
	FROM loops l LEFT JOIN entries e ON e.id = l.prompt `

func scanLoop(scan scanner) (sdk.Loop, error) {
	var l sdk.Loop
	var created int64
	var ended sql.NullInt64
	var options []byte
	err := scan(&l.ID, &l.Run, &l.Sequence, &l.ReadOnly, &l.Model, &l.Agent, &l.Prompt, &l.Status, &l.Reason, &l.Stop, &options, &created, &ended)
	l.Options, _ = sdk.FromOldForm(options)
	l.Created = unix(created)
	if ended.Valid {
		l.Ended = unix(ended.Int64)
	}
	return l, err
}

// promptPath is the path of the prompt entry of a run's loop.
func promptPath(sequence int) string { return "prompt://" + strconv.Itoa(sequence) }

// Enqueue puts a prompt at the end of its run's queue: the loop at 100 and the
// entry that holds the prompt, in one commit with what the prompt changes in the run. Model and Agent
// default to the run's. The run's status stays as it is until the loop is claimed. The receipt has
// the prompt's entry first.
func (s *Store) Enqueue(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	return s.enqueue(ctx, l, false)
}

// Begin is Enqueue and ClaimLoop in one commit, for a run in which nothing is running
// or queued; in any other the loop is queued alone, as its status says. What the claim
// wrote is behind the receipt's position.
func (s *Store) Begin(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	return s.enqueue(ctx, l, true)
}

func (s *Store) enqueue(ctx context.Context, l sdk.Loop, claim bool) (sdk.Loop, sdk.Receipt, error) {
	if l.Options != nil && !json.Valid(l.Options) {
		return sdk.Loop{}, sdk.Receipt{}, sdk.Errorf(sdk.Validation, "the options of a loop must be JSON, not %.40q", l.Options)
	}
	s.cleanLoop(&l)
	change, err := s.cleanRunChange(l.Change)
	if err != nil {
		return sdk.Loop{}, sdk.Receipt{}, err
	}
	l.Change = nil
	var receipt sdk.Receipt
	err = s.update(ctx, "queueing a prompt", func(t *tx) error {
		changed, err := t.changeRun(l.Run, change)
		if err != nil {
			return err
		}
		entry, err := t.enqueue(&l)
		receipt = sdk.Receipt{Seq: t.head.seq, Entries: append([]sdk.Entry{entry}, changed...)}
		if err != nil || !claim {
			return err
		}
		next, err := t.next(l.Run)
		if err != nil || next.ID != l.ID {
			return err
		}
		l.Status = sdk.StatusRunning
		return t.begin(next)
	})
	if err != nil {
		return sdk.Loop{}, sdk.Receipt{}, err
	}
	return l, receipt, nil
}

// changeRun does what a prompt changes in its run; nil is nothing.
func (t *tx) changeRun(id int64, change *sdk.RunChange) ([]sdk.Entry, error) {
	if change == nil {
		return nil, nil
	}
	run, err := t.run(id)
	if err != nil {
		return nil, err
	}
	if change.Configure != nil {
		if err := t.configure(&run, change.Configure); err != nil {
			return nil, err
		}
	}
	var changed []sdk.Entry
	for i := range change.Writes {
		attributes, err := readPatch(change.Writes[i].Attributes)
		if err != nil {
			return nil, err
		}
		entry, err := t.write(&run, &change.Writes[i], attributes)
		if err != nil {
			return nil, err
		}
		changed = append(changed, entry)
	}
	return changed, nil
}

func (t *tx) enqueue(l *sdk.Loop) (sdk.Entry, error) {
	run, err := t.run(l.Run)
	if err != nil {
		return sdk.Entry{}, err
	}
	l.Model, l.Agent = cmp.Or(l.Model, run.Model), cmp.Or(l.Agent, run.Agent)
	if _, err := t.one(`UPDATE runs SET loops = loops + 1, leaving = 0, updated = ? WHERE id = ? RETURNING loops`, []any{t.now.UnixNano(), run.ID}, &l.Sequence); err != nil {
		return sdk.Entry{}, err
	}
	l.Status, l.Created = sdk.StatusQueued, t.now
	l.ID = t.nextID()
	err = t.exec(`INSERT INTO loops (id, run, sequence, read_only, model, agent, options, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		l.ID, run.ID, l.Sequence, l.ReadOnly, l.Model, l.Agent, text(l.Options), t.now.UnixNano())
	if err != nil {
		return sdk.Entry{}, err
	}
	path := promptPath(l.Sequence)
	err = t.record(event{kind: sdk.KindLoopQueued, project: run.Project, run: run.ID, loop: l.ID, path: path}, map[string]any{"sequence": l.Sequence, "read_only": l.ReadOnly, "model": l.Model, "agent": l.Agent})
	if err != nil {
		return sdk.Entry{}, err
	}
	attributes := struct {
		Mode    sdk.AskOrAct `json:"mode"`
		Meaning *sdk.Meaning `json:"meaning,omitempty"`
	}{sdk.AskOrAct(l.ReadOnly), l.Meaning.Brief()}
	if err := t.keepMedia(&run, l); err != nil {
		return sdk.Entry{}, err
	}
	id := t.nextID()
	entry, err := t.make(&run, attributes, &sdk.Write{Path: path, Body: &l.Prompt, Writer: sdk.WriterPlugin, Loop: l.ID, Turn: run.Turns + 1})
	if err != nil {
		return sdk.Entry{}, err
	}
	return entry, t.exec(`UPDATE loops SET prompt = ? WHERE id = ?`, id, l.ID)
}

// keepMedia writes an entry for each image of a prompt, unless the run has it from an earlier one.
// It is of no loop: a row of a loop is taken for work on it.
func (t *tx) keepMedia(run *sdk.Run, l *sdk.Loop) error {
	if l.Meaning == nil {
		return nil
	}
	for _, m := range l.Meaning.Media {
		path, _, err := parsePath(m.URI)
		if err != nil {
			return err
		}
		x, err := t.look(run, runScope(run.ID), path)
		if err != nil {
			return err
		}
		if x.view != 0 {
			continue
		}
		_, err = t.make(run, m.Brief(), &sdk.Write{Path: path, Body: &m.Data, Writer: sdk.WriterSystem, Turn: run.Turns + 1})
		if err != nil {
			return err
		}
	}
	return nil
}

// ClaimLoop takes the oldest queued loop of the run and makes it the running
// one. It answers false when one is running already or none is queued. The
// prompt's entry moves behind everything that earlier loops wrote.
func (s *Store) ClaimLoop(ctx context.Context, run int64) (sdk.Loop, bool, error) {
	var l sdk.Loop
	err := s.update(ctx, "claiming a loop", func(t *tx) (err error) {
		if l, err = t.next(run); err == nil && l.Status == sdk.StatusQueued {
			err = t.begin(l)
		}
		return err
	})
	if err != nil || l.Status != sdk.StatusQueued {
		return sdk.Loop{}, false, err
	}
	l.Status = sdk.StatusRunning
	return l, true, nil
}

// next is the run's running loop, else the oldest that is queued; of no id when there
// is neither.
func (t *tx) next(run int64) (sdk.Loop, error) {
	l, _, err := first(t.query, scanLoop, loopQuery+`WHERE l.run = ? AND l.status IN (100, 102) ORDER BY l.status DESC, l.sequence LIMIT 1`, run)
	return l, err
}

// begin makes a queued loop the running one.
func (t *tx) begin(l sdk.Loop) error {
	run, err := t.run(l.Run)
	if err != nil {
		return err
	}
	if err := t.exec(`UPDATE loops SET status = 102 WHERE id = ?`, l.ID); err != nil {
		return err
	}
	if err := t.seatPrompt(&run, l.ID); err != nil {
		return err
	}
	err = t.record(event{kind: sdk.KindLoopStarted, project: run.Project, run: run.ID, loop: l.ID}, map[string]int{"sequence": l.Sequence})
	if err != nil {
		return err
	}
	return t.moveRun(&run, sdk.StatusRunning)
}

// seatPrompt makes the prompt the last entry of the run so far, and of the turn
// that comes.
func (t *tx) seatPrompt(run *sdk.Run, loop int64) error {
	return t.exec(`UPDATE run_views SET turn = ?1,
		id = CASE WHEN id = (SELECT max(id) FROM run_views WHERE run = ?2) THEN id ELSE (SELECT max(id) + 1 FROM run_views) END
		WHERE run = ?2 AND entry = (SELECT prompt FROM loops WHERE id = ?3)`, run.Turns+1, run.ID, loop)
}

// endLoop ends a running loop and moves the run to what follows: 200 for 200,
// 204, 413 and 422, else the same number. A queued loop can be given up with 499;
// a run that has nothing else goes with it.
func (t *tx) endLoop(run *sdk.Run, end *sdk.LoopEnd) error {
	to := end.Status
	switch end.Status {
	case sdk.StatusOK, sdk.StatusNoContent, sdk.StatusOverflow, sdk.StatusUnable:
		to = sdk.StatusOK
	case sdk.StatusAborted, sdk.StatusFailed:
	default:
		return sdk.Errorf(sdk.Validation, "a loop cannot end with the status %d; it ends with 200, 204, 413, 422, 499 or 500", end.Status)
	}
	status, err := t.loopStatus(run, end.Loop)
	switch {
	case err != nil:
		return err
	case status != sdk.StatusQueued && end.Waiting:
		return sdk.Errorf(sdk.Conflict, "the loop %d has begun already", end.Loop)
	case status == sdk.StatusQueued && end.Status != sdk.StatusAborted:
		return sdk.Errorf(sdk.Conflict, "the loop %d is still queued; it can only be given up (499)", end.Loop)
	case status != sdk.StatusQueued && status != sdk.StatusRunning:
		return sdk.Errorf(sdk.Conflict, "the loop %d has ended already, with %d", end.Loop, status)
	}
	if err := t.exec(`UPDATE loops SET status = ?, reason = ?, stop = ?, ended = ? WHERE id = ?`, end.Status, end.Reason, end.Stop, t.now.UnixNano(), end.Loop); err != nil {
		return err
	}
	err = t.record(event{kind: sdk.KindLoopEnded, project: run.Project, run: run.ID, loop: end.Loop}, end)
	if err != nil {
		return err
	}
	if status == sdk.StatusQueued {
		return t.giveUp(run)
	}
	if run.Status == sdk.StatusProposed && to == sdk.StatusFailed {
		if err := t.moveRun(run, sdk.StatusRunning); err != nil { // the way the state machine has
			return err
		}
	}
	return t.moveRun(run, to)
}

// giveUp aborts a run that never ran and has nothing left to run.
func (t *tx) giveUp(run *sdk.Run) error {
	if run.Status != sdk.StatusQueued {
		return nil
	}
	var left int
	if _, err := t.one(`SELECT count(*) FROM loops WHERE run = ? AND status IN (100, 102)`, []any{run.ID}, &left); err != nil || left > 0 {
		return err
	}
	return t.moveRun(run, sdk.StatusAborted)
}

// Loops returns the run's loops in the order they were queued.
func (s *Store) Loops(ctx context.Context, run int64) ([]sdk.Loop, error) {
	return s.loops(ctx, `WHERE l.run = ? ORDER BY l.sequence`, run)
}

// Unfinished returns the loops of all runs that are running, or were when the
// process before this one died.
func (s *Store) Unfinished(ctx context.Context) ([]sdk.Loop, error) {
	return s.loops(ctx, `WHERE l.status = 102 ORDER BY l.id`)
}

func (s *Store) loops(ctx context.Context, where string, args ...any) ([]sdk.Loop, error) {
	all, err := list(s.reader(ctx), scanLoop, loopQuery+where, args...)
	return all, explain("reading loops", err)
}

const givenQuery = loopQuery + `WHERE l.options ->> '$.key' = ? ORDER BY l.id DESC LIMIT 1`

// Given returns the loop whose options have a key, and the position behind its
// prompt, from which a follower loses nothing of it. NotFound when none has it.
func (s *Store) Given(ctx context.Context, key string) (sdk.Loop, int64, error) {
	l, found, err := first(s.finder(ctx), scanLoop, givenQuery, key)
	if err != nil {
		return l, 0, explain("looking for a prompt that was given", err)
	}
	if !found {
		return l, 0, sdk.Errorf(sdk.NotFound, "no prompt was given under the key %.64s", key)
	}
	seq, _, err := first(s.reader(ctx), scanValue[int64], `SELECT coalesce(min(seq), 0) FROM journal WHERE run = ? AND loop = ? AND path = ? AND kind = ?`,
		l.Run, l.ID, promptPath(l.Sequence), sdk.KindEntrySet)
	return l, seq, explain("looking for a prompt that was given", err)
}

// Queued returns the ids of the runs that have a queued or a running loop.
func (s *Store) Queued(ctx context.Context) ([]int64, error) {
	all, err := list(s.reader(ctx), scanValue[int64], `SELECT DISTINCT run FROM loops WHERE status IN (100, 102) ORDER BY run`)
	return all, explain("reading the queue", err)
}
