package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

const runColumns = `id, project, alias, key, coalesce(parent, 0), coalesce(delegator, 0), delegated_by, writes, offline, agent, model, status, hidden, private, owner, channel, conversation, turns, created, updated,
	temperature, persona, context_limit, no_repo, no_interaction, no_web, no_proposals, no_memory`

func scanRun(scan scanner) (sdk.Run, error) {
	var r sdk.Run
	var created, updated int64
	var writes sql.NullString
	err := scan(&r.ID, &r.Project, &r.Alias, &r.Key, &r.Parent, &r.Delegator, &r.DelegatedBy, &writes, &r.Offline, &r.Agent, &r.Model, &r.Status, &r.Hidden, &r.Private, &r.Owner, &r.Channel, &r.Conversation, &r.Turns, &created, &updated,
		&r.Temperature, &r.Persona, &r.ContextLimit, &r.NoRepo, &r.NoInteraction, &r.NoWeb, &r.NoProposals, &r.NoMemory)
	r.Created, r.Updated = unix(created), unix(updated)
	if err == nil && writes.Valid {
		err = json.Unmarshal([]byte(writes.String), &r.Writes)
	}
	return r, err
}

// CreateRun makes a run, queued and at rest, and gives it id, key and times. An
// empty alias is made from the agent's name and a number; Conflict when it is taken
// in the project. A run with a Parent starts with everything the parent sees and has
// ended, and counts its loops and turns on from there; with Turns it starts as the
// parent was after that turn (see rewind).
func (s *Store) CreateRun(ctx context.Context, r sdk.Run, writes ...sdk.Write) (sdk.Run, error) {
	if r.Alias != "" {
		if err := s.checkAlias(r.Alias); err != nil {
			return sdk.Run{}, err
		}
	}
	if err := s.checkConfig(r.RunConfig); err != nil {
		return sdk.Run{}, err
	}
	key, err := uuid.NewV7()
	if err != nil {
		return sdk.Run{}, fmt.Errorf("making the key of a run: %w", err)
	}
	change, err := s.cleanRunChange(&sdk.RunChange{Writes: writes})
	if err != nil {
		return sdk.Run{}, err
	}
	err = s.update(ctx, "creating a run", func(t *tx) error {
		if err := t.createRun(&r, key.String()); err != nil || len(change.Writes) == 0 {
			return err
		}
		_, err := t.changeRun(r.ID, change)
		return err
	})
	if err != nil {
		return sdk.Run{}, err
	}
	return r, nil
}

