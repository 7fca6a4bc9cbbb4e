package delegate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Done is how the work of a child ended.
type Done struct {
	Child  sdk.ActionChild
	Loop   sdk.Loop          // as it ended
	Answer string            // what its last answer says beside calls, or what the terminal call said that ended it
	Result json.RawMessage   // what it handed over by finish_task; nil is nothing
	Said   *sdk.ActionAnswer // of a person who rejected a call of it, and ended it so
}

// Outcome is that of a call whose child came to no result.
const Outcome = sdk.Unfinished

// End is what the end of a child means for the call that delegated to it.
func End(d Done) sdk.ToolResult {
	meta := map[string]any{"run": d.Child.Alias, "agent": d.Child.Agent}
	if sdk.StopExit(d.Loop.Stop, d.Loop.Status) == sdk.ExitOK && d.Loop.Stop != sdk.StopRejected {
		r := sdk.ToolResult{Success: true, Output: d.Answer, Structured: d.Result, Metadata: meta}
		if d.Result != nil {
			r.Output = string(d.Result)
		}
		if strings.TrimSpace(r.Output) == "" {
			r.Output = fmt.Sprintf("%s ended its work without a word", d.Child.Agent)
		}
		return r
	}
	r := sdk.ToolResult{Outcome: Outcome, Metadata: meta}
	why := strings.TrimRight(sdk.Excerpt(d.Loop.Reason), ".")
	switch {
	case d.Loop.Stop == sdk.StopRejected && d.Said != nil:
		r.Outcome = sdk.Permission
		r.Error = fmt.Sprintf("a person rejected a call of %s (run %s), so its work ended", d.Child.Agent, d.Child.Alias)
	default:
		r.Error = fmt.Sprintf("%s (run %s) came to no result: %s", d.Child.Agent, d.Child.Alias, why)
	}
	r.Output = r.Error
	if last := strings.TrimSpace(d.Answer); last != "" {
		r.Output += "\n\nThe last that it wrote:\n" + last
	}
	return r
}
