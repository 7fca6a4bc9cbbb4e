package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bothyd/bothy/plugins/bash/suite"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

//go:embed tests.md
var testsDescription string

// testsArguments are those of run_tests. Command is the daemon's to say, by what stageTests has found.
type testsArguments struct {
	Framework      string  `json:"framework,omitempty" enum:"go,cargo,pytest,unittest,npm,make" jsonschema:"which tests to run, where there are several kinds; found by itself when left out"`
	Dir            string  `json:"dir,omitempty" jsonschema:"the folder with the tests, relative to the project; its root when left out"`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty" jsonschema:"seconds after which the tests are killed, at most 600; as for bash when left out"`
	Command        string  `json:"command,omitempty" jsonschema:"leave this out: the command is found, and a call that names one is refused"`
}

// mostTestOutput is how much of each channel is read to count tests: the events of Go are long.
const mostTestOutput = 64 << 20

func (b *bash) testTool() tool.Func {
	return tool.New(sdk.ToolTests, strings.TrimSpace(testsDescription), sdk.Annotations{Destructive: true}, b.runTests).
		Commands("command").StagedBy(b.stageTests).Settled(b.settleTests).PreparedBy(b.prepare)
}

// findTests is how the tests of a call are run, and in which folder of the project.
func (b *bash) findTests(in testsArguments, call sdk.Invocation) (suite.Found, string, error) {
	if c := b.sandbox(call.Project).Tests; c.Command != "" {
		if in.Framework != "" || in.Dir != "" {
			return suite.Found{}, "", sdk.Errorf(sdk.Validation, "a person has said how the tests of this project are run (%s): leave framework and dir out", c.Command)
		}
		return suite.Found{Framework: suite.Configured, Command: c.Command}, "", nil
	}
	at := b.runSpec(call.Run, call.Project, call.RunDir).Workspace()
	dir := in.Dir
	for _, root := range []string{"/workspace", at} {
		if rest, is := strings.CutPrefix(dir+"/", root+"/"); is {
			dir = strings.TrimSuffix(rest, "/")
		}
	}
	root, err := os.OpenRoot(at)
	if errors.Is(err, fs.ErrNotExist) {
		return suite.Found{}, "", sdk.Errorf(sdk.NotFound, "no tests were found: nothing is in the workspace yet")
	}
	if err != nil {
		return suite.Found{}, "", fmt.Errorf("look for tests: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	found, err := suite.Find(root.FS(), cmp.Or(dir, "."), in.Framework)
	return found, dir, err
}

// stageTests implements the tool's Stage.
func (b *bash) stageTests(_ context.Context, call sdk.Invocation) (sdk.Staged, error) {
	var in testsArguments
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return sdk.Staged{}, sdk.Errorf(sdk.Validation, "the arguments of %s: %w", call.Tool, err)
	}
	found, _, err := b.findTests(in, call)
	return sdk.Staged{Command: found.Command, Base: baseOf(found)}, err
}

// baseOf stands for what was found.
func baseOf(found suite.Found) string {
	sum := sha256.Sum256([]byte(found.Framework + "\n" + found.Command))
	return hex.EncodeToString(sum[:])
}

// runTests runs the line that was judged. Where another would be found by now it still runs that one, unless a person has
// agreed to it as what it was.
func (b *bash) runTests(ctx context.Context, in testsArguments, call tool.Call) (sdk.ToolResult, error) {
	found, dir, err := b.findTests(in, call.Invocation)
	switch {
	case call.Base != "" && (err != nil || baseOf(found) != call.Base):
		return sdk.ToolResult{}, sdk.Errorf(sdk.Conflict, "how the tests are run is no longer what was shown; they were not run")
	case in.Command == "":
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "the tests were not run: nobody has judged by which command")
	}
	command, err := b.command(arguments{Command: in.Command, Dir: in.Dir, TimeoutSeconds: in.TimeoutSeconds}, call.Project)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	command.StdoutCap, command.StderrCap = mostTestOutput, mostTestOutput
	report := b.reportOf(call.Invocation)
	before := report.look()
	live := liveTests{to: call}
	result, out, err := b.exec(ctx, in.Command, command, call, live.send)
	live.end()
	if err != nil {
		return result, err
	}
	counted, why := b.count(found, in, report, before, out)
	return told(result, in, dir, counted, why, out), nil
}

// settleTests is settle, with the tests counted. Whether a report is of this run nobody knows any more.
func (b *bash) settleTests(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	result, out, err := b.settled(ctx, call)
	var in testsArguments
	if err != nil || result.Metadata == nil || json.Unmarshal(call.Arguments, &in) != nil {
		return result, err
	}
	found, dir, _ := b.findTests(in, call) // what is not found any more is read as what it is
	counted := counted{framework: frameworkOf(found, in), Count: suite.Read(frameworkOf(found, in), out.whole())}
	return told(result, in, dir, counted, "", out), nil
}

