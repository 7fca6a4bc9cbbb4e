package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// What scanEntry reads. A stream that has not ended is shown as its body so far,
// its chunks in the order they came. What is kept for a project has no view.
const (
	bodyColumn = `CASE v.state WHEN 'streaming'
	  THEN (` + bodyOf + `) || coalesce((SELECT group_concat(c.text, '' ORDER BY c.seq) FROM chunks c WHERE c.entry = e.id), '')
	  ELSE ` + bodyOf + ` END`
	entryColumns  = `e.path, ` + bodyColumn + `, ` + otherColumns + viewColumns
	briefColumns  = `e.path, '', ` + otherColumns + viewColumns
	keptColumns   = `e.path, ` + bodyOf + `, ` + otherColumns + `'', '', '', '', '', 0, 0, 0, e.created`
	sharedColumns = `e.path, ` + bodyOf + `, ` + otherColumns + `'resolved', '', '', 'archived', '', 0, 0, 0, e.created`
	otherColumns  = `e.attributes, e.hash, e.scope, e.created, `
	viewColumns   = `v.state, v.outcome, v.phase, v.visibility, v.writer, v.loop, v.turn, v.write_count, v.updated`
)

// sharedScopes are the scopes whose entries the run ?1 shares with others: its project,
// its owner, and everybody.
const sharedScopes = `SELECT 'project:' || project FROM runs WHERE id = ?1
	UNION ALL SELECT 'owner:' || owner FROM runs WHERE id = ?1
	UNION ALL SELECT 'global'`

// sharedWith are those of sharedScopes whose entries the run ?1 finds without a view of them: its owner's alone where
// a channel made it, in which others write.
const sharedWith = `SELECT 'project:' || project FROM runs WHERE id = ?1 AND NOT private
	UNION ALL SELECT 'owner:' || owner FROM runs WHERE id = ?1
	UNION ALL SELECT 'global' FROM runs WHERE id = ?1 AND NOT private`

// visibleScopes finds the scopes in which entries of the run ?1 may lie: its own,
// those of the runs it was forked from, and those that it shares. Queries by path put
// the entry before the view with CROSS JOIN, which SQLite does not turn round: the
// other way it would walk all that the run sees.
const visibleScopes = `(WITH RECURSIVE line (id) AS (
	  SELECT ?1 UNION ALL SELECT r.parent FROM runs r JOIN line ON r.id = line.id WHERE r.parent IS NOT NULL)
	SELECT 'run:' || id FROM line
	UNION ALL ` + sharedScopes + `)`

// Entry returns what the run sees at the path; NotFound when it sees nothing.
func (s *Store) Entry(ctx context.Context, run int64, path string) (sdk.Entry, error) {
	path, _, err := parsePath(path)
	if err != nil {
		return sdk.Entry{}, err
	}
	e, found, err := first(s.finder(ctx), scanEntry, `SELECT `+entryColumns+` FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
		WHERE e.path = ?2 AND e.scope IN `+visibleScopes, run, path)
	if err != nil {
		return sdk.Entry{}, explain("reading "+path, err)
	}
	if !found {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s in this run", path)
	}
	err = newResolver(s.reader(ctx)).fillEntry(run, &e)
	return e, explain("reading "+path, err)
}

// Entries returns the entries that a query asks for. A run that does not exist has
// none, and a directory that is no project.
func (s *Store) Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	wanted, err := match.Parse(q.Pattern)
	if err != nil {
		return nil, err
	}
	if q.Path != "" {
		if q.Path, _, err = parsePath(q.Path); err != nil {
			return nil, err
		}
	}
	var shared []sdk.Entry
	budget := match.NewBudget()
	if q.Shared && q.Project == "" { // first: what gets a view meanwhile is found twice, and not never
		if shared, err = s.list(ctx, q, wanted, budget, true); err != nil {
			return nil, explain("reading entries", err)
		}
	}
	all, err := s.list(ctx, q, wanted, budget, false)
	if err == nil && !q.Brief {
		err = newResolver(s.reader(ctx)).fillEntries(q.Run, all)
	}
	if err != nil {
		return nil, explain("reading entries", err)
	}
	return append(all, besides(shared, all)...), nil
}

