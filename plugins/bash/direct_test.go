package main

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

// TestDirect: the first result of a run says that its commands work on the project
// itself, and why; each says so in its metadata.
func TestDirect(t *testing.T) {
	b := newBash(hclog.NewNullLogger())
	for _, c := range []struct {
		run, reason string
		noted, view bool
	}{
		{"a", "", false, true},
		{"a", "the kernel is old", true, false},
		{"a", "the kernel is old", false, false},
		{"b", "the kernel is old", true, false},
	} {
		got := b.special(answer(sandbox.Result{Direct: c.reason}, &output{stdout: []byte("out")}), tool.Call{Invocation: sdk.Invocation{Run: c.run, Project: "/p"}}, c.reason)
		noted := strings.HasPrefix(got.Output, "out\n[") && strings.Contains(got.Output, "the kernel is old. Git repositories")
		if noted != c.noted || !noted && got.Output != "out" {
			t.Errorf("%+v: got %q", c, got.Output)
		}
		if (got.Metadata["view"] == nil) != c.view || !c.view && (got.Metadata["view"] != false || got.Metadata["view_reason"] != c.reason) {
			t.Errorf("%+v: got %v", c, got.Metadata)
		}
	}
}
