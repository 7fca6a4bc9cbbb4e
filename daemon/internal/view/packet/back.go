package packet

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// back is what comes back into sight with a summary that was taken out of it: what was said in loops behind one, until another.
type back struct{ behind, until int64 }

// comesBack finds it among the entries of a run. A summary that is in sight still stands for what was said before it.
func comesBack(entries []sdk.Entry) (b back) {
	for i := range entries {
		e := &entries[i]
		if !strings.HasPrefix(e.Path, sdk.SummaryScheme+"://") {
			continue
		}
		var s sdk.Summary
		switch {
		case json.Unmarshal(e.Attributes, &s) != nil:
		case e.Visibility == sdk.Archived:
			b.until = max(b.until, s.Loop)
		default:
			b.behind = max(b.behind, s.Loop)
		}
	}
	return b
}

// level is the level of an entry in the packet.
func (b back) level(e *sdk.Entry) sdk.Visibility {
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
