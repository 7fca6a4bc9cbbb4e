package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// EntriesAt returns what Entries of a run had right after the row seq of the journal, in the same order. A text or a long
// attribute that was overwritten, taken away or redacted since is kept nowhere: such an entry has no body, and Gone has the
// hash that the journal knows of what it had.
func (s *Store) EntriesAt(ctx context.Context, run, seq int64) ([]sdk.EntryThen, error) {
	now, err := s.Entries(ctx, sdk.EntryQuery{Run: run})
	if err != nil {
		return nil, err
	}
	t := &then{s: s, seq: seq, resolver: newResolver(s.reader(ctx)), run: run, paths: map[string]*thenPath{}}
	for i := range now {
		t.paths[now[i].Path] = &thenPath{now: &now[i], place: int64(i - len(now))}
		t.order = append(t.order, now[i].Path)
	}
	if t.began, err = s.beganWith(ctx, run); err != nil {
		return nil, explain("reading what a run began with", err)
	}
	err = s.query(ctx, `SELECT seq, kind, loop, turn, path, data, body_hash FROM journal
		WHERE run = ? AND path NOT IN ('', ?) AND kind GLOB 'entry.*' ORDER BY seq`, []any{run, formerSystemText}, t.row)
	if err != nil {
		return nil, explain("reading what a run had", err)
	}
	all, err := t.entries()
	return all, explain("reading what a run had", err)
}

// formerSystemText is where a run had its last system text before the schema 16, which made system://DIGEST of that entry: the
// rows that tell of it are of the former name.
const formerSystemText = "instructions://system"

// beganWith are the paths of what those that a fork comes from had when it began, and after its turn: the fork has no row of its
// own for what it has not changed.
func (s *Store) beganWith(ctx context.Context, run int64) (map[string]bool, error) {
	const q = `WITH RECURSIVE above (run, until, turn) AS (
		  SELECT ?1, 9223372036854775807, 9223372036854775807
		  UNION ALL SELECT r.parent, (SELECT min(seq) FROM journal WHERE run = r.id),
		    min(a.turn, coalesce((SELECT min(sequence) - 1 FROM turns WHERE run = r.id), r.turns))
		  FROM above a JOIN runs r ON r.id = a.run WHERE r.parent IS NOT NULL)
		SELECT path FROM (SELECT j.path AS path, j.kind AS kind, max(j.seq)
		  FROM above a JOIN journal j ON j.run = a.run AND j.seq < a.until AND j.turn <= a.turn
		  WHERE a.run <> ?1 AND j.kind GLOB 'entry.*' GROUP BY j.path) WHERE kind <> 'entry.removed'`
	began := map[string]bool{}
	err := s.query(ctx, q, []any{run}, func(scan scanner) error {
		path, err := scanValue[string](scan)
		began[path] = true
		return err
	})
	return began, err
}

// then is a run as it was at a place of the journal, while its rows are read.
type then struct {
	s        *Store
	run, seq int64
	resolver *resolver
	paths    map[string]*thenPath
	began    map[string]bool // see beganWith
	order    []string        // of the paths, as they are met
}

// thenPath is what is known of one path.
type thenPath struct {
	now     *sdk.Entry // nil is that the run sees it no more
	place   int64      // in the order of first appearance: the row, and before all rows what a fork began with
	known   bool       // a row up to then tells of it
	there   bool       // and the last of them is no removal
	changed bool       // a row after then tells of it
	retold  bool       // and of its attributes
	began   bool       // the run had it before any row of its own, as a fork
	whole   bool       // and a row since told all of its attributes
	loop    int64
	turn    int
	version int
	view    sdk.EntryChange
	body    []byte // hash of its body; nil is not known
	members marks  // its attributes
}

