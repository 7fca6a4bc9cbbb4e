//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/plugins/bash/suite"
	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// write puts files into a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tests makes a call of run_tests as the daemon does: with the line that Stage says.
func (r *rig) tests(arguments map[string]any) (sdk.ToolResult, sdk.TestReport, *stream, error) {
	r.t.Helper()
	call := sdk.Invocation{Tool: sdk.ToolTests, Run: "run-1", CallID: "call-1", Project: r.project, RunDir: r.runDir}
	said := func() {
		var err error
		if call.Arguments, err = json.Marshal(arguments); err != nil {
			r.t.Fatal(err)
		}
	}
	said()
	staged, err := r.b.tools().Stage(r.t.Context(), call)
	if err != nil {
		return sdk.ToolResult{}, sdk.TestReport{}, nil, err
	}
	arguments["command"] = staged.Command
	said()
	call.Base = staged.Base
	out := &stream{chunks: make(map[int]string)}
	result, err := r.b.tools().Invoke(r.t.Context(), call, out)
	var report sdk.TestReport
	if err == nil {
		if err := json.Unmarshal(result.Structured, &report); err != nil {
			r.t.Fatalf("the structured result is %q: %v", result.Structured, err)
		}
	}
	return result, report, out, err
}

// TestTheTestsOfAProject runs them in the container, counts them, and tells what they changed.
func TestTheTestsOfAProject(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	for _, c := range []struct {
		name, makefile string
		success        bool
		outcome        sdk.Outcome
		want           sdk.TestReport
		said, changed  string
	}{
		{
			name: "pass", makefile: "test:\n\t@printf 'TAP version 13\\n1..2\\nok 1 - a\\nok 2 - b # SKIP later\\n'; echo x > made\n", success: true,
			want: sdk.TestReport{Passed: 1, Skipped: 1}, said: "make test: 1 passed, 0 failed, 1 skipped\n", changed: "made",
		},
		{
			name: "fail", makefile: "test:\n\t@printf 'TAP version 13\\n1..2\\nok 1 - a\\nnot ok 2 - b\\n  ---\\n  want: 3\\n  ...\\n'; exit 7\n", outcome: sdk.Exit(2),
			want: sdk.TestReport{Passed: 1, Failed: 1, ExitCode: 2, Failures: []sdk.TestFailure{{Name: "b", Text: "  want: 3"}}}, said: "\nFAILED b\n  want: 3\n",
		},
		{
			name: "a failure that the command hides", makefile: "test:\n\t@printf 'TAP version 13\\n1..1\\nnot ok 1 - a\\n'\n", outcome: sdk.Exit(1),
			want: sdk.TestReport{Failed: 1, Failures: []sdk.TestFailure{{Name: "a"}}}, said: "(1 of 1 tests failed)",
		},
		{
			name: "none", makefile: "test:\n\t@echo all tests passed\n", outcome: sdk.NotFound,
			said: "make test: 0 passed, 0 failed, 0 skipped (no test was counted)\n\n[what was printed, or the end of it]\nall tests passed\n",
		},
		{
			name: "no program", makefile: "test:\n\t@no-such-runner\n", outcome: sdk.Exit(2), want: sdk.TestReport{ExitCode: 2}, said: "no-such-runner",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, r.project, map[string]string{"Makefile": c.makefile})
			result, report, _, err := r.tests(map[string]any{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Success != c.success || result.Outcome != c.outcome || !strings.Contains(result.Output, c.said) {
				t.Errorf("%v %s %q", result.Success, result.Outcome, result.Output)
			}
			c.want.Framework, c.want.Command = suite.Make, "make test"
			report.Tail = ""
			if got, want := asJSON(t, report), asJSON(t, c.want); got != want {
				t.Errorf("the report is\n%s\nwant\n%s", got, want)
			}
			if result.Metadata["stdout"] != nil || result.Metadata["exit_code"] != c.want.ExitCode || !result.Told {
				t.Errorf("metadata %v, told %v", result.Metadata, result.Told)
			}
			if c.changed != "" && (len(result.Changes) != 1 || result.Changes[0].Path != c.changed) {
				t.Errorf("it changed %+v", result.Changes)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAConfiguredReport: what a report says counts, when the run itself wrote it.
func TestAConfiguredReport(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	r.b.settings.Sandbox.Projects = []sdk.ProjectSandbox{{Root: r.project, Set: sdk.Sandbox{Tests: sdk.ProjectTests{Command: "sh check", JUnit: "out/junit.xml"}}}}
	const report = `<testsuite><testcase classname="a" name="b"/><testcase classname="a" name="c"/></testsuite>`
	for _, c := range []struct {
		name, script string
		success      bool
		passed       int
		said         string
	}{
		{"missing", "echo '3 passed in 0.1s'", false, 0, "the report out/junit.xml was not written"},
		{"written", "mkdir -p out; echo '" + report + "' > out/junit.xml", true, 2, "sh check: 2 passed"},
		{"old", "touch -d 2040-01-01 out; echo", false, 0, "out/junit.xml is an older one"},
		{"broken", "echo '<html/>' > out/junit.xml", false, 0, "out/junit.xml: the report is no XML of JUnit: it begins with <html>"},
		{"elsewhere", "rm out/junit.xml; ln -s /etc/hostname out/junit.xml", false, 0, "was not written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, r.project, map[string]string{"check": c.script})
			result, got, _, err := r.tests(map[string]any{})
			if err != nil || result.Success != c.success || got.Passed != c.passed || got.Framework != suite.Configured || !strings.Contains(result.Output, c.said) {
				t.Errorf("%v: %+v, %q", err, got, result.Output)
			}
		})
	}
	for _, named := range []map[string]any{{"framework": "go"}, {"dir": "sub"}} {
		if _, _, _, err := r.tests(named); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "sh check") {
			t.Errorf("with %v it said %v", named, err)
		}
	}
}

// TestWhichTests: a call says which line it runs before it is judged, and runs no other.
func TestWhichTests(t *testing.T) {
	dir := t.TempDir()
	b := newBash(hclog.NewNullLogger())
	defer b.close()
	write(t, dir, map[string]string{"go.mod": "module a", "web/package.json": `{"scripts":{"test":"x"}}`})
	stage := func(arguments string) (sdk.Staged, error) {
		return b.tools().Stage(t.Context(), sdk.Invocation{Tool: sdk.ToolTests, Run: "r", Project: dir, RunDir: dir, Arguments: json.RawMessage(arguments)})
	}
	for arguments, want := range map[string]string{
		`{}`: "go test -json ./...", `{"framework":"go"}`: "go test -json ./...", `{"dir":"web"}`: "npm test", `{"dir":"/workspace/web"}`: "npm test",
		`{"dir":"` + dir + `"}`: "go test -json ./...", `{"dir":"/workspace"}`: "go test -json ./...",
	} {
		if got, err := stage(arguments); err != nil || got.Command != want || got.Base == "" {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
	for arguments, want := range map[string]sdk.Outcome{`{"dir":".."}`: sdk.NotFound, `{"dir":"/etc"}`: sdk.NotFound, `{"framework":"cargo"}`: sdk.NotFound, `[]`: sdk.Validation} {
		if got, err := stage(arguments); sdk.OutcomeOf(err) != want {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
	made := func(call sdk.Invocation) error {
		call.Tool, call.Run, call.Project, call.RunDir = sdk.ToolTests, "r", dir, dir
		_, err := b.tools().Invoke(t.Context(), call, &stream{})
		return err
	}
	if err := made(sdk.Invocation{Arguments: json.RawMessage(`{}`)}); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "nobody has judged") {
		t.Errorf("without a line: %v", err)
	}
	agreed, err := stage(`{}`)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"Cargo.toml": ""})
	if err := made(sdk.Invocation{Arguments: json.RawMessage(`{"command":"go test -json ./..."}`), Base: agreed.Base}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("after something else was agreed to: %v", err)
	}
	var spec sdk.ToolSpec
	for _, s := range b.tools().Tools() {
		if s.Name == sdk.ToolTests {
			spec = s
		}
	}
	var declared struct {
		Properties struct {
			Framework struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(spec.Parameters, &declared); err != nil || !slices.Equal(declared.Properties.Framework.Enum, suite.Frameworks()) || !spec.FindsCommand() {
		t.Errorf("declared %s, %v", spec.Parameters, err)
	}
}

// TestSettledTests: what an earlier process ran is counted like what this one runs.
func TestSettledTests(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	write(t, r.project, map[string]string{"Makefile": "test:\n\t@printf 'TAP version 13\\n1..1\\nok 1 - a\\n'\n"})
	call := sdk.Invocation{
		Tool: sdk.ToolTests, Run: "run-1", CallID: "call-1", Project: r.project, RunDir: r.runDir,
		Arguments: json.RawMessage(`{"command":"make test"}`),
	}
	r.killed("returned", call)
	result, err := r.b.tools().Settle(t.Context(), call)
	var report sdk.TestReport
	if err != nil || json.Unmarshal(result.Structured, &report) != nil || !result.Success || report.Passed != 1 || report.Framework != suite.Make {
		t.Errorf("settled as %+v, %v", result, err)
	}
}

// TestToldOfTests: whatever else is wrong with the command goes before its tests, but for what it made that its run was not
// given.
func TestToldOfTests(t *testing.T) {
	besides := sandbox.Violation{Path: "cache", Action: sandbox.ActionRefused, Detail: onlyGiven + "src/** to change"}
	printed := "TAP version 13\n1..1\nok 1\n"
	for name, c := range map[string]struct {
		result  sandbox.Result
		outcome sdk.Outcome
		said    string
	}{
		"time":      {sandbox.Result{TimedOut: true, ExitCode: 137, Timeout: 1e9}, sdk.Timeout, "timed out after 1s"},
		"exit":      {sandbox.Result{ExitCode: 3}, sdk.Exit(3), "1 passed, 0 failed, 0 skipped (exit status 3)"},
		"conflict":  {sandbox.Result{Conflicts: []sandbox.Conflict{{Path: "a"}}}, sdk.Conflict, "[a was changed by somebody else"},
		"protected": {sandbox.Result{Violations: []sandbox.Violation{besides, {Path: ".bashrc", Action: sandbox.ActionRefused, Detail: "a shell"}}}, sdk.Permission, "may not change cache, .bashrc"},
		"both":      {sandbox.Result{Violations: []sandbox.Violation{besides}, Conflicts: []sandbox.Conflict{{Path: "a"}}}, sdk.Permission, "[a was changed by somebody else"},
		"besides":   {sandbox.Result{Violations: []sandbox.Violation{besides}}, "", "make test: 1 passed, 0 failed, 0 skipped\n[sandbox violation: what the command made of cache was not applied"},
		"nothing":   {sandbox.Result{}, "", "make test: 1 passed, 0 failed, 0 skipped\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out := &output{stdout: []byte(printed)}
			in := testsArguments{Command: "make test"}
			got := told(answer(c.result, out), in, "", counted{suite.Make, suite.Read(suite.Make, out.whole())}, "", out)
			if got.Outcome != c.outcome || got.Success != (c.outcome == "") || !strings.Contains(got.Output, c.said) || strings.Contains(got.Output, "TAP version") != (c.outcome != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestTestsAreFollowedLive: events of Go are not shown as what they are, however they are cut.
func TestTestsAreFollowedLive(t *testing.T) {
	var events strings.Builder
	for _, e := range []string{
		`{"Action":"output","Package":"a","Test":"T","Output":"--- PASS: T\n"}`, `{"Action":"output","Package":"a","Output":"ok  \ta\n"}`, `not an event`,
	} {
		events.WriteString(e + "\n")
	}
	text := events.String() + "the end"
	for size := 1; size < len(text); size += 7 {
		out := &stream{chunks: map[int]string{}}
		live := liveTests{to: out}
		for part := range slices.Chunk([]byte(text), size) {
			if err := live.send(1, part); err != nil {
				t.Fatal(err)
			}
		}
		live.end()
		if got := out.chunks[1]; got != "ok  \ta\nnot an event\nthe end\n" {
			t.Fatalf("in parts of %d: %q", size, got)
		}
	}
}
