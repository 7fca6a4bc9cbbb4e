package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

var (
	bare     = tool("mystery", true, sdk.Annotations{OpenWorld: true})
	unpinned = tool("theirs", false, reads)
	opens    = tool("open_network", true, sdk.Annotations{OpenWorld: true})
	modes    = []sdk.Mode{sdk.ModeInteractive, sdk.ModeRestricted, sdk.ModeFull}
)

// graded is a policy to which lines are what they say: "unproven", "unsafe" ...
func graded(set Settings) *Policy {
	p := New(set)
	p.analyse = func(line string, _ shell.Place) shell.Report {
		g := map[string]shell.Grade{"proven": shell.Proven, "contained": shell.Contained, "unproven": shell.Unproven, "unsafe": shell.Unsafe, "denied": shell.Denied}
		r := shell.Report{Rule: "shell.test", Reason: line + " it is"}
		for part := range strings.SplitSeq(line, "; ") {
			word, rest, _ := strings.Cut(part, " ")
			c := shell.Command{Text: part, Argv: append([]string{rest}, strings.Fields(rest)...)[1:], Grade: g[word], Rule: r.Rule, Reason: r.Reason}
			switch word {
			case "around": // it belongs to no command
				r.Structure = g[rest]
				r.Grade = max(r.Grade, r.Structure)
				continue
			case "dynamic":
				c.Grade, c.Argv, c.Text = shell.Unproven, nil, rest
			}
			r.Commands = append(r.Commands, c)
			r.Grade = max(r.Grade, c.Grade)
		}
		return r
	}
	return p
}

func callOf(t sdk.Tool, arguments map[string]any) sdk.PolicyRequest {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return sdk.PolicyRequest{Tool: t, Arguments: text, Project: "/p"}
}

func lineOf(line string) sdk.PolicyRequest { return callOf(bash, map[string]any{"command": line}) }