// besides are the entries of a list whose paths another lacks.
func besides(list, other []sdk.Entry) []sdk.Entry {
	if len(list) == 0 {
		return nil
	}
	paths := make(map[string]bool, len(other))
	for i := range other {
		paths[other[i].Path] = true
	}
	return slices.DeleteFunc(list, func(e sdk.Entry) bool { return paths[e.Path] })
}

// list reads what the run has a view of, or what it shares without one. A pattern that may leave most of it out is held against the
// paths alone first.
func (s *Store) list(ctx context.Context, q sdk.EntryQuery, wanted match.Pattern, budget *match.Budget, shared bool) (all []sdk.Entry, err error) {
	if prefix := wanted.Prefix(); q.Pattern == "" || wanted.Kind() == match.KindLiteral || q.Project != "" || q.Path != "" || q.Paths != nil || q.Pattern == prefix+"**" || q.Pattern == prefix+"/**" {
		all, err = s.read(ctx, q, wanted, shared)
		if err != nil || q.Pattern == "" {
			return all, err
		}
		// A pattern may take long, in which others need the connection.
		return fitting(ctx, all, wanted.Within(budget), func(e *sdk.Entry) string { return e.Path })
	}
	_, from, _, args := entriesText(q, wanted, shared)
	joined := ""
	err = s.query(ctx, `SELECT coalesce(group_concat(e.path, char(10)), '')`+from, args, func(scan scanner) error { return scan(&joined) })
	if err != nil || joined == "" {
		return nil, err
	}
	paths := strings.Split(joined, pathSeparator)
	total := len(paths)
	if paths, err = fitting(ctx, paths, wanted.Within(budget), func(path *string) string { return *path }); err != nil || len(paths) == 0 {
		return nil, err
	}
	if len(paths) <= total/8 {
		q.Paths = paths
		return s.read(ctx, q, wanted, shared)
	}
	all, err = s.read(ctx, q, wanted, shared)
	fits := make(map[string]bool, len(paths))
	for _, path := range paths {
		fits[path] = true
	}
	return slices.DeleteFunc(all, func(e sdk.Entry) bool { return !fits[e.Path] }), err
}

// fitting keeps of a list what has a path that fits a pattern.
func fitting[T any](ctx context.Context, list []T, wanted match.Counted, path func(*T) string) (kept []T, err error) {
	kept = slices.DeleteFunc(list, func(x T) bool {
		if err == nil {
			err = ctx.Err()
		}
		fits := false
		if err == nil {
			fits, err = wanted.Match(path(&x))
		}
		return !fits
	})
	return kept, err
}

// read reads the entries of a list.
func (s *Store) read(ctx context.Context, q sdk.EntryQuery, wanted match.Pattern, shared bool) (all []sdk.Entry, err error) {
	columns, from, order, args := entriesText(q, wanted, shared)
	err = s.query(ctx, `SELECT `+columns+from+order, args, func(scan scanner) error {
		e, err := scanEntry(scan)
		if e.State == sdk.StateStreaming && (q.Brief || q.Bodies != nil && !slices.Contains(q.Bodies, e.Scheme())) {
			e.Hash = ""
		}
		if q.Longest > 0 && len(e.Body) > q.Longest {
			head := strings.Clone(sdk.Head(e.Body, q.Longest)) // else the list would hold all of each
			e.Body, e.Left = head, len(e.Body)-len(head)
		}
		if err == nil && !(shared && s.hidden(e.Path)) {
			all = append(all, e)
		}
		return err
	})
	return all, err
}

// hidden reports whether a path is of the audit, or of a scheme that nobody registers any more.
func (s *Store) hidden(path string) bool {
	scheme, known := s.Scheme(sdk.SchemeOf(path))
	return !known || scheme.Category == sdk.CategoryAudit
}

