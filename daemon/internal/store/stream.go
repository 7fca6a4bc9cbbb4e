package store

import (
	"context"
	"crypto/sha256"

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
	return x.result(t, path), t.record(e, struct {
		Channel int `json:"channel"`
	}{w.Chunk.Channel})
}

// Chunks returns what was appended to a stream that has not ended, in order;
// none for any other entry.
func (s *Store) Chunks(ctx context.Context, run int64, path string) ([]sdk.Chunk, error) {
	path, _, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	scanChunk := func(scan scanner) (c sdk.Chunk, err error) {
		err = scan(&c.Channel, &c.Text)
		return c, err
	}
	all, err := list(s.reader(ctx), scanChunk, `SELECT c.channel, c.text FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
		JOIN chunks c ON c.entry = e.id WHERE e.path = ?2 AND e.scope IN `+visibleScopes+` ORDER BY c.seq`, run, path)
	return all, explain("reading the stream "+path, err)
}

const streamingQuery = `SELECT v.run, ` + briefColumns + ` FROM run_views v CROSS JOIN entries e ON e.id = v.entry AND e.scheme IN ('sh', 'env')
	CROSS JOIN runs r ON r.id = v.run AND r.deleted IS NULL WHERE v.state = 'streaming' AND v.phase = '' ORDER BY v.id`

// Streaming returns the entries of the schemes sh and env that have not ended, of all runs, without their
// bodies: what commands printed of which nobody has told the end.
func (s *Store) Streaming(ctx context.Context) ([]sdk.EntryEvent, error) {
	all, err := list(s.reader(ctx), scanEvent, streamingQuery)
	return all, explain("reading the output of commands", err)
}

// fold drops an entry's chunks and returns their text, unless a body was
// written, which stands for them.
func (t *tx) fold(x visibleEntry, wroteBody bool) (string, error) {
	var all string
	if !wroteBody {
		if _, err := t.one(`SELECT coalesce(group_concat(text, '' ORDER BY seq), '') FROM chunks WHERE entry = ?`, []any{x.entry}, &all); err != nil {
			return "", err
		}
	}
	return all, t.exec(`DELETE FROM chunks WHERE entry = ?`, x.entry)
}
