package store

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// openTurn numbers the turn and counts it on the run. A Sequence that was given
// must be the next one. A turn without a loop is a tool call that no prompt
// caused; any other belongs to a running loop.
func (t *tx) openTurn(run *sdk.Run, turn sdk.Turn) (sdk.Turn, error) {
	next := run.Turns + 1
	if turn.Sequence != 0 && turn.Sequence != next {
		return turn, sdk.Errorf(sdk.Conflict, "the next turn of the run %s is %d, not %d", run.Alias, next, turn.Sequence)
	}
	var loop any
	if turn.Loop != 0 {
		status, err := t.loopStatus(run, turn.Loop)
		if err == nil && status != sdk.StatusRunning {
			err = sdk.Errorf(sdk.Conflict, "the loop %d has the status %d; a turn belongs to a running one", turn.Loop, status)
		}
		if err != nil {
			return turn, err
		}
		loop = turn.Loop
	}
	turn.ID, turn.Run, turn.Sequence, turn.Created, turn.Closed = t.nextID(), run.ID, next, t.now, false
	err := t.exec(`INSERT INTO turns (id, run, loop, sequence, model, created) VALUES (?, ?, ?, ?, ?, ?)`, turn.ID, run.ID, loop, next, turn.Model, t.now.UnixNano())
	if err != nil {
		return turn, err
	}
	if err := t.exec(`UPDATE runs SET turns = ?, updated = ? WHERE id = ?`, next, t.now.UnixNano(), run.ID); err != nil {
		return turn, err
	}
	run.Turns = next
	return turn, t.record(event{kind: sdk.KindTurnOpened, project: run.Project, run: run.ID, loop: turn.Loop, turn: next}, map[string]string{"model": turn.Model})
}

// loopStatus is NotFound for a loop that the run does not have.
func (t *tx) loopStatus(run *sdk.Run, loop int64) (int, error) {
	status, found, err := first(t.query, scanValue[int], `SELECT status FROM loops WHERE id = ? AND run = ?`, loop, run.ID)
	if err == nil && !found {
		err = sdk.Errorf(sdk.NotFound, "the run %s has no loop with the id %d", run.Alias, loop)
	}
	return status, err
}

// closeTurn finds the turn by its Sequence. An empty Model keeps the one the
// turn was opened with.
func (t *tx) closeTurn(run *sdk.Run, turn *sdk.Turn) error {
	u := [7]any{}
	if turn.Usage != nil {
		u = [7]any{turn.Usage.Prompt, turn.Usage.Cached, turn.Usage.Completion, turn.Usage.Reasoning, turn.Usage.Total, turn.Usage.Cost, turn.Usage.Estimated}
	}
	var loop int64
	var model string
	found, err := t.one(`UPDATE turns SET closed = 1, model = CASE ?1 WHEN '' THEN model ELSE ?1 END, finish = ?2, duration = ?3,
		prompt_tokens = ?4, cached_tokens = ?5, completion_tokens = ?6, reasoning_tokens = ?7, total_tokens = ?8, cost = ?9, estimated = coalesce(?10, 0)
		WHERE run = ?11 AND sequence = ?12 AND closed = 0 RETURNING coalesce(loop, 0), model`,
		[]any{turn.Model, turn.Finish, int64(turn.Duration), u[0], u[1], u[2], u[3], u[4], u[5], u[6], run.ID, turn.Sequence}, &loop, &model)
	if err == nil && !found {
		if _, found, err = first(t.query, scanValue[bool], `SELECT closed FROM turns WHERE run = ? AND sequence = ?`, run.ID, turn.Sequence); err == nil && found {
			err = sdk.Errorf(sdk.Conflict, "the turn %d of the run %s is closed already", turn.Sequence, run.Alias)
		} else if err == nil {
			err = sdk.Errorf(sdk.NotFound, "the run %s has no turn %d", run.Alias, turn.Sequence)
		}
	}
	if err != nil {
		return err
	}
	return t.record(event{kind: sdk.KindTurnClosed, project: run.Project, run: run.ID, loop: loop, turn: turn.Sequence}, struct {
		Model    string     `json:"model"`
		Usage    *sdk.Usage `json:"usage,omitempty"`
		Finish   string     `json:"finish"`
		Duration int64      `json:"duration_ms"`
	}{model, turn.Usage, turn.Finish, turn.Duration.Milliseconds()})
}

// Turns returns the run's turns in order, its own and not its parent's.
func (s *Store) Turns(ctx context.Context, run int64) ([]sdk.Turn, error) {
	all, err := list(s.reader(ctx), scanTurn, `SELECT id, run, coalesce(loop, 0), sequence, model, finish, duration, closed, created,
		total_tokens IS NOT NULL, coalesce(prompt_tokens, 0), coalesce(cached_tokens, 0), coalesce(completion_tokens, 0),
		coalesce(reasoning_tokens, 0), coalesce(total_tokens, 0), cost, estimated
		FROM turns WHERE run = ? ORDER BY sequence`, run)
	return all, explain("reading turns", err)
}

const loopTurnsQuery = `SELECT sequence FROM turns WHERE loop = ? AND run = ? ORDER BY sequence`

// LoopTurns returns the numbers of the loop's turns, in order.
func (s *Store) LoopTurns(ctx context.Context, run, loop int64) ([]int, error) {
	all, err := list(s.reader(ctx), scanValue[int], loopTurnsQuery, loop, run)
	return all, explain("reading the turns of a loop", err)
}

// OpenTurns returns the ids of the runs that have a turn that is not closed.
func (s *Store) OpenTurns(ctx context.Context) ([]int64, error) {
	all, err := list(s.reader(ctx), scanValue[int64], `SELECT DISTINCT run FROM turns WHERE closed = 0 ORDER BY run`)
	return all, explain("reading the open turns", err)
}

func scanTurn(scan scanner) (sdk.Turn, error) {
	var r struct { // as one, since each of them is made anew for each row
		t                 sdk.Turn
		duration, created int64
		used              bool
		usage             sdk.Usage
	}
	t, u := &r.t, &r.usage
	err := scan(&t.ID, &t.Run, &t.Loop, &t.Sequence, &t.Model, &t.Finish, &r.duration, &t.Closed, &r.created,
		&r.used, &u.Prompt, &u.Cached, &u.Completion, &u.Reasoning, &u.Total, &u.Cost, &u.Estimated)
	t.Duration, t.Created = time.Duration(r.duration), unix(r.created)
	if r.used {
		t.Usage = u
	}
	return r.t, err
}