// entriesText is a query in its parts: what it reads, from where, and in which order.
func entriesText(q sdk.EntryQuery, wanted match.Pattern, shared bool) (columns, from, order string, args []any) {
	from, args = ` FROM run_views v JOIN entries e ON e.id = v.entry WHERE v.run = ?1`, []any{q.Run}
	columns, order = entryColumns, ` ORDER BY v.id`
	switch {
	case shared:
		from = ` FROM entries e WHERE e.scope IN (` + sharedWith + `) AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id AND v.run = ?1)`
		columns, order = sharedColumns, ` ORDER BY e.path`
	case q.Project != "":
		from, args = ` FROM projects p JOIN entries e ON e.scope = 'project:' || p.id WHERE p.root = ?1`, []any{filepath.Clean(q.Project)}
		columns, order = keptColumns, ` ORDER BY e.path`
	case q.Path != "" || q.Paths != nil:
		from = ` FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1 WHERE e.scope IN ` + visibleScopes
	}
	switch {
	case q.Brief:
		columns = briefly(columns)
	case q.Bodies != nil:
		columns = strings.Replace(columns, bodyColumn, `CASE WHEN instr(' `+strings.Join(q.Bodies, " ")+` ', ' ' || e.scheme || ' ') THEN `+bodyColumn+` ELSE '' END`, 1)
	}
	prefix := wanted.Prefix()
	begins := ` substr(CAST(e.path AS BLOB), 1, ?2) = CAST(?3 AS BLOB)`
	switch {
	case q.Path != "":
		from, args = from+` AND e.path = ?2`, append(args, q.Path)
	case q.Paths != nil:
		from, args = from+` AND e.path IN (SELECT value FROM json_each(?2))`, append(args, encoded(q.Paths))
	case prefix == "":
	case wanted.Kind() == match.KindLiteral:
		from, args = from+` AND e.path = ?2`, append(args, prefix)
	case q.Pattern == prefix+"/**": // of log://turn_1/**, log://turn_10 is none
		from, args = from+` AND (e.path = ?4 OR`+begins+`)`, append(args, len(prefix)+1, prefix+"/", prefix)
	default:
		from, args = from+` AND`+begins, append(args, len(prefix), prefix)
	}
	return columns, from, order, args
}

// encoded are paths as one argument.
func encoded(paths []string) string {
	text, _ := json.Marshal(paths) // of texts, which JSON has
	return string(text)
}

// briefly leaves the body out of some columns.
func briefly(columns string) string {
	if columns == entryColumns {
		return briefColumns
	}
	return strings.Replace(columns, bodyOf, `''`, 1)
}

// pathSeparator stands in no path.
const pathSeparator = "\n"

// Paths returns the paths of what the run sees, in no order, with what it shares and has no view
// of. They come as one text, since a row for each would cost ten times as much.
func (s *Store) Paths(ctx context.Context, run int64) ([]string, error) {
	const q = `SELECT coalesce((SELECT group_concat(e.path, char(10)) FROM run_views v JOIN entries e ON e.id = v.entry WHERE v.run = ?1), ''),
		coalesce((SELECT group_concat(e.path, char(10)) FROM entries e WHERE e.scope IN (` + sharedWith + `)
		  AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id AND v.run = ?1)), '')`
	var all []string
	err := s.query(ctx, q, []any{run}, func(scan scanner) error {
		var seen, shared string
		if err := scan(&seen, &shared); err != nil {
			return err
		}
		for i, text := range []string{seen, shared} {
			if text == "" {
				continue
			}
			for path := range strings.SplitSeq(text, pathSeparator) {
				if i == 0 || !s.hidden(path) {
					all = append(all, path)
				}
			}
		}
		return nil
	})
	return all, explain("reading the paths of entries", err)
}

func scanEntry(scan scanner) (sdk.Entry, error) {
	var r struct { // as one, since each of them is made anew for each row
		e                sdk.Entry
		attributes, hash []byte
		created, updated int64
	}
	e := &r.e
	err := scan(&e.Path, &e.Body, &r.attributes, &r.hash, &e.Scope, &r.created,
		(*string)(&e.State), (*string)(&e.Outcome), (*string)(&e.Phase), (*string)(&e.Visibility), (*string)(&e.Writer),
		&e.Loop, &e.Turn, &e.Version, &r.updated)
	if err != nil {
		return r.e, err
	}
	if e.State == sdk.StateStreaming {
		sum := sha256.Sum256([]byte(e.Body))
		r.hash = sum[:]
	}
	e.Attributes = r.attributes
	e.Hash = hex.EncodeToString(r.hash)
	e.Created, e.Updated = unix(r.created), unix(r.updated)
	return r.e, nil
}

// Owns reports whether there are entries of an owner, whether or not a run of theirs is left.
func (s *Store) Owns(ctx context.Context, owner string) (bool, error) {
	_, found, err := first(s.finder(ctx), func(scan scanner) (id int64, err error) { return id, scan(&id) }, `SELECT id FROM entries WHERE scope = ? LIMIT 1`, ownerScope(owner))
	return found, explain("reading what belongs to an owner", err)
}
