package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of what Bodies has in memory at once, beside one body of any size.
const (
	bodiesAtOnce = 256
	bytesAtOnce  = 1 << 20
)

// errEnough ends a reading of bodies that goes on behind.
var errEnough = errors.New("enough for now")

// Bodies reads the bodies of entries of a run, with what it shares and has no view of, some at a time, and gives
// each to use in the order of the paths, which are sorted. Others have the connection meanwhile. What is not
// there any more is left out; an error of use ends it.
func (s *Store) Bodies(ctx context.Context, run int64, paths []string, use func(path, body string) error) error {
	for len(paths) > 0 {
		some := paths[:min(len(paths), bodiesAtOnce)]
		found, err := s.bodies(ctx, run, some)
		if err != nil {
			return explain("reading the bodies of entries", err)
		}
		for _, e := range found.all {
			if err := use(e.Path, e.Body); err != nil {
				return err
			}
		}
		if !found.whole {
			last := found.all[len(found.all)-1].Path
			for len(paths) > 0 && paths[0] <= last {
				paths = paths[1:]
			}
			continue
		}
		paths = paths[len(some):]
	}
	return nil
}

// someBodies are the first of some paths, or all.
type someBodies struct {
	all   []sdk.Entry
	whole bool
}

func (s *Store) bodies(ctx context.Context, run int64, paths []string) (found someBodies, err error) {
	list, err := json.Marshal(paths)
	if err != nil {
		return found, err
	}
	size := 0
	err = s.query(ctx, `SELECT e.path, `+bodyColumn+`
		FROM json_each(?2) j CROSS JOIN entries e ON e.path = j.value LEFT JOIN run_views v ON v.entry = e.id AND v.run = ?1
		WHERE e.scope IN `+visibleScopes+` AND (v.id IS NOT NULL OR e.scope IN (`+sharedWith+`))`, // in the order of the list, with nothing to sort
		[]any{run, string(list)}, func(scan scanner) error {
			var e sdk.Entry
			if err := scan(&e.Path, &e.Body); err != nil {
				return err
			}
			if n := len(found.all); n > 0 && found.all[n-1].Path == e.Path {
				return nil
			}
			found.all = append(found.all, e)
			if size += len(e.Body); size > bytesAtOnce {
				return errEnough
			}
			return nil
		})
	if errors.Is(err, errEnough) {
		return found, nil
	}
	found.whole = err == nil
	return found, err
}
