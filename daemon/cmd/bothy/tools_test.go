package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestToolsCall(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.tool = func(_ context.Context, p rpc.ToolCall) (rpc.ToolDone, error) {
		switch p.Tool {
		case "bash":
			return rpc.ToolDone{Result: sdk.ToolResult{Output: "hi\nerr\n", Error: "exit status 3", Metadata: map[string]any{"exit_code": 3}}}, nil
		case "denied":
			return rpc.ToolDone{Result: sdk.ToolResult{Output: "no-rm refused this call: not here", Error: "no-rm refused this call: not here", Outcome: sdk.Permission}}, nil
		case "ok":
			return rpc.ToolDone{Result: sdk.ToolResult{Success: true, Output: "fine\x1b"}}, nil
		default:
			return rpc.ToolDone{}, sdk.Errorf(sdk.NotFound, "there is no tool %q: there are bash, ok", p.Tool)
		}
	}
	b.want(t, exitFailed, "tools", "call", "bash", `{"command":"x"}`, "--json")
	b.golden(t, "tools-call-json")
	if call := b.daemon.calls[0]; string(call.Arguments) != `{"command":"x"}` || call.Project != b.project || call.Run != "" {
		t.Errorf("called %+v", call)
	}
	b.want(t, exitFailed, "tools", "call", "bash")
	b.golden(t, "tools-call-text")
	b.c.in = strings.NewReader(`{"from":"stdin"}`)
	b.want(t, exitOK, "tools", "call", "ok", "-", "--run", "mine")
	if call := b.daemon.calls[2]; string(call.Arguments) != `{"from":"stdin"}` || call.Run != "mine" || b.out.String() != "fine\x1b\n" {
		t.Errorf("called %+v, printed %q", call, b.out.String())
	}
	b.c.outTTY = true
	b.want(t, exitOK, "tools", "call", "ok")
	if b.out.String() != "fine\\x1b\n" {
		t.Errorf("a terminal got %q", b.out.String())
	}
	b.want(t, exitFailed, "tools", "call", "denied", "-m", "fast")
	if b.out.String() != "" || b.err.String() != "bothy: denied: no-rm refused this call: not here\n" || b.daemon.calls[4].Model != "fast" {
		t.Errorf("a call that was refused printed %q, and %q on standard error; %+v", b.out.String(), b.err.String(), b.daemon.calls[4])
	}
	b.want(t, exitFailed, "tools", "call", "denied", "--json")
	if !strings.Contains(b.out.String(), `"output": "no-rm refused`) || b.err.String() != "" {
		t.Errorf("as JSON %q, %q", b.out.String(), b.err.String())
	}
	b.want(t, exitFailed, "tools", "call", "nope")
	if !strings.Contains(b.err.String(), "there are bash, ok") {
		t.Errorf("stderr %q", b.err.String())
	}
	b.want(t, exitFailed, "tools", "call", "nope", "--json")
	var r callResult
	if err := json.Unmarshal([]byte(b.out.String()), &r); err != nil || r.Success || !strings.Contains(r.Error, "there are bash, ok") || r.Metadata["outcome"] != "not_found" {
		t.Errorf("%s: %v", b.out.String(), err)
	}
}

func TestToolsCallInterrupted(t *testing.T) {
	b := withDaemon(t, nil)
	cancelled := make(chan struct{})
	b.daemon.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		b.signals <- os.Interrupt
		<-ctx.Done()
		close(cancelled)
		return rpc.ToolDone{}, ctx.Err()
	}
	b.want(t, exitAborted, "tools", "call", "bash")
	<-cancelled
}

func TestToolsInfo(t *testing.T) {
	b := withDaemon(t, nil)
	b.want(t, exitOK, "tools", "info", "files__read_file")
	b.golden(t, "tools-info")
	b.want(t, exitOK, "tools", "info", "bash")
	if !strings.Contains(b.err.String(), "it takes no arguments") || !strings.Contains(b.out.String(), "Runs a command.\nMore.") {
		t.Errorf("%s%s", b.out.String(), b.err.String())
	}
	b.want(t, exitOK, "tools", "info", "read_file", "--json")
	var tool sdk.Tool
	if err := json.Unmarshal([]byte(b.out.String()), &tool); err != nil || tool.Name != "read_file" || !strings.Contains(string(tool.Parameters), "which file") {
		t.Errorf("%s: %v", b.out.String(), err)
	}
	b.want(t, exitFailed, "tools", "info", "readfile")
	if !strings.Contains(b.err.String(), `these plugins do not run: odd (no such file); the nearest is "read_file", and there are: bash, read_file`) {
		t.Errorf("stderr %q", b.err.String())
	}
}