// row takes in a row of the journal.
func (t *then) row(scan scanner) error {
	var seq, loop int64
	var turn int
	var kind, path string
	var data, body []byte
	if err := scan(&seq, &kind, &loop, &turn, &path, &data, &body); err != nil {
		return err
	}
	x := t.paths[path]
	if x == nil {
		x = &thenPath{}
		t.paths[path] = x
		t.order = append(t.order, path)
	}
	var c sdk.EntryChange
	if kind == sdk.KindEntrySet {
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
	}
	keeps := !x.known && !x.changed && c.Look && body != nil // what a fork has from its parent, which changed it
	if !x.known && !x.changed {
		x.began = keeps || t.inherits(path, kind, c)
	}
	if seq > t.seq && !keeps {
		x.changed = true
		x.retold = x.retold || kind == sdk.KindEntryRemoved || len(c.Attributes)+len(c.Hashed) > 0
		return nil
	}
	if kind == sdk.KindEntryRemoved {
		x.known, x.there = true, false
		return nil
	}
	if !x.there {
		x.members = marks{members{}, map[string]string{}}
		x.version, x.body, x.whole = 0, nil, x.known
		if x.known || !x.began {
			x.place = seq
		}
	}
	x.known, x.there = true, true
	if kind == sdk.KindEntryChunk {
		x.body = nil // of a stream, which its end alone names
		return nil
	}
	x.loop, x.turn, x.view = loop, turn, c
	if !c.Look {
		x.version++
	}
	if body != nil {
		x.body = slices.Clone(body)
		x.whole = x.whole || c.Look || len(c.Attributes)+len(c.Hashed) > 0 // a copy of its own
	}
	return x.members.take(c)
}

// inherits reports whether the run had what the first row of its own about a path changes, or takes away. What is numbered by
// turns and prompts, a row makes.
func (t *then) inherits(path, kind string, c sdk.EntryChange) bool {
	scheme, _ := t.s.Scheme(sdk.SchemeOf(path))
	switch {
	case kind != sdk.KindEntrySet:
		return kind == sdk.KindEntryRemoved
	case c.Look:
		return scheme.Scope == "run"
	default:
		return t.began[path] && (scheme.Category == sdk.CategoryData || scheme.Category == sdk.CategoryUnknown)
	}
}

// entries are those that the run had then.
func (t *then) entries() ([]sdk.EntryThen, error) {
	var had []string
	for _, path := range t.order {
		x := t.paths[path]
		if x.there || !x.known && (x.began || x.now != nil && !x.changed) {
			had = append(had, path)
		}
	}
	slices.SortStableFunc(had, func(a, b string) int {
		switch at, bt := t.paths[a].place, t.paths[b].place; {
		case at < bt:
			return -1
		case at > bt:
			return 1
		}
		return 0
	})
	all := make([]sdk.EntryThen, 0, len(had))
	for _, path := range had {
		e, err := t.entry(path, t.paths[path])
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// entry puts together what the run had at a path.
func (t *then) entry(path string, x *thenPath) (e sdk.EntryThen, err error) {
	file := sdk.SchemeOf(path) == fileScheme
	if file && x.known && x.view.Visibility != sdk.Visible { // which has no text, though rows tell of one
		x.body = nil
	}
	same := x.now != nil && (x.body == nil || x.now.Hash == hex.EncodeToString(x.body))
	if same && !x.changed {
		e.Entry = *x.now
		return e, nil
	}
	if !x.known { // of the parent, and how it was there is not in this run's journal
		return sdk.EntryThen{Entry: sdk.Entry{Path: path, State: sdk.StateResolved, Visibility: sdk.Visible}, Gone: []string{""}}, nil
	}
	if x.began && !x.whole {
		e.Gone = []string{""}
	}
	e.Entry = sdk.Entry{
		Path: path, State: x.view.State, Outcome: x.view.Outcome, Phase: x.view.Phase, Visibility: x.view.Visibility, Writer: x.view.Writer,
		Loop: x.loop, Turn: x.turn, Version: x.version, Hash: hex.EncodeToString(x.body),
	}
	var has members
	if x.now != nil {
		e.Scope, e.Created = x.now.Scope, x.now.Created
		if has, err = parseMembers(x.now.Attributes); err != nil {
			return e, err
		}
	}
	switch {
	case file && x.body == nil:
		e.Hash = emptyHash
	case same && x.body != nil:
		e.Body = x.now.Body
	case e.Hash != emptyHash:
		e.Gone = append(e.Gone, e.Hash)
	}
	if file && x.now != nil && !x.retold { // most of what is known of a file stands in rows of no run
		e.Attributes = x.now.Attributes
		return e, nil
	}
	for _, name := range x.members.names() {
		hash := x.members.long[name]
		if value, is := has[name]; is && hexHash(value) == hash {
			x.members.short[name] = value
		} else {
			e.Gone = append(e.Gone, hash)
		}
	}
	if e.Attributes, err = encodeMembers(x.members.short); err != nil {
		return e, err
	}
	e.Attributes, err = t.resolver.fill(t.run, e.Phase, e.Attributes)
	return e, err
}

// names are those of the long attributes, in order.
func (m *marks) names() []string {
	all := make([]string, 0, len(m.long))
	for name := range m.long {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// emptyHash is that of an entry without a text.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
