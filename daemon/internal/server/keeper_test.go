package server

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAChannelKeepsEntries of its own schemes, by their paths alone, and nothing else is reached that way. What it keeps
// is not sent to it as rows, and is no run that it works in.
func TestAChannelKeepsEntries(t *testing.T) {
	h := openChannel(t, "/p/one")
	h.store.found(sdk.Project{ID: 3, Root: "/state/channels/chat"}, sdk.Run{ID: 19, Project: 3, Alias: "tools-of-0", Hidden: true, Origin: sdk.Origin{Owner: "chat", Channel: "chat"}})
	c, text := h.channel(t), "42"
	for name, try := range map[string]struct {
		method string
		params any
		kept   bool
	}{
		"set":                   {rpc.MethodSet, rpc.Set{Path: "chat://offset", Body: &text}, true},
		"get":                   {rpc.MethodGet, rpc.Get{Path: "chat://offset"}, true},
		"a list":                {rpc.MethodEntries, rpc.EntriesParams{Pattern: "chat://**"}, true},
		"rm":                    {rpc.MethodRemove, rpc.Remove{Path: "chat://sent/*"}, true},
		"mv":                    {rpc.MethodMove, rpc.Move{Path: "chat://a", To: "chat://b"}, true},
		"another scheme":        {rpc.MethodSet, rpc.Set{Path: "known://offset", Body: &text}, false},
		"all":                   {rpc.MethodEntries, rpc.EntriesParams{}, false},
		"all of any scheme":     {rpc.MethodEntries, rpc.EntriesParams{Pattern: "**"}, false},
		"to another scheme":     {rpc.MethodCopy, rpc.Move{Path: "chat://a", To: "known://b"}, false},
		"from another scheme":   {rpc.MethodCopy, rpc.Move{Path: "known://a", To: "chat://b"}, false},
		"a file":                {rpc.MethodSet, rpc.Set{Path: "chat", Body: &text}, false},
		"the run where it does": {rpc.MethodEntries, rpc.EntriesParams{Run: "19"}, false},
	} {
		before := len(h.engine.deeds())
		err := c.Call(t.Context(), try.method, try.params, nil)
		done := h.engine.deeds()[before:]
		if try.kept != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if !try.kept && len(done) > 0 {
			t.Errorf("%s did %v", name, done)
		}
	}
	h.store.commit(sdk.JournalRow{Kind: "kept", Run: 19, Project: 3}, sdk.JournalRow{Kind: "own", Run: 7, Project: 1})
	var page rpc.JournalPage
	if err := c.Call(t.Context(), rpc.MethodJournal, nil, &page); err != nil || slices.ContainsFunc(page.Rows, func(r sdk.JournalRow) bool { return r.Run == 19 }) {
		t.Errorf("it is told %+v, %v", page.Rows, err)
	}
}
