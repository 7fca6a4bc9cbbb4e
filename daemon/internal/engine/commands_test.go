package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// runsCommands makes of the fake tool bash one that runs commands, and of the house one whose agent has sh and env.
func (h *house) runsCommands() {
	h.tools.become("bash", func(t *sdk.Tool) {
		t.Command, t.Prepares = "command", true
		t.Parameters = json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout_seconds":{"type":"number"},"background":{"type":"boolean"}},"required":["command"]}`)
	})
	a := h.agents["default"]
	a.Tools = []string{"read", "write", "bash", "sh", "env"}
	h.agents["default"] = a
}

// prints is what the tool bash does: it prints, and ends with a status.
func prints(stdout, stderr string, exit int) fakeTool {
	return func(_ context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		_ = out.Chunk(1, []byte(stdout)) // nobody listens to the second daemon's call any more
		_ = out.Chunk(2, []byte(stderr))
		r := sdk.ToolResult{Success: exit == 0, Output: stdout + stderr, Metadata: map[string]any{"exit_code": exit, "stdout": stdout, "stderr": stderr}}
		if exit != 0 {
			r.Error, r.Outcome = fmt.Sprintf("exit status %d", exit), sdk.Exit(exit)
		}
		return r, nil
	}
}

// outputText is what is stored of a command: each output with its status and visibility, and the action's status.
func (h *house) outputText(run int64) string {
	h.t.Helper()
	var all []string
	for _, scheme := range []string{"sh://", "env://"} {
		for _, e := range h.entries(run, scheme) {
			all = append(all, fmt.Sprintf("%s %d %s %q", e.Path, e.Status(), e.Visibility, e.Body))
		}
	}
	return strings.Join(all, "\n")
}

