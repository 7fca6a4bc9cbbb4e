package store

import (
	"context"
	"encoding/hex"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Kept returns the entries of a project's own scope whose path begins with the
// prefix, by path. They belong to no run: whichever wrote them, and whether it
// still is, makes no difference, and what a run's view adds to an entry is not
// filled in. A directory that is no project has none.
func (s *Store) Kept(ctx context.Context, root, prefix string) ([]sdk.Entry, error) {
	all, err := list(s.reader(ctx), scanKept, `SELECT e.path, e.body, e.attributes, e.scope, e.hash, e.created
		FROM projects p JOIN entries e ON e.scope = 'project:' || p.id
		WHERE p.root = ?1 AND substr(CAST(e.path AS BLOB), 1, ?2) = CAST(?3 AS BLOB) ORDER BY e.path`,
		filepath.Clean(root), len(prefix), prefix)
	return all, explain("reading what is kept for a project", err)
}

func scanKept(scan scanner) (sdk.Entry, error) {
	var e sdk.Entry
	var attributes, hash []byte
	var created int64
	err := scan(&e.Path, &e.Body, &attributes, &e.Scope, &hash, &created)
	e.Attributes, e.Hash, e.Created = attributes, hex.EncodeToString(hash), unix(created)
	return e, err
}
