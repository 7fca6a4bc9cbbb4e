package guard

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestDelegationsAreTheDaemonsOwn: a tool of a plugin that is called delegate gives no task to anybody.
func TestDelegationsAreTheDaemonsOwn(t *testing.T) {
	own, other := madeCall{tool: sdk.ToolDelegate, plugin: sdk.OwnPlugin}, madeCall{tool: sdk.ToolDelegate, plugin: "p"}
	g := &children{account: &account{most: 1}}
	for i, c := range []struct {
		call    madeCall
		refused bool
	}{{other, false}, {other, false}, {own, false}, {own, true}, {other, false}} {
		if got := g.screen(c.call).refusal != ""; got != c.refused {
			t.Errorf("call %d is refused: %t", i, got)
		}
	}
	g.take(&judged{actions: []sdk.Action{{ActionCall: sdk.ActionCall{Tool: sdk.ToolDelegate, Plugin: "p"}, State: sdk.StateCancelled}}})
	if _, why := g.stop(); why != "" {
		t.Errorf("it ends the work: %s", why)
	}
}