func (t *tx) createRun(r *sdk.Run, key string) error {
	from, err := t.inherit(r)
	if err != nil {
		return err
	}
	if r.Alias == "" {
		stem := r.Agent
		if r.Channel != "" { // so that its number tells nothing of other runs
			stem = r.Channel + "_" + r.Agent
		}
		if r.Alias, err = t.freeAlias(r.Project, stem); err != nil {
			return err
		}
	}
	r.Owner = cmp.Or(r.Owner, sdk.LocalOwner)
	r.Key, r.Status, r.Created, r.Updated = key, sdk.StatusQueued, t.now, t.now
	at := t.now.UnixNano()
	var writes any
	if r.Writes != nil {
		globs, _ := json.Marshal(r.Writes) // of texts, which cannot fail
		writes = string(globs)
	}
	r.ID, err = t.insert(`INSERT INTO runs (project, alias, key, parent, delegator, delegated_by, writes, offline, agent, model, hidden, private, owner, channel, conversation, turns, loops, rested, created, updated,
			temperature, persona, context_limit, no_repo, no_interaction, no_web, no_proposals, no_memory) VALUES (?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Project, r.Alias, key, from.parent, r.Delegator, r.DelegatedBy, writes, r.Offline, r.Agent, r.Model, r.Hidden, r.Private, r.Owner, r.Channel, r.Conversation, r.Turns, from.loops, from.loops, at, at,
		r.Temperature, r.Persona, r.ContextLimit, r.NoRepo, r.NoInteraction, r.NoWeb, r.NoProposals, r.NoMemory)
	switch {
	case hasCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE):
		return sdk.Errorf(sdk.Conflict, "the project has a run called %s already; choose another name, or go on with that one", r.Alias)
	case hasCode(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY):
		return sdk.Errorf(sdk.NotFound, "there is no project with the id %d: %w", r.Project, err)
	case err != nil:
		return err
	}
	if r.Parent != 0 {
		if err := t.fork(r.Parent, r.ID); err != nil {
			return err
		}
		if from.past != nil {
			if err := t.rewind(r.ID, from.past); err != nil {
				return err
			}
		}
	}
	made := differences(sdk.RunConfig{}, r.RunConfig)
	made["alias"], made["key"], made["agent"], made["model"] = r.Alias, key, r.Agent, r.Model
	if r.Parent != 0 {
		made["parent"], made["turns"] = r.Parent, r.Turns // the turns are the parent's
	}
	if r.Delegator != 0 {
		made["delegator"], made["delegated_by"] = r.Delegator, r.DelegatedBy
		if r.Writes != nil {
			made["writes"] = r.Writes
		}
	}
	if r.Offline {
		made["offline"] = true
	}
	if r.Hidden {
		made["hidden"] = true
	}
	if r.Private {
		made["private"] = true
	}
	if r.Owner != sdk.LocalOwner {
		made["owner"] = r.Owner
	}
	if r.Channel != "" {
		made["channel"] = r.Channel
	}
	if err := t.record(event{kind: sdk.KindRunCreated, project: r.Project, run: r.ID}, made); err != nil || r.Parent == 0 {
		return err
	}
	return t.tellPlan(r.ID, from.past)
}

// origin is where a run begins.
type origin struct {
	parent any // the parent's id, or nil
	loops  int
	past   *past // nil is the parent as it is
}

// inherit fills in what a fork has from its parent: agent, model, configuration, turns, the paths that it may change,
// whose it is, and that it is private or reaches no network.
func (t *tx) inherit(r *sdk.Run) (origin, error) {
	var from origin
	asked := r.Turns
	r.Turns = 0
	if r.Parent == 0 {
		return from, nil
	}
	p, err := t.run(r.Parent)
	if err != nil {
		return from, err
	}
	if p.Project != r.Project {
		return from, sdk.Errorf(sdk.Validation, "the run %s is of another project; a run can be forked only inside its project", p.Alias)
	}
	if _, err := t.one(`SELECT loops FROM runs WHERE id = ?`, []any{p.ID}, &from.loops); err != nil {
		return from, err
	}
	from.parent, r.Turns, r.Private, r.Origin, r.Conversation, r.Writes, r.Offline, r.RunConfig = p.ID, p.Turns, p.Private, p.Origin, p.Conversation, p.Writes, p.Offline, p.RunConfig
	if asked != 0 {
		if from.past, err = t.past(&p, asked); err != nil {
			return from, err
		}
		r.Turns, from.loops = asked, from.past.loops
	}
	r.Agent, r.Model = cmp.Or(r.Agent, p.Agent), cmp.Or(r.Model, p.Model)
	return from, nil
}

func (s *Store) checkAlias(alias string) error {
	if alias == "" || len(alias) > 64 || strings.ContainsFunc(alias, notAlias) {
		return sdk.Errorf(sdk.Validation, "%.80q cannot name a run: it takes 1 to 64 of A-Z a-z 0-9 _ -", alias)
	}
	return s.refuseSecret("the name of a run", alias)
}

func notAlias(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-')
}

// freeAlias makes "of-n", counting on from the runs that the project has.
func (t *tx) freeAlias(project int64, of string) (string, error) {
	stem := strings.Map(func(c rune) rune {
		if notAlias(c) {
			return '-'
		}
		return c
	}, of)
	if stem = strings.Trim(stem[:min(len(stem), 40)], "-"); stem == "" {
		stem = "run"
	}
	n := 0
	if _, err := t.one(`SELECT count(*) FROM runs WHERE project = ? AND alias GLOB ? || '-[0-9]*'`, []any{project, stem}, &n); err != nil {
		return "", err
	}
	return t.free(fmt.Sprintf("%s-%d", stem, n+1), stem, n+2, `SELECT 1 FROM runs WHERE alias = ? AND project = ?`, project)
}

// free is a name, else a stem with the first number from n on behind it, of which a query finds nothing.
func (t *tx) free(name, stem string, n int, q string, args ...any) (string, error) {
	for ; ; n++ {
		_, found, err := first(t.query, scanValue[int], q, append([]any{name}, args...)...)
		if err != nil || !found {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
}

// Run returns a run by id; NotFound when there is none.
func (s *Store) Run(ctx context.Context, id int64) (sdk.Run, error) {
	r, err := findRun(s.finder(ctx), noRunWithID, runByID, id)
	return r, explain("reading a run", err)
}

// RunByAlias returns a project's run by its alias; NotFound when there is none.
func (s *Store) RunByAlias(ctx context.Context, project int64, alias string) (sdk.Run, error) {
	r, err := findRun(s.finder(ctx), "there is no run called %s in this project", existingRun+`alias = ? AND project = ?`, alias, project)
	return r, explain("reading a run", err)
}

const (
	existingRun = `SELECT ` + runColumns + ` FROM runs WHERE deleted IS NULL AND `
	runByID     = existingRun + `id = ?`
	noRunWithID = "there is no run with the id %d"
)

// findRun returns the run that a query finds. NotFound when there is none, with
// the text missing, which names the first argument.
func findRun(read reader, missing, q string, args ...any) (sdk.Run, error) {
	r, found, err := first(read, scanRun, q, args...)
	if err == nil && !found {
		err = sdk.Errorf(sdk.NotFound, missing, args[0])
	}
	return r, err
}

// Runs returns the runs that the filter lets through, newest first unless it says otherwise.
func (s *Store) Runs(ctx context.Context, f sdk.RunFilter) ([]sdk.Run, error) {
	if f.Limit <= 0 {
		f.Limit = -1
	}
	order := `ORDER BY id DESC`
	if f.Last {
		order = `AND NOT private AND EXISTS (SELECT 1 FROM loops WHERE loops.run = runs.id) ORDER BY (SELECT max(loops.id) FROM loops WHERE loops.run = runs.id) DESC`
	}
	if f.Of != nil {
		order = `AND owner = ?8 AND channel = ?9 AND conversation = ?10 ` + lastPrompted
	} else {
		f.Of = &sdk.Conversation{}
	}
	which, arg := `(?6 OR delegator IS NULL)`, any(f.Children)
	if f.Below != 0 {
		which, arg = `id IN `+downFrom(`SELECT id FROM runs WHERE delegator = ?6`), f.Below
	}
	all, err := list(s.reader(ctx), scanRun, existingRun+which+` AND (?1 = 0 OR project = ?1) AND (?2 OR NOT hidden) AND (?7 = '' OR channel = ?7) AND (?11 = '' OR owner = ?11)
		AND (?5 = '' OR instr(lower(alias), lower(?5)) > 0
			OR EXISTS (SELECT 1 FROM loops l JOIN entries e ON e.id = l.prompt WHERE l.run = runs.id AND instr(lower(e.body), lower(?5)) > 0)) `+order+` LIMIT ?3 + 0 OFFSET ?4 + 0`,
		f.Project, f.Hidden, f.Limit, f.Offset, f.Search, arg, f.Channel, f.Of.Owner, f.Of.Channel, f.Of.Name, f.Owner)
	return all, explain("reading the runs", err)
}

// run reads a run inside the transaction.
func (t *tx) run(id int64) (sdk.Run, error) { return findRun(t.query, noRunWithID, runByID, id) }

// moveRun changes a run's status and tells of it. The trigger run_transition
// rules over what is possible (docs/entries.md, Runs, loops, turns).
func (t *tx) moveRun(r *sdk.Run, to int) error {
	if r.Status == to {
		return nil
	}
	err := t.exec(`UPDATE runs SET status = ?, updated = ? WHERE id = ?`, to, t.now.UnixNano(), r.ID)
	if hasCode(err, sqlite3.SQLITE_CONSTRAINT_TRIGGER) {
		return sdk.Errorf(sdk.Conflict, "the run %s has the status %d and cannot go to %d: %w", r.Alias, r.Status, to, err)
	}
	if err != nil {
		return err
	}
	from := r.Status
	r.Status = to
	return t.record(event{kind: sdk.KindRunStatus, project: r.Project, run: r.ID}, map[string]int{"from": from, "to": to})
}
