package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestListsAreLists: an answer has each of its lists, and none is null, however
// little there is to say.
func TestListsAreLists(t *testing.T) {
	h := open(t, nil)
	c := h.enter(t, rpc.RoleAdmin)
	for _, x := range []struct {
		method, params string
		lists          []string
	}{
		{rpc.MethodStatus, `{}`, []string{"plugins", "problems"}},
		{rpc.MethodReload, `{}`, []string{"changes", "diagnostics"}},
		{rpc.MethodPluginLoad, `{"instance":"x"}`, []string{"diagnostics"}},
		{rpc.MethodModels, `{}`, []string{"models", "problems"}},
		{rpc.MethodUsage, `{}`, []string{"rows"}},
		{rpc.MethodLogin, `{"of":"K","key":"x"}`, []string{"used_by", "warnings", "problems"}},
		{rpc.MethodLogout, `{"of":"K"}`, []string{"from", "problems"}},
		{rpc.MethodKeys, `{}`, []string{"keys"}},
		{rpc.MethodRun, `{"run":"7"}`, []string{"forks", "loops", "turns", "history", "notes"}},
		{rpc.MethodJournal, `{"run":"7"}`, []string{"rows"}},
		{rpc.MethodEntries, `{"run":"7"}`, []string{"entries"}},
	} {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", x.method, x.params))
		var answer map[string]json.RawMessage
		if m := c.answer(); m.Error != nil || json.Unmarshal(m.Result, &answer) != nil {
			t.Fatalf("%s: %+v", x.method, m.Error)
		}
		for _, list := range x.lists {
			if !strings.HasPrefix(string(answer[list]), "[") {
				t.Errorf("%s has %q as %s", x.method, answer[list], list)
			}
		}
	}
	for _, p := range wholePlugins([]rpc.Plugin{{Instance: "never ran"}}) {
		if p.Kinds == nil || p.Tools == nil {
			t.Errorf("%+v", p)
		}
	}
}
