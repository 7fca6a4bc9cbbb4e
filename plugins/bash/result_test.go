package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

func printed(stdout, stderr string) *output {
	o := &output{}
	o.add(1, []byte(stdout))
	o.add(2, []byte(stderr))
	return o
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		result sandbox.Result
		out    *output
		want   sdk.ToolResult
	}{
		"success": {sandbox.Result{Duration: 12 * time.Millisecond}, printed("out\n", ""),
			sdk.ToolResult{Success: true, Output: "out\n", Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(12), "stdout": "out\n", "stderr": ""}}},
		"failure": {sandbox.Result{ExitCode: 3}, printed("out\n", "err\n"),
			sdk.ToolResult{Output: "out\nerr\n", Error: "exit status 3", Outcome: "exit:3",
				Metadata: map[string]any{"exit_code": 3, "duration_ms": int64(0), "stdout": "out\n", "stderr": "err\n"}}},
		"stdout without a newline stays as it is": {sandbox.Result{}, printed("out", "err"),
			sdk.ToolResult{Success: true, Output: "outerr", Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "out", "stderr": "err"}}},
		"timeout": {sandbox.Result{ExitCode: 137, Signal: "SIGKILL", TimedOut: true, Timeout: 30 * time.Second, Leftovers: 2}, printed("", ""),
			sdk.ToolResult{Error: "timed out after 30s", Outcome: sdk.Timeout, Metadata: map[string]any{"exit_code": 137, "duration_ms": int64(0),
				"stdout": "", "stderr": "", "signal": "SIGKILL", "timed_out": true, "killed_processes": 2}}},
		"signal": {sandbox.Result{ExitCode: 139, Signal: "SIGSEGV"}, printed("", ""),
			sdk.ToolResult{Error: "ended by signal SIGSEGV (exit status 139)", Outcome: "exit:139", Metadata: map[string]any{"exit_code": 139,
				"duration_ms": int64(0), "stdout": "", "stderr": "", "signal": "SIGSEGV"}}},
		"out of memory": {sandbox.Result{ExitCode: 137, Signal: "SIGKILL", OOM: true}, printed("", ""),
			sdk.ToolResult{Error: "killed: out of memory", Outcome: sdk.OutOfMemory, Metadata: map[string]any{"exit_code": 137,
				"duration_ms": int64(0), "stdout": "", "stderr": "", "signal": "SIGKILL", "oom": true}}},
		"too many files": {sandbox.Result{ExitCode: 137, Signal: "SIGKILL", Overflow: &sandbox.Overflow{Used: 3 << 20, Quota: 2 << 20, Killed: true}}, printed("x", ""),
			sdk.ToolResult{Output: "x\n[the run's files hold 3.0 MB, more than the 2.0 MB they may, so the command was killed; " + (&sandbox.Overflow{}).Hint() + "]\n",
				Error: "the run's files hold 3.0 MB, more than the 2.0 MB they may, so the command was killed", Outcome: sdk.Overflow,
				Metadata: map[string]any{"exit_code": 137, "duration_ms": int64(0), "stdout": "x", "stderr": "", "signal": "SIGKILL",
					"overflow": map[string]any{"used": int64(3 << 20), "quota": int64(2 << 20), "disk": false, "killed": true}}}},
		"killed by nobody known": {sandbox.Result{ExitCode: 137, Signal: "SIGKILL"}, printed("", ""),
			sdk.ToolResult{Error: "ended by signal SIGKILL (exit status 137): it killed itself, or the machine ran out of memory", Outcome: "exit:137",
				Metadata: map[string]any{"exit_code": 137, "duration_ms": int64(0), "stdout": "", "stderr": "", "signal": "SIGKILL"}}},
		"something else was out of memory": {sandbox.Result{OOM: true}, printed("", ""),
			sdk.ToolResult{Success: true, Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "", "stderr": "", "oom": true}}},
		"dropped": {sandbox.Result{StdoutDropped: 7}, printed("out", "err"),
			sdk.ToolResult{Success: true, Truncated: true, Output: "out\n[7 more bytes of stdout were dropped]\nerr",
				Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "out", "stderr": "err", "dropped": map[string]int64{"stdout": 7, "stderr": 0}}}},
		"binary": {sandbox.Result{}, printed("a\xff\x00b", ""),
			sdk.ToolResult{Success: true, Output: "a\uFFFD\x00b", Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "a\uFFFD\x00b", "stderr": ""}}},
		"violation": {sandbox.Result{Violations: []sandbox.Violation{{Path: ".git/hooks", Action: sandbox.ActionRemoved, Kept: "/k"}}}, printed("x", ""),
			sdk.ToolResult{Output: "x\n[sandbox violation: .git/hooks is protected; what the command made there was removed]\n",
				Error: "sandbox violation: a command may not change .git/hooks", Outcome: sdk.Permission,
				Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "x", "stderr": "",
					"violations": []any{map[string]any{"path": ".git/hooks", "action": "removed", "kept": "/k"}}}}},
		"what the system refused": {sandbox.Result{Conflicts: []sandbox.Conflict{{Path: "a"}, {Path: "build", Reason: "permission denied"}}}, printed("", ""),
			sdk.ToolResult{Output: "[a was changed by somebody else while the command ran: that stays, and the command's version was not applied; look at it again]\n" +
				"[what the command made of build could not be applied to the project: permission denied; the project has it as before]\n",
				Error:   "somebody else changed a while the command ran; the command's version was not applied; what the command made of build (permission denied) could not be applied to the project",
				Outcome: sdk.Conflict,
				Metadata: map[string]any{"exit_code": 0, "duration_ms": int64(0), "stdout": "", "stderr": "",
					"conflicts": []any{map[string]any{"path": "a"}, map[string]any{"path": "build", "reason": "permission denied"}}}}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if got := answer(c.result, c.out); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

// Whatever a command prints, its result is valid and fits one message.
func TestAnswersFitOneMessage(t *testing.T) {
	const message = 16 << 20
	for name, unit := range map[string]string{"text": "x", "control characters": "\x01", "no UTF-8": "\xffa", "wide": "é", "quotes": `"`} {
		o := &output{stdout: []byte(strings.Repeat(unit, sandbox.DefaultStdoutCap/len(unit))), stderr: []byte(strings.Repeat(unit, sandbox.DefaultStderrCap/len(unit)))}
		r := answer(sandbox.Result{}, o)
		metadata, err := json.Marshal(r.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		if size := len(r.Output) + len(metadata) + 1024; size > message {
			t.Errorf("%s: %d bytes", name, size)
		}
		if whole := len(text(o.stdout))+len(text(o.stderr)) <= shownBytes; r.Truncated == whole {
			t.Errorf("%s: truncated is %v with %d bytes of output", name, r.Truncated, len(r.Output))
		}
		if r.Metadata["repeated_in_part"] != true {
			t.Errorf("%s: nothing says that the metadata has a part only", name)
		}
	}
}

// TestASwappedProjectIsToldAsAViolation: a command that was not run has no exit
// status, and the violation is where the engine looks for it.
func TestASwappedProjectIsToldAsAViolation(t *testing.T) {
	got := swapped(sandbox.Result{Violations: []sandbox.Violation{{Path: ".", Action: sandbox.ActionReported, Detail: "d"}}},
		&sandbox.Error{Code: sandbox.CodeSwapped, Message: "the command was not run"})
	want := sdk.ToolResult{Error: "sandbox violation: the command was not run", Outcome: sdk.Permission, Metadata: map[string]any{
		"violations": []any{map[string]any{"path": ".", "action": "reported", "detail": "d"}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
