package engine

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestUntold: an action says when it may have changed files that its result does
// not tell of.
func TestUntold(t *testing.T) {
	for name, c := range map[string]struct {
		tool  string
		cut   bool // a daemon ends while the call runs
		fault error
		want  bool
	}{
		"made":             {tool: "put"},
		"made again":       {tool: "put", cut: true, want: true},
		"interrupted":      {tool: "write", cut: true, want: true},
		"read again":       {tool: "read", cut: true},
		"crashed":          {tool: "write", fault: sdk.Errorf(sdk.PluginCrashed, "gone"), want: true},
		"a read crashed":   {tool: "read", fault: sdk.Errorf(sdk.PluginCrashed, "gone")},
		"refused its call": {tool: "write", fault: sdk.Errorf(sdk.Validation, "no")},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{c.tool, `{"path":"a"}`}))
			h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
			h.start()
			begun := make(chan struct{}, 1)
			switch {
			case c.cut:
				h.tools.on(c.tool, waiting(begun))
			case c.fault != nil:
				h.tools.on(c.tool, func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
					return sdk.ToolResult{}, c.fault
				})
			}
			a := h.submit(Submission{})
			if c.cut {
				<-begun
				h.cut()
				h.tools.on(c.tool, nil)
				h.start()
			}
			h.await(a)
			var at sdk.ActionEnd
			if err := json.Unmarshal(h.actions(a.Run.ID)[0].Attributes, &at); err != nil || at.Untold != c.want {
				t.Errorf("untold is %v, %v", at.Untold, err)
			}
		})
	}
}
