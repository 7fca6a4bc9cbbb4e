package store

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// appendChunk adds to a stream. It touches neither the entry nor its view, so
// that appending costs the chunk and not what came before it.
func (t *tx) appendChunk(run *sdk.Run, path string, w *sdk.Write, x visibleEntry) (sdk.Entry, error) {
	if x.view == 0 {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s in this run to append to", path)
	}
	if x.State != sdk.StateStreaming {
		return sdk.Entry{}, sdk.Errorf(sdk.Conflict, "%s is %s; only a streaming entry can be appended to", path, x.State)
	}
	if err := t.exec(`INSERT INTO chunks (seq, entry, channel, text) VALUES (?, ?, ?, ?)`, t.nextID(), x.entry, w.Chunk.Channel, w.Chunk.Text); err != nil {
		return sdk.Entry{}, err
	}
	sum := sha256.Sum256([]byte(w.Chunk.Text))
	e := event{kind: sdk.KindEntryChunk, project: run.Project, run: run.ID, loop: x.Loop, turn: x.Turn, path: path, entry: x.entry, body: &sum}
	return x.result(t, path), t.record(e, map[string]int{"channel": w.Chunk.Channel})
}

// Chunks returns what was appended to a stream that has not ended, in order;
// none for any other entry.
func (s *Store) Chunks(ctx context.Context, run int64, path string) ([]sdk.Chunk, error) {
	path, _, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	all, err := list(s.reader(ctx), scanChunk, `SELECT c.channel, c.text FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
		JOIN chunks c ON c.entry = e.id WHERE e.path = ?2 AND e.scope IN `+visibleScopes+` ORDER BY c.seq`, run, path)
	return all, explain("reading the stream "+path, err)
}

func scanChunk(scan scanner) (c sdk.Chunk, err error) {
	err = scan(&c.Channel, &c.Text)
	return c, err
}

// fold drops an entry's chunks and returns their text, unless a body was
// written, which stands for them.
func (t *tx) fold(x visibleEntry, wroteBody bool) (string, error) {
	var all strings.Builder
	some := false
	err := t.query(`SELECT text FROM chunks WHERE entry = ? ORDER BY seq`, []any{x.entry}, func(scan scanner) error {
		var s string
		err := scan(&s)
		some = true
		if !wroteBody {
			all.WriteString(s)
		}
		return err
	})
	if err != nil || !some {
		return "", err
	}
	return all.String(), t.exec(`DELETE FROM chunks WHERE entry = ?`, x.entry)
}
