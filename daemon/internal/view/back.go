package view

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Back is what comes back into sight with a summary that was taken out of it: what was said in loops behind one, until another.
type Back struct{ behind, until int64 }

// ComesBack finds it among the entries of a run. A summary that is in sight still stands for what was said before it.
func ComesBack(entries []sdk.Entry) (b Back) {
	for i := range entries {
		e := &entries[i]
		if !strings.HasPrefix(e.Path, sdk.SummaryScheme+"://") {
			continue
		}
		var s sdk.Summary
		switch {
		case e.Writer != sdk.WriterSystem, json.Unmarshal(e.Attributes, &s) != nil:
		case e.Visibility == sdk.Archived:
			b.until = max(b.until, s.Loop)
		default:
			b.behind = max(b.behind, s.Loop)
		}
	}
	return b
}

// Level is the level at which an entry is shown.
func (b Back) Level(e *sdk.Entry) sdk.Visibility {
	if e.Visibility != sdk.Archived || e.Loop <= b.behind || e.Loop > b.until {
		return e.Visibility
	}
	switch e.Scheme() {
	case "prompt", "log", "update":
		return sdk.Visible
	case sdk.ToolSh, sdk.ToolEnv:
		return sdk.Summarized
	}
	return e.Visibility
}
