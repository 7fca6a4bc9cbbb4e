package audit

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// endLines tell how a loop ended and what came of it.
func (r *Runlogs) endLines(ctx context.Context, row sdk.JournalRow) ([]line, error) {
	var end sdk.LoopEnd
	if json.Unmarshal(row.Data, &end) != nil {
		end.Reason = "the row that tells of the end cannot be read"
	}
	turns, err := r.cfg.Store.LoopTurns(ctx, row.Run, row.Loop)
	if err != nil {
		return nil, err
	}
	p := payload{"status": end.Status, "stop": end.Stop, "turns": len(turns), "final": nil, "reason": end.Reason}
	var actions []sdk.Entry
	if len(turns) > 0 {
		last := turns[len(turns)-1]
		if actions, err = r.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: row.Run, Pattern: sdk.TurnPattern(last)}); err != nil {
			return nil, err
		}
		final, err := r.final(ctx, row.Run, last, end.Stop, actions)
		if err != nil {
			return nil, err
		}
		if len(final) > 0 {
			p["final"] = final
		}
	}
	var lines []line
	if sdk.StopRepeats(end.Stop) { // what agent-fabric calls a detected loop
		d := payload{"guard": end.Stop, "reason": p["reason"]}
		for _, entry := range actions {
			if entry.State == sdk.StateCancelled {
				d["tool"] = toolOf(entry.Path)
			}
		}
		lines = append(lines, r.newLine(row, kindLoopDetected, d))
	}
	kind := kindRunFailed
	if end.Status == sdk.StatusOK || end.Status == sdk.StatusNoContent {
		kind = kindRunComplete
	}
	return append(lines, r.newLine(row, kind, p)), nil
}

// final is what the loop ended with: the answer of its last turn, and the call
// that ended it, if one did.
func (r *Runlogs) final(ctx context.Context, run int64, turn int, stop string, actions []sdk.Entry) (payload, error) {
	p := payload{}
	path := sdk.ReplyPath(turn)
	answer, err := r.cfg.Store.Entry(ctx, run, path)
	switch {
	case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
		return nil, err
	case err == nil && sdk.SaidIn(answer) != "":
		p["path"], p["text"] = path, sdk.SaidIn(answer)
		if answer.State != sdk.StateResolved {
			p["partial"] = true
		}
	}
	if stop != sdk.StopTerminal {
		return p, nil
	}
	for _, entry := range actions {
		at, err := sdk.ActionOf(entry)
		if entry.State != sdk.StateResolved || err != nil || at.Parent != "" {
			continue
		}
		p["tool"], p["call"], p["args"] = toolOf(entry.Path), entry.Path, at.Arguments // the last one that was made
	}
	return p, nil
}
