package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// fileScheme is that of bare paths: the files of a project.
const fileScheme = "file"

// dropOldFile drops the view that a run has of a file of before files were the project's.
const dropOldFile = `DELETE FROM run_views WHERE run = ?1 AND entry IN (SELECT e.id FROM entries e WHERE e.path = ?2 AND e.scope <> ?3 AND e.scope IN ` + visibleScopes + `)`

func projectScope(project int64) string { return fmt.Sprintf("project:%d", project) }

// ProjectFiles returns the entries of a project's files, by path, without their bodies.
func (s *Store) ProjectFiles(ctx context.Context, project int64) ([]sdk.ProjectFile, error) {
	return s.projectFiles(ctx, `e.scope = ?1`, projectScope(project))
}

// ProjectFile returns that of one file; false is that there is none.
func (s *Store) ProjectFile(ctx context.Context, project int64, path string) (sdk.ProjectFile, bool, error) {
	all, err := s.projectFiles(ctx, `e.scope = ?1 AND e.path = ?2`, projectScope(project), path)
	if err != nil || len(all) == 0 {
		return sdk.ProjectFile{}, false, err
	}
	return all[0], true, nil
}

func (s *Store) projectFiles(ctx context.Context, where string, args ...any) ([]sdk.ProjectFile, error) {
	scan := func(scan scanner) (f sdk.ProjectFile, err error) {
		var attributes []byte
		if err = scan(&f.Path, &attributes, &f.InSight); err == nil && len(attributes) > 0 {
			err = json.Unmarshal(attributes, &f.FileFacts)
		}
		return f, err
	}
	all, err := list(s.reader(ctx), scan, `SELECT e.path, e.attributes, EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id AND v.visibility = 'visible')
		FROM entries e WHERE `+where+` AND e.scheme = 'file' ORDER BY e.path`, args...)
	return all, explain("reading the files of a project", err)
}

// PutFiles makes the entries of files what a look at them told, in one commit. What is so already costs no
// row of the journal, and nothing at all when nothing differs. The runs that have a file in view are told in
// their journals, and else the project's; an entry whose file went goes with all views of it. A file whose path
// holds a secret is left as it is: it gets no entry, and the others do; so is one that a run has in sight and no text is given for.
func (s *Store) PutFiles(ctx context.Context, project int64, files []sdk.FileWrite) error {
	clean := make([]sdk.FileWrite, 0, len(files))
	for _, f := range files {
		path, scheme, err := parsePath(f.Path)
		if err == nil && scheme != fileScheme {
			err = sdk.Errorf(sdk.Validation, "%s is no path of a file", path)
		}
		if err != nil {
			return err
		}
		if s.redactor.Redact(path) != path {
			continue
		}
		if f.Text != nil {
			f.Text = new(s.redactor.Redact(*f.Text))
		}
		clean = append(clean, f)
	}
	return s.update(ctx, "keeping what files a project has", func(t *tx) error {
		for i := range clean {
			if err := t.putFile(project, &clean[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) putFile(project int64, f *sdk.FileWrite) error {
	var x visibleEntry
	var hash []byte
	seen := false
	x.State, x.Visibility = sdk.StateResolved, sdk.Archived
	x.Scope = projectScope(project)
	_, err := t.one(`SELECT e.id, e.attributes, e.hash, e.created, EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id AND v.visibility = 'visible')
		FROM entries e WHERE e.scope = ? AND e.path = ?`, []any{x.Scope, f.Path}, &x.entry, (*[]byte)(&x.Attributes), &hash, &x.created, &seen)
	if err != nil {
		return err
	}
	copy(x.hash[:], hash)
	if f.Facts == nil {
		return t.dropFile(project, f.Path, x.entry)
	}
	old := x
	var changed members
	if x.Attributes, changed, err = mergeAttributes(old.Attributes, f.Facts.Patch()); err != nil {
		return err
	}
	if old.entry == 0 {
		x.hash = sha256.Sum256(nil)
		if err := t.insertEntry(&x, x.Scope, f.Path); err != nil {
			return err
		}
		return t.tellProject(project, f.Path, &x, true, changed)
	}
	if seen && f.Text == nil { // it came into sight since it was looked at: the next look brings facts and text together
		return nil
	}
	if seen {
		x.Body = *f.Text
		x.hash = sha256.Sum256([]byte(x.Body))
	}
	if x.hash == old.hash && len(changed) == 0 {
		return nil
	}
	if x.hash == old.hash {
		err = t.exec(`UPDATE entries SET attributes = ? WHERE id = ?`, text(x.Attributes), x.entry)
	} else {
		err = t.exec(`UPDATE entries SET body = ?, attributes = ?, hash = ? WHERE id = ?`, x.Body, text(x.Attributes), x.hash[:], x.entry)
	}
	if err != nil {
		return err
	}
	told, err := t.tellViews(project, 0, f.Path, &x, x.hash != old.hash, changed)
	if err != nil || told {
		return err
	}
	return t.tellProject(project, f.Path, &x, x.hash != old.hash, changed)
}

// tellProject writes the row of a change that no run has in view.
func (t *tx) tellProject(project int64, path string, x *visibleEntry, wroteBody bool, changed members) error {
	return t.tellSet(&sdk.Run{Project: project}, path, x, &sdk.Write{Writer: sdk.WriterSystem}, wroteBody, changed)
}

// fileView is how a run sees the entry of a file.
type fileView struct {
	run int64
	visibleEntry
}

func (t *tx) fileViews(entry int64) (views []fileView, err error) {
	err = t.query(`SELECT run, id, state, outcome, visibility, writer FROM run_views WHERE entry = ? ORDER BY id`, []any{entry}, func(scan scanner) error {
		var v fileView
		err := scan(&v.run, &v.view, (*string)(&v.State), (*string)(&v.Outcome), (*string)(&v.Visibility), (*string)(&v.Writer))
		views = append(views, v)
		return err
	})
	return views, err
}

// tellViews writes a row for each run but one that has an entry of the project in view, so that who follows
// the run reads it again. It reports whether there was any.
func (t *tx) tellViews(project, but int64, path string, x *visibleEntry, wroteBody bool, changed members) (told bool, err error) {
	views, err := t.fileViews(x.entry)
	if err != nil {
		return false, err
	}
	for _, v := range views {
		if v.run == but {
			continue
		}
		told = true
		v.entry, v.hash = x.entry, x.hash // of no loop and no turn: it is no work of the run's
		if err := t.tellSet(&sdk.Run{ID: v.run, Project: project}, path, &v.visibleEntry, &sdk.Write{Writer: sdk.WriterSystem}, wroteBody, changed); err != nil {
			return told, err
		}
	}
	return told, nil
}

// dropFile removes the entry of a file that went, with all views of it.
func (t *tx) dropFile(project int64, path string, entry int64) error {
	if entry == 0 {
		return nil
	}
	views, err := t.fileViews(entry)
	if err != nil {
		return err
	}
	gone := map[string]sdk.Writer{"writer": sdk.WriterSystem}
	for _, v := range views {
		if err := t.exec(`DELETE FROM run_views WHERE id = ?`, v.view); err != nil {
			return err
		}
		e := event{kind: sdk.KindEntryRemoved, project: project, run: v.run, path: path}
		if err := t.record(e, gone); err != nil {
			return err
		}
	}
	if err := t.exec(`DELETE FROM entries WHERE id = ?`, entry); err != nil || len(views) > 0 {
		return err
	}
	return t.record(event{kind: sdk.KindEntryRemoved, project: project, path: path}, gone)
}
