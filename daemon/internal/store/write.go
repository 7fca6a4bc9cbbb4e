package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// visibleEntry is an entry as a run sees it, inside a transaction.
type visibleEntry struct {
	sdk.Entry       // result completes it
	view      int64 // 0 when the run does not see the entry
	entry     int64 // 0 when there is none
	hash      digest
	created   int64
}

// write is the one way in which an entry changes. It resolves the scheme,
// checks who writes, checks what the write expects, and then removes, appends
// or sets.
func (t *tx) write(run *sdk.Run, w *sdk.Write, attributes patch) (sdk.Entry, error) {
	path, name, err := parsePath(w.Path)
	if err != nil {
		return sdk.Entry{}, err
	}
	scheme, ok := t.s.Scheme(name)
	if !ok {
		return sdk.Entry{}, sdk.Errorf(sdk.Validation, "nothing is registered under %s://, so %s cannot be written; a path without a scheme is a file, known:// keeps a fact", name, path)
	}
	if !w.Look && !w.Check && !scheme.Admits(w.Writer) {
		return sdk.Entry{}, sdk.Errorf(sdk.Permission, "%s may not be written by %q: %s entries are written by %v only", path, w.Writer, name, scheme.WritableBy)
	}
	if err := checkWrite(path, w); err != nil {
		return sdk.Entry{}, err
	}
	if name == fileScheme && run.Private {
		return sdk.Entry{}, sdk.Errorf(sdk.Permission, "%s is a file of the project, and the run %s has nothing of that: a channel made it", path, run.Alias)
	}
	scope := runScope(run.ID)
	switch scheme.Scope {
	case "project":
		scope = projectScope(run.Project)
	case "owner":
		scope = ownerScope(run.Owner)
	case "global":
		scope = "global"
	}
	if name == fileScheme {
		if err := t.exec(dropOldFile, run.ID, path, scope); err != nil {
			return sdk.Entry{}, err
		}
	}
	x, err := t.look(run, scope, path)
	if err != nil {
		return sdk.Entry{}, err
	}
	if w.Create && x.view != 0 {
		return sdk.Entry{}, sdk.Errorf(sdk.Conflict, "%s is there already", path)
	}
	if w.Expect != "" && x.Phase != w.Expect {
		return sdk.Entry{}, sdk.Errorf(sdk.Conflict, "%s is in the phase %q and not %q; somebody else took this step", path, x.Phase, w.Expect)
	}
	if w.ExpectVersion != 0 && (x.view == 0 || x.Version != w.ExpectVersion) {
		return sdk.Entry{}, sdk.Errorf(sdk.Conflict, "%s was changed meanwhile; look at it again", path)
	}
	if w.ExpectHash != "" && (x.entry == 0 || hex.EncodeToString(x.hash[:]) != w.ExpectHash) {
		return sdk.Entry{}, sdk.Errorf(sdk.Conflict, "%s has another body by now; look at it again", path)
	}
	switch {
	case w.Check:
		return x.result(t, path), nil
	case w.Look:
		return t.lookAt(run, path, scheme, w, x)
	case w.Remove:
		return t.remove(run, path, scope, w, x)
	case w.Chunk != nil:
		return t.appendChunk(run, path, w, x)
	default:
		return t.set(run, path, scope, w, attributes, x)
	}
}

// make writes an entry that the store itself adds, with the attributes that v is as JSON.
func (t *tx) make(run *sdk.Run, v any, w *sdk.Write) (sdk.Entry, error) {
	raw, err := encode(v)
	if err != nil {
		return sdk.Entry{}, err
	}
	attributes, err := readPatch(raw)
	if err != nil {
		return sdk.Entry{}, err
	}
	w.Create, w.Attributes = true, raw
	return t.write(run, w, attributes)
}

