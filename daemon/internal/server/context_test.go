package server

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestContextAndInstructions of a run: by its last whole answer, and the newest state of
// each file.
func TestContextAndInstructions(t *testing.T) {
	h := open(t, nil)
	entry := func(path, attributes string) sdk.Entry {
		return sdk.Entry{Path: path, State: sdk.StateResolved, Attributes: json.RawMessage(attributes)}
	}
	result := entry("log://turn_1/read/x", `{"tool":"read","instructions":[{"file":"sub/AGENTS.md","text":"tabs"}]}`)
	result.Phase = sdk.PhaseEnded
	half := entry("assistant://3", `{"usage":{"prompt":9000},"context":10000}`)
	half.State = sdk.StateFailed
	h.store.entries = []sdk.Entry{
		entry(sdk.SystemTextPath("ab"), `{"instructions":[{"file":"OLD.md"}]}`), entry(sdk.SystemTextPath("cd"), `{"of":"skills"}`),
		entry(sdk.SystemTextPath("ef"), `{"instructions":[{"file":"AGENTS.md","user":true},{"file":"AGENTS.md","untrusted":true}]}`),
		entry("assistant://1", `{"usage":{"prompt":3000,"completion":500},"context":10000}`), result,
		entry("assistant://2", `{"usage":{"prompt":4000,"completion":1000},"context":10000}`), half,
	}
	for _, c := range []struct {
		last string
		want *rpc.ContextUse
	}{
		{`{}`, &rpc.ContextUse{Tokens: 5000, Limit: 10000, Share: 0.5}},
		{`{"usage":{"prompt":11000,"completion":1},"context":10000}`, &rpc.ContextUse{Tokens: 11001, Limit: 10000, Share: 1}},
		{`{"estimate":100}`, &rpc.ContextUse{Tokens: 100, Estimated: true}},
	} {
		all := h.store.entries
		h.store.entries = append(all[:len(all):len(all)], entry("assistant://4", c.last))
		d, err := h.client(t).Run(context.Background(), rpc.RunRef{Run: "7"})
		if err != nil || !reflect.DeepEqual(d.Context, c.want) {
			t.Errorf("%s: %+v %v", c.last, d.Context, err)
		}
		want := []rpc.RunInstructions{{File: "AGENTS.md", Of: "user"}, {File: "AGENTS.md", Of: "project", Untrusted: true}, {File: "sub/AGENTS.md", Of: "folder"}}
		if !reflect.DeepEqual(d.Instructions, want) {
			t.Errorf("%+v", d.Instructions)
		}
		h.store.entries = all
	}
	h.store.entries = nil
	if d, err := h.client(t).Run(context.Background(), rpc.RunRef{Run: "7"}); err != nil || d.Context != nil || d.Instructions == nil || d.Held {
		t.Errorf("a run without a word: %+v %v", d, err)
	}
}

func TestCheckConfig(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	if got, err := c.CheckConfig(context.Background(), rpc.ConfigCheck{Project: "/p/one"}); err != nil || !got.Usable || got.Path != "/c.hcl" || got.Diagnostics == nil {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := c.CheckConfig(context.Background(), rpc.ConfigCheck{Project: "one"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a project that is no path: %v", err)
	}
}
