package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestQuestion: whole is only what shows all of what would run.
func TestQuestion(t *testing.T) {
	const heads = "diff --git a/a b/a\n--- a/a\n+++ b/a\n"
	for name, c := range map[string]struct {
		p     sdk.Proposal
		want  string // the lines before the reason
		whole bool
	}{
		"a plain edit":         {write(`{"path":"a","content":"x\ny\n"}`, heads+"@@ -1 +1,2 @@\n-w\n+x\n+y\n"), "? write_file a\n  | -w\n  | +x\n  | +y\n", true},
		"lines like heads":     {write(`{"path":"a","content":"++ x\n"}`, heads+"@@ -1 +1 @@\n--- x\n+++ x\n"), "? write_file a\n  | --- x\n  | +++ x\n", true},
		"a context line":       {write(`{"path":"a","then_run":"ls"}`, heads+"@@ -1,2 +1,2 @@\n ls\n-a\n+b\n"), "? write_file a then_run=ls\n  | -a\n  | +b\n", true},
		"a path in the text":   {write(`{"path":"a"}`, heads+"@@ -1 +1 @@\n-a\n+b\n"), "? write_file a\n  | -a\n  | +b\n", true},
		"an empty text":        {write(`{"path":"a","x":""}`, heads+"@@ -1 +1 @@\n-a\n+b\n"), "? write_file a x=\"\"\n  | -a\n  | +b\n", true},
		"another file":         {write(`{"path":"b"}`, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"), "? write_file b\n  | --- a/a\n  | +++ b/a\n  … 2 more lines: d shows all of it\n", false},
		"a link":               {write(`{"path":"a"}`, "new file mode 120000\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n"), "? write_file a\n  | new file mode 120000\n  | +b\n", false},
		"a new file":           {write(`{"path":"a"}`, "new file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n"), "? write_file a\n  | +b\n", true},
		"a hunk that ends":     {write(`{"path":"a"}`, heads+"@@ -1,2 +1,2 @@\n-a\n+b\n"), "? write_file a\n  | -a\n  | +b\n", false},
		"only a line break":    {write(`{"path":"a"}`, heads+"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"), "? write_file a\n  | -a\n  | \\ No newline at end of file\n  | +a\n", true},
		"letters of others":    {write(`{"path":"а"}`, ""), "? write_file а\n", false},
		"a command":            {bash("ls", `{"command":"ls","timeout_seconds":5,"background":false}`), "? ls\n", true},
		"in the background":    {bash("ls", `{"command":"ls","timeout_seconds":5,"background":true,"x":"a b"}`), "? ls\n  background, x=\"a b\", timeout_seconds=5\n", true},
		"letters in a command": {bash("lѕ", `{"command":"lѕ"}`), "? lѕ\n", false},
		"it does not fit":      {bash("a\nb\nc\nd", `{"command":"a\nb\nc\nd","background":true}`), "? a\n| b\n| c\n  … 2 more lines: d shows all of it\n", false},
		"elsewhere":            {with(bash("ls", `{"command":"ls","dir":"sub"}`), func(p *sdk.Proposal) { p.Dir, p.Network = "/workspace/sub", true }), "? ls\n  in /workspace/sub, network open\n", true},
		"another tool":         {with(bash("ls", `{"command":"ls"}`), func(p *sdk.Proposal) { p.Tool, p.Plugin = "run", "x" }), "? ls\n  tool run of plugin x\n", true},
	} {
		lines, whole := Question(c.p, 80, 4)
		if got := Draw(lines[:len(lines)-1], nil); strings.TrimSpace(got) != strings.TrimSpace(c.want) || whole != c.whole {
			t.Errorf("%s: whole %t\n%s\nwant %t\n%s", name, whole, got, c.whole, c.want)
		}
	}
}

func write(arguments, diff string) sdk.Proposal {
	return sdk.Proposal{Tool: "write_file", Arguments: json.RawMessage(arguments), Diff: diff, Project: "/p", Dir: "/p"}
}

func bash(command, arguments string) sdk.Proposal {
	raw := strings.ReplaceAll(arguments, "\n", `\n`)
	return sdk.Proposal{Tool: "bash", Plugin: "bash", Command: command, Bytes: len(command), Arguments: json.RawMessage(raw), Project: "/p", Dir: "/workspace"}
}

func with(p sdk.Proposal, change func(*sdk.Proposal)) sdk.Proposal {
	change(&p)
	return p
}
