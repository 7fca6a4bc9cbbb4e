package store

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// usageQuery names the kinds as the index journal_usage does, so that it is used.
const usageQuery = `SELECT time, kind, project, run, data FROM journal
	WHERE kind IN ('turn.closed', 'note.completion') AND time >= ? ORDER BY time`

// Usage gives do what completions used since a time, in its order, without those
// that nothing was answered to. It ends with the first error of do.
func (s *Store) Usage(ctx context.Context, since time.Time, do func(sdk.Used) error) error {
	err := s.query(ctx, usageQuery, []any{unixNano(since)}, func(scan scanner) error {
		var used sdk.Used
		var at int64
		var kind string
		var data []byte
		if err := scan(&at, &kind, &used.Project, &used.Run, &data); err != nil {
			return err
		}
		used.Time = unix(at)
		answered, err := readUsed(kind, data, &used)
		if err != nil || !answered {
			return err
		}
		return do(used)
	})
	return explain("reading what was used", err)
}

// readUsed reads the row of a turn or of what a plugin asked, and reports whether
// anything was answered.
func readUsed(kind string, data []byte, used *sdk.Used) (bool, error) {
	if kind == sdk.KindNoteCompletion {
		var asked sdk.PluginCompletion
		err := json.Unmarshal(data, &asked)
		used.Model, used.Plugin, used.Usage = asked.Model, asked.Plugin, asked.Usage
		return asked.Answered || asked.Usage != nil || asked.Error == "", err
	}
	var turn struct {
		Model  string     `json:"model"`
		Usage  *sdk.Usage `json:"usage"`
		Finish string     `json:"finish"`
	}
	err := json.Unmarshal(data, &turn)
	used.Model, used.Usage = turn.Model, turn.Usage
	return turn.Usage != nil || turn.Finish != "", err
}

// unixNano is a time as rows have it; one that is before or behind all that they can have is
// the beginning or the end of all.
func unixNano(t time.Time) int64 {
	switch seconds := t.Unix(); {
	case seconds < 0:
		return 0
	case seconds >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	}
	return t.UnixNano()
}
