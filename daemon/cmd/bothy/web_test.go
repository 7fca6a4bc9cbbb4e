package main

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestWebFetch: flags are the arguments of web_fetch, and what was not given is the tool's to say.
func TestWebFetch(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.tool = func(context.Context, rpc.ToolCall) (rpc.ToolDone, error) {
		return rpc.ToolDone{Result: sdk.ToolResult{Success: true, Output: "# Kettles"}}, nil
	}
	for _, row := range []struct {
		args []string
		want string
	}{
		{nil, `{"url":"https://example.org/?a=1"}`},
		{[]string{"--head"}, `{"method":"HEAD","url":"https://example.org/?a=1"}`},
		{[]string{"--fresh", "--main", "--line", "3", "--limit", "9"}, `{"fresh":true,"limit":9,"line":3,"main":true,"url":"https://example.org/?a=1"}`},
		{[]string{"--raw", "-r", "mine"}, `{"raw":true,"url":"https://example.org/?a=1"}`},
	} {
		b.want(t, exitOK, append([]string{"web", "fetch", "https://example.org/?a=1"}, row.args...)...)
		call := b.daemon.calls[len(b.daemon.calls)-1]
		if got := string(call.Arguments); got != row.want || call.Tool != "web_fetch" || b.out.String() != "# Kettles\n" {
			t.Errorf("%q: called %s with %s, printed %q", row.args, call.Tool, got, b.out.String())
		}
	}
	if call := b.daemon.calls[len(b.daemon.calls)-1]; call.Run != "mine" || call.Project != b.project {
		t.Errorf("%+v", call)
	}
	b.want(t, exitUsage, "web", "fetch", "--raw", "--main", "https://example.org/")
}
