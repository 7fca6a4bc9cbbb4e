package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestCallsBringEntries: what a plugin's call brings is written by the commit that records its end, or the call has failed.
func TestCallsBringEntries(t *testing.T) {
	page := func(path string) sdk.Write {
		return sdk.Write{Path: path, Body: new("the page"), Attributes: []byte(`{"title":"T"}`), Writer: sdk.WriterPlugin, State: sdk.StateResolved}
	}
	for name, c := range map[string]struct {
		writes []sdk.Write
		body   string // of the call
		kept   bool
	}{
		"kept":             {[]sdk.Write{page("https://example.org/a")}, "read", true},
		"none":             {nil, "read", false},
		"a turn's":         {[]sdk.Write{page("https://example.org/a"), page("log://turn_1/x")}, "may not write it", false},
		"not a plugin.s":   {[]sdk.Write{page("https://example.org/a"), page("plan://1")}, "cannot be kept", false},
		"no scheme at all": {[]sdk.Write{page("https://example.org/a"), page("none://a")}, "cannot be kept", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"write", `{"path":"x"}`}, call{"read", `{"path":"x"}`}), say("done"))
			h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				return sdk.ToolResult{Success: true, Output: "read", Writes: c.writes}, nil
			})
			h.start()
			a := h.submit(Submission{Run: "r", Mode: sdk.ModeFull})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			x := h.actions(a.Run.ID)[0]
			if !strings.Contains(x.Body, c.body) || (x.State == sdk.StateResolved) != (c.body == "read") {
				t.Errorf("the call ended %s with %q", x.State, x.Body)
			}
			e, err := h.store.Entry(context.Background(), a.Run.ID, "https://example.org/a")
			if (err == nil) != c.kept || c.kept && (e.Body != "the page" || e.Writer != sdk.WriterPlugin || e.Turn != 1) {
				t.Errorf("the entry is %+v, %v", e, err)
			}
			for _, change := range h.store.changes {
				end, brought := false, false
				for _, w := range change.Writes {
					end = end || w.Path == x.Path && w.Phase == sdk.PhaseEnded
					brought = brought || w.Path == "https://example.org/a"
				}
				if brought && !end {
					t.Error("the entry was written without the end of its call")
				}
			}
		})
	}
}
