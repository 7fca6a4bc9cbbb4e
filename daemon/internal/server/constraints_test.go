package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestStore: what is said of files is the project's, and what is out of sight the run's; get says it too, before it reads.
func TestStore(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), t.Context()
	for _, x := range []struct {
		p          rpc.Store
		does, text string
	}{
		{rpc.Store{Path: "vendor", Project: "/p/one", Persist: true}, `constrain /p/one vendor "add"`, ""},
		{rpc.Store{Path: "vendor", Project: "/p/one", Ignore: true}, `constrain /p/one vendor "ignore"`, ""},
		{rpc.Store{Path: "vendor", Run: "8", Clear: true}, `constrain /p/two vendor ""`, `8 {"verb":"set","path":"vendor","visibility":"archived"}`},
		{rpc.Store{Path: "*.go", Run: "seven", Project: "/p/one"}, "", `7 {"verb":"set","path":"*.go","visibility":"archived"}`},
	} {
		before := len(h.engine.deeds())
		done, err := c.StoreFiles(ctx, x.p)
		if err != nil || done.Text != x.text || (done.Scanned != nil) != (x.does != "") {
			t.Errorf("%+v: %+v, %v", x.p, done, err)
		}
		if did := strings.Join(h.engine.deeds()[before:], ", "); did != x.does {
			t.Errorf("%+v did %q, want %q", x.p, did, x.does)
		}
	}
	for _, p := range []rpc.Store{{Path: "a", Project: "/p/one"}, {Path: "a", Project: "/p/one", Persist: true, Ignore: true}, {Path: "a", Persist: true}, {Path: "a", Run: "seven"}} {
		if done, err := c.StoreFiles(ctx, p); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%+v: %+v, %v", p, done, err)
		}
	}

	if done, err := c.GetEntry(ctx, rpc.Get{Run: "7", Path: "a.go", ReadOnly: true, Persist: true}); err != nil || done.Text != `7 {"verb":"get","path":"a.go"}` {
		t.Errorf("get: %+v, %v", done, err)
	}
	if did := h.engine.deeds(); did[len(did)-1] != `constrain /p/one a.go "readonly"` {
		t.Errorf("get did %q", did)
	}
}

// TestStoreIsAnOperators: what a project makes of its files, only who may approve says, by whichever method.
func TestStoreIsAnOperators(t *testing.T) {
	h := openWeb(t, nil)
	p := h.begin(t, rpc.RoleSubmit)
	for _, call := range [][2]string{
		{"store", `{"path":"a","project":"/p/one","persist":true}`}, {"store", `{"path":"a","project":"/p/one","ignore":true}`}, {"store", `{"path":"a","project":"/p/one","clear":true}`},
		{"get", `{"run":"7","path":"a","persist":true}`}, {"get", `{"run":"7","path":"a","readonly":true}`},
	} {
		if m := p.call(call[0], call[1]); m["error"] == nil {
			t.Errorf("%v: %v", call, m)
		}
	}
	if m := p.call("store", `{"path":"a","run":"7"}`); m["error"] != nil {
		t.Errorf("what a run sees: %v", m)
	}
	if slices.ContainsFunc(h.engine.deeds(), func(d string) bool { return strings.HasPrefix(d, "constrain") }) {
		t.Errorf("it did %v", h.engine.deeds())
	}
}