// checkWrite refuses values that no entry can have, and fields that do not go
// together.
func checkWrite(path string, w *sdk.Write) error {
	switch {
	case w.Chunk != nil && (w.Remove || w.Body != nil || w.Create || w.Attributes != nil || w.Outcome != "" || w.Visibility != "" || w.Phase != "" ||
		w.State != "" && w.State != sdk.StateStreaming):
		return sdk.Errorf(sdk.Validation, "%s: a chunk is appended and changes nothing else; use a write of its own for the rest", path)
	case w.Look && (w.Visibility == "" || w.Remove || w.Chunk != nil || w.Body != nil || w.Create || w.Attributes != nil || w.Outcome != "" || w.State != "" || w.Phase != ""):
		return sdk.Errorf(sdk.Validation, "%s: a look sets the visibility and nothing else; use a write of its own for the rest", path)
	case w.Check && (w.ExpectHash == "" && w.ExpectVersion == 0 || w.Look || w.Remove || w.Chunk != nil || w.Body != nil || w.Create || w.Attributes != nil || w.Visibility != "" || w.State != ""):
		return sdk.Errorf(sdk.Validation, "%s: a check says what the entry is expected to be, and nothing else", path)
	case w.Append && w.Body == nil:
		return sdk.Errorf(sdk.Validation, "%s: there is nothing to append", path)
	case w.Chunk != nil && w.Chunk.Channel < 1:
		return sdk.Errorf(sdk.Validation, "%s: there is no channel %d; 1 is standard output, 2 standard error", path, w.Chunk.Channel)
	case w.Create && w.Remove:
		return sdk.Errorf(sdk.Validation, "%s: one write cannot both create and remove", path)
	case !slices.Contains([]sdk.State{"", sdk.StateProposed, sdk.StateStreaming, sdk.StateResolved, sdk.StateFailed, sdk.StateCancelled}, w.State):
		return sdk.Errorf(sdk.Validation, "%s: there is no state %q; there are proposed, streaming, resolved, failed and cancelled", path, w.State)
	case !slices.Contains([]sdk.Visibility{"", sdk.Visible, sdk.Summarized, sdk.Archived}, w.Visibility):
		return sdk.Errorf(sdk.Validation, "%s: there is no visibility %q; there are visible, summarized and archived", path, w.Visibility)
	case !slices.Contains([]sdk.Phase{"", sdk.PhaseRecorded, sdk.PhaseApproved, sdk.PhaseStarted, sdk.PhaseEnded}, w.Phase):
		return sdk.Errorf(sdk.Validation, "%s: there is no phase %q; there are recorded, approved, started and ended", path, w.Phase)
	}
	return nil
}

// look finds what the run sees at the path, or else the entry that a write to
// scope would meet there. Only a fork may see one that is in another scope: its parent's.
func (t *tx) look(run *sdk.Run, scope, path string) (visibleEntry, error) {
	var x visibleEntry
	var hash []byte
	q := lookHere
	if run.Parent != 0 {
		q = lookAround
	}
	_, err := t.one(q, []any{run.ID, path, scope},
		&x.view, &x.entry, &x.Scope, &x.Body, (*[]byte)(&x.Attributes), &hash, &x.created,
		(*string)(&x.State), (*string)(&x.Outcome), (*string)(&x.Phase), (*string)(&x.Visibility), (*string)(&x.Writer),
		&x.Loop, &x.Turn, &x.Version)
	copy(x.hash[:], hash)
	return x, err
}

const (
	looked = `SELECT coalesce(v.id, 0), e.id, e.scope, ` + bodyOf + `, e.attributes, e.hash, e.created, coalesce(v.state, ''), coalesce(v.outcome, ''),
		coalesce(v.phase, ''), coalesce(v.visibility, ''), coalesce(v.writer, ''), coalesce(v.loop, 0), coalesce(v.turn, 0), coalesce(v.write_count, 0)
		FROM entries e LEFT JOIN run_views v ON v.entry = e.id AND v.run = ?1 WHERE e.path = ?2 AND `
	lookHere   = looked + `e.scope = ?3`
	lookAround = looked + `e.scope IN ` + visibleScopes + ` AND (v.id IS NOT NULL OR e.scope = ?3) ORDER BY v.id IS NULL LIMIT 1`
)

