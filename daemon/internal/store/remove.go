package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// remove drops the entry from the run's view. An entry of the project or of everybody stays, one of a run as long as
// another run sees it (the triggers unseen_removed and unseen_replaced); what is an owner's goes from all of theirs.
func (t *tx) remove(run *sdk.Run, path, scope string, w *sdk.Write, x visibleEntry) (sdk.Entry, error) {
	if x.entry != 0 && x.Scope == ownerScope(run.Owner) {
		return x.result(t, path), t.removeOwned(run, path, w, x)
	}
	if x.view == 0 {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s in this run", path)
	}
	if x.Scope == scope && scope == runScope(run.ID) {
		if err := t.detach(x.entry, run.ID); err != nil {
			return sdk.Entry{}, err
		}
	}
	if err := t.exec(`DELETE FROM run_views WHERE id = ?`, x.view); err != nil {
		return sdk.Entry{}, err
	}
	e := event{kind: sdk.KindEntryRemoved, project: run.Project, run: run.ID, loop: cmp.Or(w.Loop, x.Loop), turn: cmp.Or(w.Turn, x.Turn), path: path}
	return x.result(t, path), t.record(e, map[string]sdk.Writer{"writer": w.Writer})
}

// removeOwned takes an entry from its owner, with the views that all runs have of it, and tells each of them.
func (t *tx) removeOwned(run *sdk.Run, path string, w *sdk.Write, x visibleEntry) error {
	if err := t.forgetTold(run.Owner, x.Body); err != nil {
		return err
	}
	gone := map[string]sdk.Writer{"writer": w.Writer}
	events := []event{{kind: sdk.KindEntryRemoved, project: run.Project, run: run.ID, loop: cmp.Or(w.Loop, x.Loop), turn: cmp.Or(w.Turn, x.Turn), path: path}}
	err := t.query(`SELECT v.run, r.project FROM run_views v JOIN runs r ON r.id = v.run WHERE v.entry = ? AND v.run <> ? ORDER BY v.id`, []any{x.entry, run.ID}, func(scan scanner) error {
		other := event{kind: sdk.KindEntryRemoved, path: path}
		err := scan(&other.run, &other.project)
		events = append(events, other)
		return err
	})
	if err != nil {
		return err
	}
	for _, q := range []string{`DELETE FROM run_views WHERE entry = ?`, `DELETE FROM chunks WHERE entry = ?`, `DELETE FROM entries WHERE id = ?`} {
		if err := t.exec(q, x.entry); err != nil {
			return err
		}
	}
	for _, e := range events {
		if err := t.record(e, gone); err != nil {
			return err
		}
	}
	return nil
}

// inText is how a text stands in a system text.
var inText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// longEnough is how many bytes a text has that stands in no other by chance.
const longEnough = 24

// tells reports whether a system text told a text: it has it, and where it is short as what a line of it ends with.
func tells(system, text string) bool {
	for from := 0; ; {
		i := strings.Index(system[from:], text)
		if i < 0 {
			return false
		}
		before, behind := system[:from+i], system[from+i+len(text):]
		ends := behind == "" || behind[0] == '\n'
		begins := before == "" || slices.ContainsFunc([]string{"\n", "- ", ": "}, func(with string) bool { return strings.HasSuffix(before, with) })
		if len(text) >= longEnough || begins && ends {
			return true
		}
		from += i + 1
	}
}

// forgetTold takes the system texts that told a text from the runs of an owner: they were kept since models were told it.
func (t *tx) forgetTold(owner, text string) error {
	if text == "" {
		return nil
	}
	type place struct {
		run  int64
		path string
		body string
	}
	escaped := inText.Replace(text)
	told, err := list(t.query, func(scan scanner) (p place, err error) { return p, scan(&p.run, &p.path, &p.body) },
		`SELECT v.run, e.path, e.body FROM run_views v JOIN runs r ON r.id = v.run JOIN entries e ON e.id = v.entry
		WHERE r.owner = ?1 AND e.path GLOB ?2 AND (instr(e.body, ?3) > 0 OR instr(e.body, ?4) > 0) ORDER BY v.id`,
		owner, sdk.SystemTextPath("*"), text, escaped)
	for _, p := range told {
		if err != nil {
			break
		}
		if !tells(p.body, text) && !tells(p.body, escaped) {
			continue
		}
		var run sdk.Run
		if run, err = t.run(p.run); err == nil {
			_, err = t.write(&run, &sdk.Write{Path: p.path, Remove: true, Writer: sdk.WriterSystem}, nil)
		}
	}
	return err
}

// inheritance is another run's view of an entry.
type inheritance struct {
	view, run, project, loop int64
	turn                     int
	change                   sdk.EntryChange
}

// detach gives every other run that sees the entry a copy of its own, before the
// entry changes or goes (docs/entries.md, Forks), with a row that verifies it.
func (t *tx) detach(entry, owner int64) error {
	var others []inheritance
	err := t.query(`SELECT v.id, v.run, r.project, v.loop, v.turn, v.state, v.outcome, v.phase, v.visibility, v.writer
		FROM run_views v JOIN runs r ON r.id = v.run WHERE v.entry = ? AND v.run <> ?`, []any{entry, owner}, func(scan scanner) error {
		var o inheritance
		c := &o.change
		err := scan(&o.view, &o.run, &o.project, &o.loop, &o.turn,
			(*string)(&c.State), (*string)(&c.Outcome), (*string)(&c.Phase), (*string)(&c.Visibility), (*string)(&c.Writer))
		others = append(others, o)
		return err
	})
	if err != nil || len(others) == 0 {
		return err
	}
	var path string
	var attributes json.RawMessage
	var hash []byte
	if _, err := t.one(`SELECT path, attributes, hash FROM entries WHERE id = ?`, []any{entry}, &path, (*[]byte)(&attributes), &hash); err != nil {
		return err
	}
	for _, o := range others {
		if err := t.copyFor(o, entry, path, attributes, digest(hash)); err != nil {
			return err
		}
	}
	return nil
}

// copyFor gives a run that sees an entry one of its own, with these attributes, and a row that verifies it.
func (t *tx) copyFor(o inheritance, entry int64, path string, attributes json.RawMessage, body digest) error {
	all, err := parseMembers(attributes)
	if err != nil {
		return err
	}
	id := t.nextID()
	if err := t.exec(`INSERT INTO entries (id, scope, path, body, answer, starts, bytes, attributes, hash, created)
		SELECT ?, ?, path, body, answer, starts, bytes, ?, hash, created FROM entries WHERE id = ?`, id, runScope(o.run), text(attributes), entry); err != nil {
		return err
	}
	if err := t.exec(`UPDATE run_views SET entry = ? WHERE id = ?`, id, o.view); err != nil {
		return err
	}
	if err := describeAttributes(&o.change, all, longestInline); err != nil {
		return err
	}
	o.change.Look = true // nothing of it changes for that run
	e := event{kind: sdk.KindEntrySet, project: o.project, run: o.run, loop: o.loop, turn: o.turn, path: path, entry: id, body: &body}
	return t.record(e, o.change)
}