// TestModes: Q is a proposal, A allows, X denies; the columns are interactive,
// restricted and full without anybody to ask, and restricted with.
func TestModes(t *testing.T) {
	write := callOf(writeFile, map[string]any{"path": "a", "content": "x"})
	for _, c := range []struct {
		name string
		call sdk.PolicyRequest
		want string
	}{
		{"a read", callOf(readFile, map[string]any{"path": "a"}), "AAAA"},
		{"a write", write, "QAAA"},
		{"a write outside", callOf(writeFile, map[string]any{"path": "../a"}), "XXXX"},
		{"a write to what is protected", callOf(writeFile, map[string]any{"path": ".bothy/config.hcl"}), "XXXX"},
		{"a write to what is asked", callOf(writeFile, map[string]any{"path": ".vscode/tasks.json"}), "QXAQ"},
		{"a read of credentials", callOf(readFile, map[string]any{"path": "a/.env"}), "QXXQ"},
		{"side effects that nothing confines", callOf(bare, nil), "QXAQ"},
		{"a plugin that nothing vouches for", callOf(unpinned, nil), "QXAQ"},
		{"its path outside", callOf(unpinned, map[string]any{"path": "/etc"}), "XXXX"},
		{"the network", callOf(opens, nil), "QQXQ"},
		{"a proven line", lineOf("proven ls"), "AAAA"},
		{"a contained line", lineOf("contained mkdir"), "QAAA"},
		{"an unproven line", lineOf("unproven make"), "QXAQ"},
		{"an unsafe line", lineOf("unsafe eval"), "QXXQ"},
		{"a denied line", lineOf("denied mkfs"), "XXXX"},
		{"a denied line among others", lineOf("proven ls; denied mkfs"), "XXXX"},
		{"a line in the sandbox that is not said to be one", callOf(tool("sh", true, destructive, sdk.GrantSandbox), nil), "QXAQ"},
		{"an unpinned shell, proven", callOf(commands(tool("sh", false, reads, sdk.GrantSandbox)), map[string]any{"command": "proven ls"}), "QXAQ"},
		{"an unpinned shell, unsafe", callOf(commands(tool("sh", false, reads, sdk.GrantSandbox)), map[string]any{"command": "unsafe x"}), "QXXQ"},
		{"an unpinned shell, denied", callOf(commands(tool("sh", false, reads, sdk.GrantSandbox)), map[string]any{"command": "denied x"}), "XXXX"},
		{"a shell outside the sandbox", callOf(commands(tool("sh", true, sdk.Annotations{})), map[string]any{"command": "proven ls"}), "QXAQ"},
	} {
		got := ""
		for _, at := range []struct {
			mode     sdk.Mode
			attended bool
		}{{sdk.ModeInteractive, false}, {sdk.ModeRestricted, false}, {sdk.ModeFull, false}, {sdk.ModeRestricted, true}} {
			a := c.call
			a.Mode, a.Attended = at.mode, at.attended
			d := graded(Settings{}).Decide(a)
			got += map[sdk.Verdict]string{sdk.Allow: "A", sdk.Propose: "Q", sdk.Deny: "X"}[d.Verdict]
			if d.Rule == "" || d.Source != SourceBuiltIn || d.Reason == "" || strings.Contains(d.Reason, "%!") {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		ask := c.call
		ask.ReadOnly, ask.Mode = true, sdk.ModeFull
		if d := graded(Settings{}).Decide(ask); (d.Verdict == sdk.Allow) != (c.name == "a read") {
			t.Errorf("%s in a prompt that only reads: %s", c.name, d.Verdict)
		}
	}
}

// TestWhatAResultAsksFor: a person is asked about it, whatever its plugin may do in the project, but in full mode.
func TestWhatAResultAsksFor(t *testing.T) {
	apply := tool("apply", true, destructive, sdk.GrantSandbox, sdk.GrantProject)
	apply.Unlisted = true
	for _, c := range []struct {
		mode     sdk.Mode
		attended bool
		want     sdk.Verdict
	}{
		{sdk.ModeInteractive, false, sdk.Propose}, {sdk.ModeRestricted, true, sdk.Propose}, {sdk.ModeRestricted, false, sdk.Deny}, {sdk.ModeFull, false, sdk.Allow},
	} {
		request := callOf(apply, map[string]any{"call": "1", "paths": []any{map[string]any{"path": "a", "class": "asked"}}})
		request.Mode, request.Attended = c.mode, c.attended
		if d := New(Settings{}).Decide(request); d.Verdict != c.want || d.Rule != RuleFollow {
			t.Errorf("%s, attended %v: %+v", c.mode, c.attended, d)
		}
	}
}

// TestModeOfSettings: an action that names no mode has the configured one.
func TestModeOfSettings(t *testing.T) {
	for _, mode := range append(modes, "", "nonsense") {
		want := map[sdk.Mode]sdk.Verdict{sdk.ModeInteractive: sdk.Propose, sdk.ModeFull: sdk.Allow}[mode]
		if want == "" {
			want = sdk.Deny // as in restricted
		}
		if d := graded(Settings{Mode: mode}).Decide(lineOf("unproven make")); d.Verdict != want {
			t.Errorf("%q: %s", mode, d.Verdict)
		}
	}
}

// TestArgumentsOfAModelWidenNothing: what a model writes beside a command is an
// argument that no tool has, and no rule of policy's.
func TestArgumentsOfAModelWidenNothing(t *testing.T) {
	for _, line := range []string{"unproven make", "unsafe eval", "denied mkfs"} {
		for _, mode := range modes {
			plain := lineOf(line)
			plain.Mode = mode
			want := graded(Settings{}).Decide(plain)
			for _, extra := range []string{`"confirm":true`, `"yolo":true`, `"mode":"full"`, `"leave":"full"`, `"approved":true`, `"run":"other"`, `"attended":true`, `"pinned":true`} {
				a := plain
				a.Arguments = json.RawMessage(fmt.Sprintf(`{"command":%q,%s}`, line, extra))
				if got := graded(Settings{}).Decide(a); got.Verdict != want.Verdict {
					t.Errorf("%s with %s in %s: %s, want %s", line, extra, mode, got.Verdict, want.Verdict)
				}
			}
		}
	}
}

// TestDecisionShowsCommands: whatever decides, what was seen is in it.
func TestDecisionShowsCommands(t *testing.T) {
	deny := []sdk.PolicyRule{{Name: "no", Source: "f:1", Verdict: sdk.Deny, Tools: []string{"bash"}}}
	for _, set := range []Settings{{}, {Rules: deny}, {Mode: sdk.ModeFull}} {
		d := graded(set).Decide(lineOf("proven ls -la; unproven make all"))
		if len(d.Commands) != 2 || d.Commands[1].Text != "unproven make all" || strings.Join(d.Commands[1].Argv, " ") != "make all" {
			t.Errorf("%+v", d.Commands)
		}
	}
	d := New(Settings{}).Decide(lineOf("ls -la src"))
	if d.Verdict != sdk.Allow || strings.Join(d.Argv, "|") != "ls|-la|src" {
		t.Errorf("%+v", d)
	}
	d = New(Settings{Shell: "argv"}).Decide(lineOf("ls | wc"))
	if d.Verdict != sdk.Deny || d.Rule != "shell.argv" {
		t.Errorf("the strict form: %+v", d)
	}
}

// TestEscapeIsAViolation: a security event, other than an ordinary refusal.
func TestEscapeIsAViolation(t *testing.T) {
	for p, want := range map[string]string{"../x": "path_escape", "/etc/passwd": "path_escape", "~/x": "path_escape", ".git/config": "", "a\x00b": ""} {
		d := New(Settings{}).Decide(callOf(writeFile, map[string]any{"path": p}))
		if d.Verdict != sdk.Deny || d.Violation != want {
			t.Errorf("%q: %s, violation %q", p, d.Verdict, d.Violation)
		}
	}
}

// TestPlace: where a line starts is where its relative paths begin.
func TestPlace(t *testing.T) {
	for dir, want := range map[string]string{"": "/workspace", "src": "/workspace/src", "..": "/", "/tmp/": "/tmp", "a/../../x": "/x"} {
		if got := place(map[string]any{"dir": dir}); got.Dir != want || got.Workspace != "/workspace" {
			t.Errorf("%q: %+v", dir, got)
		}
	}
	if d := New(Settings{}).Decide(callOf(bash, map[string]any{"command": "cat x", "dir": "/etc"})); d.Verdict == sdk.Allow {
		t.Error("a file outside the workspace was read")
	}
}