// counted are the tests of a call.
type counted struct {
	framework string
	suite.Count
}

// frameworkOf is what reads the output of the line that ran.
func frameworkOf(found suite.Found, in testsArguments) string {
	if found.Command != in.Command {
		return suite.Configured
	}
	return found.Framework
}

// count counts the tests of a run by the report that it wrote, if it is to write one, else by what it printed. Why says
// what is wrong with the report.
func (b *bash) count(found suite.Found, in testsArguments, report report, before fs.FileInfo, out *output) (c counted, why string) {
	c.framework = frameworkOf(found, in)
	if report.path == "" {
		c.Count = suite.Read(c.framework, out.whole())
		return c, ""
	}
	after := report.look()
	switch {
	case after == nil:
		return c, "the report " + report.path + " was not written"
	case before != nil && os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()):
		return c, "the report " + report.path + " is an older one: this run did not write it"
	}
	var err error
	if c.Count, err = report.read(); err != nil {
		return c, report.path + ": " + err.Error()
	}
	return c, ""
}

// passedBesides says whether a command failed by nothing but that it made things which its run was not given: tests leave
// caches and reports that nobody asked for, and what they came to hangs on none of them.
func passedBesides(result sdk.ToolResult) bool {
	violations, _ := result.Metadata["violations"].([]any)
	other := func(v any) bool {
		violation, _ := v.(map[string]any)
		detail, _ := violation["detail"].(string)
		return !strings.HasPrefix(detail, onlyGiven)
	}
	return result.Outcome == sdk.Permission && len(violations) > 0 && result.Metadata["conflicts"] == nil && !slices.ContainsFunc(violations, other)
}

// told is the result of the command as one of tests. It is a success when that one was, a test passed and none failed.
func told(result sdk.ToolResult, in testsArguments, dir string, c counted, why string, out *output) sdk.ToolResult {
	notes, is := strings.CutPrefix(result.Output, out.printed)
	if !is { // too much was printed to tell them apart
		notes = ""
	}
	code, _ := result.Metadata["exit_code"].(int)
	if passedBesides(result) {
		result.Success, result.Error, result.Outcome = true, "", ""
	}
	for _, printed := range []string{"stdout", "stderr", "repeated_in_part"} {
		delete(result.Metadata, printed)
	}
	sums := fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
	if result.Success || result.Outcome == sdk.Exit(code) {
		switch {
		case c.Failed > 0:
			result.Success, result.Error, result.Outcome = false, fmt.Sprintf("%d of %d tests failed", c.Failed, c.Passed+c.Failed), sdk.Exit(cmp.Or(code, 1))
		case c.Passed == 0 && result.Success:
			result.Success, result.Error, result.Outcome = false, cmp.Or(why, "no test was counted"), sdk.NotFound
		}
	}
	r := sdk.TestReport{
		Framework: c.framework, Command: in.Command, Dir: dir, ExitCode: code, Passed: c.Passed, Failed: c.Failed, Skipped: c.Skipped,
		Failures: c.Failures, More: max(0, c.Failed-len(c.Failures)), Tail: c.Tail(out.whole()),
	}
	result.Structured, _ = json.Marshal(r) // it has nothing that could not be written
	result.Truncated = result.Truncated || r.More > 0

	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", in.Command, sums)
	if !result.Success {
		fmt.Fprintf(&b, " (%s)", result.Error)
	}
	b.WriteString("\n")
	if why != "" && result.Error != why {
		fmt.Fprintf(&b, "[%s]\n", why)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\nFAILED %s\n%s\n", f.Name, f.Text)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "\n[%d more failed]\n", r.More)
	}
	if !result.Success && len(r.Failures) == 0 {
		fmt.Fprintf(&b, "\n[what was printed, or the end of it]\n%s\n", cmp.Or(r.Tail, "nothing"))
	}
	b.WriteString(notes)
	result.Output = b.String()
	return result
}

// liveTests sends what tests print to whoever follows them. Of the events of Go it sends what packages say, and not
// their JSON.
type liveTests struct {
	to   sdk.Stream
	half []byte // a line that has not ended
}

// mostTestLine is how long a line may become before its beginning is forgotten.
const mostTestLine = 1 << 20

func (l *liveTests) send(channel int, data []byte) error {
	if channel != 1 {
		return l.to.Chunk(channel, data)
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == 0 {
		if l.half = append(l.half, data...); len(l.half) > mostTestLine {
			l.half = nil
		}
		return nil
	}
	text := suite.Live(string(append(l.half, data[:end]...)))
	if l.half = append([]byte(nil), data[end:]...); text == "" {
		return nil
	}
	return l.to.Chunk(channel, []byte(text))
}

// end sends a last line that nothing ended.
func (l *liveTests) end() {
	if len(l.half) > 0 {
		_ = l.send(1, []byte("\n")) // the result has it
	}
}
