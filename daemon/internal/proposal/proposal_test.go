package proposal

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWhatAnAnswerIsBoundTo: whatever of a call changes after it was shown, the
// answer no longer holds, and who reads why is told what it was.
func TestWhatAnAnswerIsBoundTo(t *testing.T) {
	shown := Call{Run: sdk.Run{Key: "k"}, Path: "log://turn_1/t/call", Tool: sdk.Tool{Plugin: "p"}, Arguments: []byte(`{"a":1}`), Project: "/p"}
	bound := sdk.ActionProposal{Digest: "d", Dir: "/p", Mode: sdk.ModeInteractive, Mounts: []string{"m"}, Base: "b", Diff: "x"}
	for name, c := range map[string]struct {
		change func(*sdk.ActionProposal, *Call)
		said   string
	}{
		"nothing":       {func(*sdk.ActionProposal, *Call) {}, ""},
		"the binary":    {func(p *sdk.ActionProposal, _ *Call) { p.Digest = "e" }, "the plugin's binary"},
		"the directory": {func(p *sdk.ActionProposal, _ *Call) { p.Dir = "/q" }, "what it could touch"},
		"a mount":       {func(p *sdk.ActionProposal, _ *Call) { p.Mounts = nil }, "what it could touch"},
		"the network":   {func(p *sdk.ActionProposal, _ *Call) { p.Network = true }, "what it could touch"},
		"the mode":      {func(p *sdk.ActionProposal, _ *Call) { p.Mode = sdk.ModeFull }, "what the run may do"},
		"read only":     {func(p *sdk.ActionProposal, _ *Call) { p.ReadOnly = true }, "what the run may do"},
		"the arguments": {func(_ *sdk.ActionProposal, c *Call) { c.Arguments = []byte(`{"a":2}`) }, "the call itself"},
		"the run":       {func(_ *sdk.ActionProposal, c *Call) { c.Run.Key = "l" }, "the call itself"},
		"the path":      {func(_ *sdk.ActionProposal, c *Call) { c.Path = "log://turn_2/t/call" }, "the call itself"},
		"the plugin":    {func(_ *sdk.ActionProposal, c *Call) { c.Tool.Plugin = "q" }, "the call itself"},
		"the project":   {func(_ *sdk.ActionProposal, c *Call) { c.Project = "/q" }, "the call itself"},
		"the diff":      {func(p *sdk.ActionProposal, _ *Call) { p.Diff = "y" }, "the call itself"},
	} {
		t.Run(name, func(t *testing.T) {
			agreed, now, call := bound, bound, shown
			c.change(&now, &call)
			if err := Seal(&agreed, shown); err != nil {
				t.Fatal(err)
			}
			if err := Seal(&now, call); err != nil {
				t.Fatal(err)
			}
			err := Holds(agreed, now)
			if (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(), c.said+" changed meanwhile") {
				t.Errorf("said %v", err)
			}
		})
	}
}
