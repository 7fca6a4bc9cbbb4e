package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/sdk"
)

// TestPluginsKeepFactsShort holds what a plugin writes without a verb, by a service or with its call, to the size of a fact.
func TestPluginsKeepFactsShort(t *testing.T) {
	fact := func(length int) []sdk.Write {
		return []sdk.Write{{Path: "known://fact", Body: new(strings.Repeat("x", length)), Writer: sdk.WriterPlugin, State: sdk.StateResolved}}
	}
	for _, length := range []int{20, 21} {
		h := prepareHouse(t, calls(call{"read", `{"path":"x"}`}, call{"write", `{"path":"x"}`}), say("done"))
		h.withVerbs()
		h.config.Verbs.(*builtin.Verbs).Bounded(func() int { return 10 })
		h.tools.on("read", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
			_, err := h.config.Services.Write(ctx, caller(c), fact(length))
			if (err == nil) != (length == 20) || err != nil && sdk.OutcomeOf(err) != sdk.Overflow {
				t.Errorf("%d characters: %v", length, err)
			}
			return sdk.ToolResult{Success: true}, nil
		})
		h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{Success: true, Writes: fact(length)}, nil
		})
		h.start()
		a := h.submit(Submission{Run: "r", Mode: sdk.ModeFull})
		h.await(a)
		if x := h.actions(a.Run.ID)[1]; (x.State == sdk.StateResolved) != (length == 20) || length > 20 && !strings.Contains(x.Body, "one fact in each") {
			t.Errorf("%d characters: the call that brings them ended %s with %q", length, x.State, x.Body)
		}
	}
}
