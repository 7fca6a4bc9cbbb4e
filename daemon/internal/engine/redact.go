package engine

import "github.com/bothyd/bothy/daemon/internal/stream"

func (e *Engine) redacting() stream.Pieces {
	if e.cfg.Redacting == nil {
		return unredacted{}
	}
	return e.cfg.Redacting()
}

// unredacted passes a text on as it is.
type unredacted struct{}

func (unredacted) Write(piece string) string { return piece }
func (unredacted) End() string               { return "" }

// streams is where what comes piece by piece goes.
func (e *Engine) streams() stream.To {
	return stream.To{Commit: e.Commit, Redacting: e.redacting, Log: e.log}
}