// TestCommandsHaveOutputsOfTheirOwn (spec yolo_mode): sh and env are the tool bash by other names, and what they print is two entries.
// spec: streaming_entries scheme_category_split yolo_mode
func TestCommandsHaveOutputsOfTheirOwn(t *testing.T) {
	long := strings.Repeat("0123456789\n", 2000)
	for name, c := range map[string]struct {
		tool       string
		does       fakeTool
		want, says string
		outcome    string
	}{
		"well": {"sh", prints("out\n", "err\n", 0), "sh://turn_1/call_1 200 summarized \"out\\n\"\nsh://turn_1/call_2 200 summarized \"err\\n\"",
			"ran 'make', exit=0, Output: sh://turn_1/call_1 (4 bytes), sh://turn_1/call_2 (4 bytes)\nout\nerr", "sh:resolved"},
		"not well": {"env", prints("", "no\n", 3), "env://turn_1/call_1 500 summarized \"\"\nenv://turn_1/call_2 500 summarized \"no\\n\"",
			"ran 'make', exit=3, Output: env://turn_1/call_1 (empty), env://turn_1/call_2 (3 bytes)\nno", "env:failed:exit:3"},
		"by its whole name": {"fake__sh", prints("", "", 0), "sh://turn_1/call_1 200 summarized \"\"\nsh://turn_1/call_2 200 summarized \"\"",
			"ran 'make', exit=0, Output: sh://turn_1/call_1 (empty), sh://turn_1/call_2 (empty)", "fake__sh:resolved"},
		"much": {"sh", prints(long, "", 0), fmt.Sprintf("sh://turn_1/call_1 200 summarized %q\nsh://turn_1/call_2 200 summarized \"\"", long),
			"[... 17903 bytes are left out here ...]", "sh:resolved"},
		"an error": {"sh", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "no podman")
		}, "sh://turn_1/call_1 500 summarized \"\"\nsh://turn_1/call_2 500 summarized \"\"", "exit=none (no podman)", "sh:failed:unavailable"},
		"a refusal": {"sh", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{Error: "sandbox violation", Outcome: sdk.Permission}, nil
		}, "sh://turn_1/call_1 500 summarized \"\"\nsh://turn_1/call_2 500 summarized \"\"", "exit=none (sandbox violation)", "sh:failed:permission"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{c.tool, `{"command":"make"}`}), say("done"))
			h.runsCommands()
			h.tools.on("bash", c.does)
			h.start()
			a := h.submit(Submission{Mode: sdk.ModeFull})
			h.await(a)
			if got := h.outputText(a.Run.ID); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			action := h.actions(a.Run.ID)[0]
			if !strings.Contains(action.Body, c.says) || h.outcomes(a.Run.ID) != c.outcome {
				t.Errorf("%s: %q", h.outcomes(a.Run.ID), action.Body)
			}
			at, err := sdk.ActionOf(action)
			if err != nil || !at.Streams || at.Declared != "bash" || at.Plugin != "fake" || strings.Contains(string(action.Attributes), "0123456789") {
				t.Errorf("recorded %.400s, %v", action.Attributes, err)
			}
			if h.tools.made[0].Tool != "bash" {
				t.Errorf("called %q", h.tools.made[0].Tool)
			}
			read := h.models.asked()[1].Messages
			if last := read[len(read)-1]; !strings.Contains(last.Text, c.says) {
				t.Errorf("the model reads %+v", last)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCommandsGrowWhileTheyRun: an output is at 102 then, and read as far as it goes.
// spec: streaming_entries
func TestCommandsGrowWhileTheyRun(t *testing.T) {
	h := prepareHouse(t, calls(call{"sh", `{"command":"make"}`}), say("done"))
	h.runsCommands()
	goOn := make(chan struct{})
	h.tools.on("bash", func(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		if err := out.Chunk(1, []byte("half")); err != nil {
			return sdk.ToolResult{}, err
		}
		<-goOn
		return prints("way", "", 0)(ctx, call, out)
	})
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	h.until("some of it is there", func() bool {
		return strings.HasPrefix(h.outputText(a.Run.ID), "sh://turn_1/call_1 102 summarized \"half\"\nsh://turn_1/call_2 102")
	})
	close(goOn)
	h.await(a)
	h.check(a.Run.ID)
}

// TestWhoHasCommands (spec mode_enforcement): agents that name them, and of these env is there where a loop may only read.
// spec: mode_enforcement
func TestWhoHasCommands(t *testing.T) {
	for name, c := range map[string]struct {
		tools    []string
		readOnly bool
		flags    bool
		want     string
	}{
		"both":          {[]string{"sh", "env"}, false, false, "sh env"},
		"with others":   {[]string{"*", "fake__sh"}, false, false, "sh bash"},
		"only reads":    {[]string{"sh", "env", "bash"}, true, false, "env"},
		"all":           {nil, false, false, "bash"},
		"by a star":     {[]string{"*"}, false, false, "bash"},
		"no proposals":  {[]string{"sh", "env", "bash"}, false, true, ""},
		"another agent": {[]string{"read"}, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"sh", `{"command":"make"}`}), say("done"))
			h.runsCommands()
			h.agents["default"] = sdk.Agent{Tools: c.tools}
			h.start()
			s := Submission{ReadOnly: c.readOnly, Mode: sdk.ModeFull}
			s.Options.NoProposals = &c.flags
			a := h.submit(s)
			h.await(a)
			var names []string
			for _, tool := range h.models.asked()[0].Tools {
				if slices.Contains([]string{"sh", "env", "bash"}, tool.Name) {
					names = append(names, tool.Name)
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("offered %q", got)
			}
			if has := slices.Contains(names, "sh"); has != (h.ran() != "") {
				t.Errorf("ran %q", h.ran())
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCommandsTakeTheirOwnArguments, and nothing else of those of the tool that makes their calls.
func TestCommandsTakeTheirOwnArguments(t *testing.T) {
	h := prepareHouse(t, calls(call{"sh", `{"command":"make","background":true}`}), calls(call{"sh", `{"command":"make","timeout_seconds":3}`}))
	h.runsCommands()
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "sh:failed:validation sh:resolved" {
		t.Error(got)
	}
	if got := h.ran(); got != `bash{"command":"make","timeout_seconds":3}` {
		t.Error(got)
	}
	if strings.Contains(h.outputText(a.Run.ID), "turn_1") {
		t.Error("a call that was refused has outputs")
	}
	h.check(a.Run.ID)
}

// TestCommandsAfterACrash: what the tool still knows is what was printed; what nobody knows is cut at 499.
// spec: streaming_entries
func TestCommandsAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		settled *sdk.ToolResult
		want    string
	}{
		"known": {&sdk.ToolResult{Success: true, Output: "half way", Metadata: map[string]any{"exit_code": 0, "stdout": "half way", "stderr": ""}},
			"sh://turn_1/call_1 200 summarized \"half way\"\nsh://turn_1/call_2 200 summarized \"\""},
		"known in part": {&sdk.ToolResult{Success: true, Output: "half way", Metadata: map[string]any{"exit_code": 0, "stdout": "half way", "stderr": "", "repeated_in_part": true}},
			"sh://turn_1/call_1 200 summarized \"half\"\nsh://turn_1/call_2 200 summarized \"\""},
		"unknown": {nil, "sh://turn_1/call_1 499 summarized \"half\"\nsh://turn_1/call_2 499 summarized \"\""},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"sh", `{"command":"make"}`}), say("done"))
			h.runsCommands()
			h.tools.on("bash", func(ctx context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
				if err := out.Chunk(1, []byte("half")); err != nil {
					return sdk.ToolResult{}, err
				}
				<-ctx.Done()
				return sdk.ToolResult{}, ctx.Err()
			})
			h.start()
			a := h.submit(Submission{Mode: sdk.ModeFull})
			h.until("some of it is there", func() bool { return strings.Contains(h.outputText(a.Run.ID), "half") })
			h.cut()
			if c.settled != nil {
				h.tools.settles = map[string]sdk.ToolResult{"bash": *c.settled}
			}
			h.start()
			h.await(a)
			if got := h.outputText(a.Run.ID); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			h.check(a.Run.ID)
		})
	}
}