// lookAt changes how much of an entry the run has in sight, and nothing of the entry.
func (t *tx) lookAt(run *sdk.Run, path string, scheme sdk.Scheme, w *sdk.Write, x visibleEntry) (sdk.Entry, error) {
	switch {
	case scheme.Category == sdk.CategoryAudit && w.Writer != sdk.WriterSystem:
		return sdk.Entry{}, sdk.Errorf(sdk.Permission, "%s is of the audit, which no model is shown", path)
	case x.entry == 0, x.view == 0 && run.Private && x.Scope != ownerScope(run.Owner): // what others share is none of its business
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s in this run, its project or everywhere", path)
	case x.view == 0:
		x.State, x.Loop, x.Turn, x.Version = sdk.StateResolved, w.Loop, w.Turn, 1
		if err := t.lastWriter(&x, scheme); err != nil {
			return sdk.Entry{}, err
		}
	}
	if w.Visibility == sdk.Visible && x.Visibility != sdk.Visible && scheme.Promotes() {
		x.Turn = cmp.Or(w.Turn, x.Turn)
	}
	x.Visibility = w.Visibility
	if err := t.putView(run.ID, &x); err != nil {
		return sdk.Entry{}, err
	}
	return x.result(t, path), t.tellSet(run, path, &x, &sdk.Write{Writer: x.Writer, Look: true}, false, nil)
}

// lastWriter is who wrote a shared entry last, as far as views of it tell; else one who may.
func (t *tx) lastWriter(x *visibleEntry, scheme sdk.Scheme) error {
	x.Writer = sdk.WriterSystem
	if len(scheme.WritableBy) > 0 {
		x.Writer = scheme.WritableBy[0]
	}
	_, err := t.one(`SELECT writer FROM run_views WHERE entry = ? ORDER BY updated DESC LIMIT 1`, []any{x.entry}, (*string)(&x.Writer))
	return err
}

