package engine

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// say tells of the notes of a change that are meant for people, as clients are told them.
func (e *Engine) say(ctx context.Context, c sdk.Change) {
	if len(c.Notes) == 0 || !e.cfg.Hooks.UIRender.Active() && !e.cfg.Hooks.UINotify.Active() {
		return
	}
	run, err := e.cfg.Store.Run(ctx, c.Run)
	if err != nil {
		e.log.Warn("nobody is told of a note", "run", c.Run, "error", err)
		return
	}
	for _, n := range c.Notes {
		level, said := sdk.NoteLevel(n.Kind)
		var data struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(encode(n.Data), &data) // a note of another shape says nothing here
		switch notice := (sdk.Notice{Project: run.Project, Run: run.ID, Text: e.cfg.Redact(data.Message)}); {
		case !said || notice.Text == "":
		case level == "":
			e.cfg.Hooks.UIRender.Emit(ctx, notice)
		default:
			notice.Level = level
			e.cfg.Hooks.UINotify.Emit(ctx, notice)
		}
	}
}
