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

// TestQuestionShapes: what is asked about each kind of change of files, in the three lines
// that there are for it beside the reason and the keys.
func TestQuestionShapes(t *testing.T) {
	const hash = "6dc37fc7c7f0e48ee4e7c7a5e8bfa4d5ae4b8a1b9a9d0a2a3c1d5e6f7a8b9c0d"
	for name, c := range map[string]struct {
		tool, arguments, diff string
		want                  string
		whole                 bool
	}{
		"a move": {"move_path", `{"source":"a.txt","destination":"p/b.txt"}`, "# new directory p/\ndiff --git a/a.txt b/p/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to p/b.txt\n",
			"? move_path source=a.txt destination=p/b.txt\n  | # new directory p/\n  … 2 more lines: d shows all of it\n", false},
		"a rename": {"move_path", `{"source":"a.txt","destination":"/workspace/b.txt"}`, "diff --git a/a.txt b/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to b.txt\n",
			"? move_path source=a.txt destination=/workspace/b.txt\n  | rename from a.txt\n  | rename to b.txt\n", true},
		"a rename of another file": {"move_path", `{"source":"a.txt","destination":"b.txt"}`, "diff --git a/c.txt b/b.txt\nsimilarity index 100%\nrename from c.txt\nrename to b.txt\n",
			"? move_path source=a.txt destination=b.txt\n  | diff --git a/c.txt b/b.txt\n  … 2 more lines: d shows all of it\n", false},
		"two names without a word": {"move_path", `{"source":"a.txt","destination":"b.txt"}`, "diff --git a/a.txt b/b.txt\n@@ -1 +1 @@\n-a\n+b\n",
			"? move_path source=a.txt destination=b.txt\n  | -a\n  | +b\n", false},
		"a deletion": {"delete_path", `{"path":"a.txt"}`, "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-keep\n",
			"? delete_path a.txt\n  | deleted file mode 100644\n  | -keep\n", true},
		"a deletion of a link": {"delete_path", `{"path":"l"}`, "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n",
			"? delete_path l\n  | deleted file mode 120000\n  … 2 more lines: d shows all of it\n", false},
		"an empty file that goes unsaid": {"delete_path", `{"path":"a"}`, "diff --git a/a b/a\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
			"? delete_path a\n  | +++ /dev/null\n  | -x\n", false},
		"a binary file": {"delete_path", `{"path":"bin"}`, "diff --git a/bin b/bin\ndeleted file mode 100644\n# the binary file a/bin is not shown: 3 bytes, sha256 " + hash + "\n",
			"? delete_path bin\n  | deleted file mode 100644\n  … 2 more lines: d shows all of it\n", false},
		"a folder":       {"create_directory", `{"path":"p/q"}`, "# new directory p/\n# new directory p/q/\n", "? create_directory p/q\n  | # new directory p/\n  | # new directory p/q/\n", true},
		"another folder": {"create_directory", `{"path":"p/q"}`, "# new directory r/\n", "? create_directory p/q\n  | # new directory r/\n", false},
		"a file in a new folder": {"write_file", `{"path":"p/n","content":"hi\n"}`, "# new directory p/\ndiff --git a/p/n b/p/n\nnew file mode 100644\n--- /dev/null\n+++ b/p/n\n@@ -0,0 +1 @@\n+hi\n",
			"? write_file p/n\n  | # new directory p/\n  | +hi\n", true},
		"a verb on a file":       {"set", `{"path":"a","body":"x\ny\n"}`, "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-w\n+y\n", "? set a\n  | -w\n  | +y\n", true},
		"what is so already":     {"write_file", `{"path":"a","content":"x"}`, "# a stays as it is: its contents are these already\n", "? write_file a content=x\n  | # a stays as it is: its contents are these already\n", true},
		"a folder that is there": {"create_directory", `{"path":"d"}`, "# the directory d exists already; nothing would be done\n", "? create_directory d\n  | # the directory d exists already; nothing would be done\n", true},
		"several files": {"delete_path", `{"path":"d","recursive":true}`, "# deleted directory d/\ndiff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/d/y b/d/y\ndeleted file mode 100644\n--- a/d/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n",
			"? delete_path d recursive=true\n  | # deleted directory d/\n  … 9 more lines: d shows all of it\n", false},
		"what a command changed": {"apply", `{"paths":[{"path":".vscode/tasks.json","digest":"` + hash + `"}]}`, "--- /dev/null\n+++ b/.vscode/tasks.json\n@@ -0,0 +1 @@\n+run me\n.vscode/tasks.json: nothing becomes a file of mode 644\n",
			"? apply .vscode/tasks.json\n  | +run me\n  | .vscode/tasks.json: nothing becomes a file of mode 644\n", false},
	} {
		p := sdk.Proposal{Tool: c.tool, Arguments: json.RawMessage(c.arguments), Diff: c.diff, Project: "/p", Dir: "/p"}
		lines, whole := Question(p, 80, 3)
		if got := Draw(lines[:len(lines)-1], nil); got != c.want || whole != c.whole {
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