// set writes everything but chunks, looks and removals.
func (t *tx) set(run *sdk.Run, path, scope string, w *sdk.Write, attributes patch, x visibleEntry) (sdk.Entry, error) {
	old := x
	x.applyView(w)
	var changed members
	var err error
	if w.Attributes != nil {
		if x.Attributes, changed, err = attributes.apply(old.Attributes); err != nil {
			return sdk.Entry{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	wroteBody := w.Body != nil
	if wroteBody {
		x.Body = *w.Body
		if w.Append {
			x.Body = old.Body + x.Body
		}
	}
	if old.State == sdk.StateStreaming && (wroteBody || x.State != sdk.StateStreaming) {
		folded, err := t.fold(old, wroteBody)
		if err != nil {
			return sdk.Entry{}, err
		}
		if folded != "" {
			x.Body += folded
			wroteBody = true
		}
	}
	if wroteBody || old.entry == 0 {
		x.hash = sha256.Sum256([]byte(x.Body))
	}
	// An entry of a parent run is left as it is; what differs becomes our own.
	inherited := old.entry != 0 && old.Scope != scope
	switch {
	case old.entry == 0, inherited && (x.hash != old.hash || len(changed) > 0 || !x.State.Ended()):
		wroteBody = true
		if inherited {
			if changed, err = parseMembers(x.Attributes); err != nil {
				return sdk.Entry{}, err
			}
		}
		err = t.insertEntry(&x, scope, path)
	case x.hash != old.hash || len(changed) > 0:
		err = t.updateEntry(run, &x, old, scope)
	}
	if err != nil {
		return sdk.Entry{}, err
	}
	if err := t.putView(run.ID, &x); err != nil {
		return sdk.Entry{}, err
	}
	if err := t.tellSet(run, path, &x, w, wroteBody, changed); err != nil {
		return sdk.Entry{}, err
	}
	if sdk.SchemeOf(path) == fileScheme && (x.hash != old.hash || len(changed) > 0) {
		if _, err := t.tellViews(run.Project, run.ID, path, &x, x.hash != old.hash, changed); err != nil {
			return sdk.Entry{}, err
		}
	}
	return x.result(t, path), nil
}

// applyView moves the view's fields to what the write says. An outcome belongs
// to the state it came with, so a new state without one has none.
func (x *visibleEntry) applyView(w *sdk.Write) {
	if x.view == 0 {
		x.State, x.Visibility = sdk.StateResolved, sdk.Visible
	}
	if w.State != "" {
		x.State, x.Outcome = w.State, w.Outcome
	} else if w.Outcome != "" {
		x.Outcome = w.Outcome
	}
	x.Visibility, x.Phase = cmp.Or(w.Visibility, x.Visibility), cmp.Or(w.Phase, x.Phase)
	x.Loop, x.Turn = cmp.Or(w.Loop, x.Loop), cmp.Or(w.Turn, x.Turn)
	x.Writer = w.Writer
	x.Version++
}

// insertEntry gives the entry the seq of the row that tells of it as its id.
func (t *tx) insertEntry(x *visibleEntry, scope, path string) error {
	x.entry, x.Scope, x.created = t.nextID(), scope, t.now.UnixNano()
	b, err := t.storedBody(x, scope)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO entries (id, scope, path, body, answer, starts, bytes, attributes, hash, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		x.entry, scope, path, b.body, b.answer, b.starts, b.bytes, text(x.Attributes), x.hash[:], x.created)
}

func (t *tx) updateEntry(run *sdk.Run, x *visibleEntry, old visibleEntry, scope string) error {
	if scope == runScope(run.ID) {
		if err := t.detach(old.entry, run.ID); err != nil {
			return err
		}
	}
	if x.hash == old.hash {
		return t.exec(`UPDATE entries SET attributes = ? WHERE id = ?`, text(x.Attributes), x.entry)
	}
	b, err := t.storedBody(x, scope)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE entries SET body = ?, answer = ?, starts = ?, bytes = ?, attributes = ?, hash = ? WHERE id = ?`,
		b.body, b.answer, b.starts, b.bytes, text(x.Attributes), x.hash[:], x.entry)
}

func (t *tx) putView(run int64, x *visibleEntry) (err error) {
	if x.view == 0 {
		x.view, err = t.insert(`INSERT INTO run_views (run, entry, loop, turn, state, outcome, phase, visibility, writer, write_count, updated)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			run, x.entry, x.Loop, x.Turn, string(x.State), string(x.Outcome), string(x.Phase), string(x.Visibility), string(x.Writer), x.Version, t.now.UnixNano())
		return err
	}
	return t.exec(`UPDATE run_views SET entry = ?, loop = ?, turn = ?, state = ?, outcome = ?, phase = ?, visibility = ?, writer = ?, write_count = ?, updated = ?
		WHERE id = ?`,
		x.entry, x.Loop, x.Turn, string(x.State), string(x.Outcome), string(x.Phase), string(x.Visibility), string(x.Writer), x.Version, t.now.UnixNano(), x.view)
}

// tellSet writes the journal row of a set.
func (t *tx) tellSet(run *sdk.Run, path string, x *visibleEntry, w *sdk.Write, wroteBody bool, changed members) error {
	c := sdk.EntryChange{State: x.State, Outcome: x.Outcome, Phase: x.Phase, Visibility: x.Visibility, Writer: w.Writer, Look: w.Look}
	if err := describeAttributes(&c, changed, longestIn(x.Scope)); err != nil {
		return err
	}
	e := event{kind: sdk.KindEntrySet, project: run.Project, run: run.ID, loop: x.Loop, turn: x.Turn, path: path, entry: x.entry}
	if wroteBody {
		e.body = &x.hash
	}
	return t.record(e, c)
}

// result is the visibleEntry as callers know it.
func (x *visibleEntry) result(t *tx, path string) sdk.Entry {
	e := x.Entry
	e.Path, e.Hash, e.Created, e.Updated = path, hex.EncodeToString(x.hash[:]), unix(x.created), t.now
	return e
}

// text binds JSON as TEXT, and nothing as NULL.
func text(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return string(b)
}
