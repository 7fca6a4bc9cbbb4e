package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

// pythonPlugin is a script with the package for plugins in Python beside it.
func pythonPlugin(t *testing.T, name, text string) string {
	t.Helper()
	needPython(t)
	dir := t.TempDir()
	if err := copyPackage(filepath.Join(dir, "bothy")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bothy-plugin-"+name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// copyPackage puts the package into a folder.
func copyPackage(dir string) error {
	return fs.WalkDir(bothy.Python, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := bothy.Python.ReadFile(file)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), body, 0o644)
		}
		return err
	})
}

// conforms holds a plugin to the protocol, without a failure and without a warning.
func conforms(t *testing.T, path string, args ...string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(installation(t), "bin", "bothyd"), append(append([]string{"plugins", "test", "--call"}, args...), path)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 failed, 0 warnings") {
		t.Errorf("it does not keep to the protocol: %v\n%s", err, out)
	}
}

// TestPythonShort: the plugin of the package's own text is whole, in at most ten
// lines, and keeps to the protocol.
func TestPythonShort(t *testing.T) {
	text, err := bothy.Python.ReadFile("sdk/python/bothy/__init__.py")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "bothy-plugin-count:\n\n")
	rest, _, _ = strings.Cut(rest, "\nIt needs")
	source := strings.ReplaceAll(rest, "\n    ", "\n")
	source = strings.TrimPrefix(source, "    ")
	lines := 0
	for line := range strings.Lines(source) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 10 || lines < 5 {
		t.Fatalf("it has %d lines:\n%s", lines, source)
	}
	pieces := snippets(t, "docs/python.md", "python")
	conforms(t, pythonPlugin(t, "count", source))
	for line, piece := range pieces {
		if strings.HasPrefix(piece, "#!") {
			if piece != source {
				t.Errorf("docs/python.md:%d shows another plugin than the package:\n%s", line, source)
			}
			continue
		}
		path := pythonPlugin(t, fmt.Sprintf("line%d", line), "#!"+python+"\n"+piece+"\nplugin.serve()\n")
		if out, err := exec.Command(path, "describe").CombinedOutput(); err != nil {
			t.Errorf("docs/python.md:%d: %v\n%s", line, err, out)
		}
	}
}

// TestPythonUntyped: a parameter without a type is a mistake that names it.
func TestPythonUntyped(t *testing.T) {
	path := pythonPlugin(t, "untyped", "#!"+python+`
import bothy

plugin = bothy.Plugin("untyped", "1.0.0")

@plugin.tool
def count(text, most: int = 3) -> int:
    "Counts."
    return 1

plugin.serve()
`)
	out, err := exec.Command(path, "describe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "tool count: text has no type that a JSON Schema could be made of: write text: str") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPythonAddress: the address of a tool is one of its texts, or a mistake that says so.
func TestPythonAddress(t *testing.T) {
	for name, parameter := range map[string]string{"another": "page: str", "no text": "url: int", "a list": "url: list[str]"} {
		path := pythonPlugin(t, "visits", "#!"+python+`
import bothy

plugin = bothy.Plugin("visits", "1.0.0")

@plugin.tool(address="url", open_world=True)
def visit(`+parameter+`) -> str:
    "Goes somewhere."
    return ""

plugin.serve()
`)
		out, err := exec.Command(path, "describe").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "tool visit: its address is to be the name of a parameter that is a text, and url is none: write url: str") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// manyThings is a plugin that does all that the package is for.
const manyThings = `#!/usr/bin/python3
import dataclasses, datetime, time
from typing import Annotated, Literal, Optional

import bothy
from bothy import Arg

print("printed before it serves")
__import__("os").system("echo and by a command")


@dataclasses.dataclass
class Config:
    greeting: Annotated[str, "What is said first."]
    key: Annotated[Optional[str], Arg("A key.", secret=True)] = None
    wait: datetime.timedelta = datetime.timedelta(seconds=90)
    words: list[str] = dataclasses.field(default_factory=lambda: ["a", "b"])
    style: Literal["plain", "bold"] = "plain"
    count: Annotated[int, Arg("How many.", minimum=1, maximum=8)] = 2


@dataclasses.dataclass
class Window:
    first: Annotated[int, Arg("the first line", minimum=1)] = 1
    last: Optional[int] = None


plugin = bothy.Plugin("many", "1.0.0", config=Config, grants=["entries", "tools"], calls={"schemes": ["known", "prompt"], "tools": ["shout"]}, needs={"read_paths": ["/usr/share/dict"]})


@plugin.configured
def check():
    if plugin.settings.greeting == "no":
        raise bothy.Failed("validation", "no is no greeting")


@plugin.tool(read_only=True)
def shout(text: Annotated[str, Arg("what is said", example="hi")], how: Literal["loud", "soft"] = "loud", window: Window = None, times: Optional[int] = None) -> str:
    """Says a text."""
    window = window or Window()
    said = f"{plugin.settings.greeting} {text} {window.first}-{window.last} x{times} {plugin.settings.wait.seconds} {plugin.settings.words}"
    return said.upper() if how == "loud" else said


@plugin.tool(read_only=True)
def totals(numbers: list[float]) -> dict:
    """Adds numbers up."""
    return {"sum": sum(numbers)}


@plugin.tool(read_only=True)
def known(path: str, call: bothy.Call) -> bothy.Result:
    """Reads an entry."""
    call.progress("reading", 0.5)
    call.chunk("a piece\n")
    entry = call.host.entry(path)
    return bothy.Result(entry.body, structured={"hash": entry.hash})


@plugin.tool(read_only=True)
def relay(text: str, call: bothy.Call) -> str:
    """Has another tool say it."""
    answer = call.host.use("shout", text=text, how="soft")
    return "they say: " + answer.output


@plugin.tool(read_only=True)
def slow(call: bothy.Call) -> str:
    """Takes its time, unless it is cancelled."""
    for _ in range(50):
        call.check()
        time.sleep(0.01)
    return "done"


@plugin.tool(read_only=True)
def breaks() -> str:
    """Fails."""
    raise KeyError("deep inside")


@plugin.tool(read_only=True)
def forgets(text: str) -> str:
    """Forgets to return."""


@plugin.tool(read_only=True)
def silent(text: str) -> None:
    """Has nothing to return."""


@plugin.tool(address="url", read_only=True, open_world=True)
def visit(url: Annotated[str, Arg("where it goes", example="https://example.org/")], call: bothy.Call) -> str:
    """Goes somewhere, and to no other host where it is told so."""
    return f"{url} {call.same_host} {call.not_hosts}"


@plugin.skill("many")
def recite(call: bothy.Call) -> str:
    return call.request.input[::-1]


@plugin.filter("entry.recording", priority=5)
def guard(action):
    if "forbidden" in str(action.get("attributes")):
        return {**action, "state": "failed", "outcome": "permission", "body": "that is forbidden"}


@plugin.on("run.rested")
def rested(event, call: bothy.Call):
    prompt = call.host.entry("prompt://%d" % event["to"]).body
    call.host.write({"path": "known://rest", "body": f"{prompt} {event['from']}-{event['to']} {call.run == event['run']['key']}"})


@plugin.on("run.created")
def created(event):
    print("printed, and not on standard output")


plugin.serve()
`

// TestPythonPackage: schemas and values by their types, the configuration, calls back,
// streams, cancellation, hooks and code skills, by a daemon.
func TestPythonPackage(t *testing.T) {
	path := pythonPlugin(t, "many", manyThings)
	conforms(t, path, "--settings", `{"greeting":"well"}`)
	for settings, want := range map[string]string{
		`{"greeting":"well","style":"loud"}`: `it must be one of "plain", "bold"`,
		`{"greeting":"well","count":9}`:      "it must be from 1 to 8",
		`{"greeting":"well","foo":1}`:        "it declares greeting, key, wait, words, style, count",
	} {
		out, err := exec.Command(filepath.Join(installation(t), "bin", "bothyd"), "plugins", "test", "--settings", settings, path).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s", settings, err, out)
		}
	}
	e := newExecuting(t, fmt.Sprintf(`
plugin "many" {
  path     = %q
  sha256   = %q
  greeting = "Well"
  wait     = "1m30s"
  words    = ["x"]
  grants   = ["entries", "tools"]
}
`, path, pinOf(t, path)))
	body := "a plan"
	known := sdk.Write{Path: "known://plan", Body: &body, Writer: sdk.WriterModel}
	if _, err := e.store.Commit(t.Context(), sdk.Change{Run: e.run.ID, Writes: []sdk.Write{known}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ call, want string }{
		{`shout {"text":"hi"}`, "WELL HI 1-NONE XNONE 90 ['X']"},
		{`shout {"text":"hi","how":"soft","window":{"first":2,"last":3},"times":4}`, "Well hi 2-3 x4 90 ['x']"},
		{`shout {"text":"hi","how":"odd"}`, "validation"},
		{`shout {"text":"hi","window":{"first":0}}`, "validation"},
		{`shout {"text":"forbidden"}`, "permission"},
		{`totals {"numbers":[1,2.5]}`, `{"sum": 3.5}`},
		{`known {"path":"known://plan"}`, "a plan"},
		{`known {"path":"known://none"}`, "not_found"},
		{`relay {"text":"hi"}`, "they say: Well hi 1-None xNone 90 ['x']"},
		{`breaks {}`, "internal"},
		{`forgets {"text":"x"}`, "internal"},
		{`silent {"text":"x"}`, "done"},
		{`visit {"url":"https://example.org/"}`, "https://example.org/ False []"},
	} {
		r := e.wants(t, c.call, c.want)
		if c.call == "breaks {}" && (strings.Contains(r.Output, "Traceback") || !strings.Contains(r.Error, "KeyError: 'deep inside'")) {
			t.Errorf("a mistake is told as %q, %q", r.Error, r.Output)
		}
	}
	if !slices.ContainsFunc(e.host.Tools(), func(t sdk.Tool) bool { return t.Name == "visit" && t.Address == "url" && t.Annotations.OpenWorld }) {
		t.Error("visit declares no address")
	}
	kept := sdk.Invocation{Tool: "visit", Arguments: []byte(`{"url":"https://example.org/"}`), CallID: "kept", Run: e.run.Key, Project: e.project, RunDir: t.TempDir(), Deadline: time.Now().Add(30 * time.Second), SameHost: true, NotHosts: []string{"*.org"}}
	if r, err := e.host.Invoke(t.Context(), kept, silence{}); err != nil || r.Output != "https://example.org/ True ['*.org']" {
		t.Errorf("told to stay at its host it says %+v, %v", r, err)
	}
	e.rests(t, "a prompt")
	if x, err := e.store.Entry(t.Context(), e.run.ID, "known://rest"); err != nil || x.Body != "a prompt 1-1 True" {
		t.Errorf("told of a rest it wrote %q, %v", x.Body, err)
	}
	if r, _, err := e.execute(t, "many", "abc"); err != nil || r.Output != "cba" {
		t.Errorf("the skill: %+v, %v", r, err)
	}
}

// TestPythonJudges: what a judge in Python says is a judgement, and what goes wrong in one is none.
func TestPythonJudges(t *testing.T) {
	path := pythonPlugin(t, "judges", "#!"+python+`
import time

import bothy

plugin = bothy.Plugin("judges", "1.0.0")
plugin.agent("reviewer", "Reviews.", tools=["grep"], schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


@plugin.judge
def judge(work: bothy.Work) -> list[str]:
    if work.prompt == "forget":
        return None
    if work.prompt == "break":
        raise KeyError("deep inside")
    while work.prompt == "wait":
        work.call.check()
        time.sleep(0.01)
    return [] if work.done else [f"{work.agent} {work.run} {work.call.run} {work.result['n']} {work.call.remaining() > 0}"]


plugin.serve()
`)
	conforms(t, path)
	e := newExecuting(t, fmt.Sprintf("plugin \"judges\" {\n  path = %q\n  agents = [\"reviewer\"]\n}\n", path))
	work := sdk.Work{Agent: "reviewer", Run: "alias", Key: "key", Result: []byte(`{"n": 7}`)}
	judge := func(prompt string, done ...sdk.WorkDone) (sdk.Judgement, error) {
		w := work
		w.Prompt, w.Done = prompt, done
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if prompt == "wait" {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
		}
		return e.host.Validate(ctx, "judges", w)
	}
	if j, err := judge("", sdk.WorkDone{Tool: "grep", Success: true}); err != nil || !j.Accepted {
		t.Errorf("%+v %v", j, err)
	}
	if j, err := judge(""); err != nil || j.Accepted || !slices.Equal(j.Missing, []string{"reviewer alias key 7 True"}) {
		t.Errorf("%+v %v", j, err)
	}
	for prompt, want := range map[string]sdk.Outcome{"forget": sdk.Internal, "break": sdk.Internal, "wait": sdk.Timeout} {
		if j, err := judge(prompt); sdk.OutcomeOf(err) != want || j.Accepted {
			t.Errorf("%s: %+v %v, want outcome %s", prompt, j, err, want)
		}
	}
}

// TestPythonOpensFiles: a call opens files of its project, below it and behind no link.
func TestPythonOpensFiles(t *testing.T) {
	path := pythonPlugin(t, "opens", "#!"+python+`
import bothy

plugin = bothy.Plugin("opens", "1.0.0", grants=["project"])


@plugin.tool(read_only=True)
def peek(name: str, call: bothy.Call) -> str:
    """Reads a file of the project."""
    with call.open(name) as file:
        return file.read()


@plugin.tool()
def note(name: str, text: str, call: bothy.Call) -> str:
    """Writes a file of the project."""
    with call.open(name, "w") as file:
        file.write(text)
    return peek(name, call)


plugin.serve()
`)
	conforms(t, path)
	e := newExecuting(t, fmt.Sprintf("plugin \"opens\" {\n  path = %q\n  sha256 = %q\n  grants = [\"project\"]\n}\n", path, pinOf(t, path)))
	in := func(name string) string { return filepath.Join(e.project, name) }
	for _, err := range []error{
		os.MkdirAll(in("sub/deep"), 0o700), os.WriteFile(in("a.txt"), []byte("a"), 0o600), os.WriteFile(in("sub/deep/b.txt"), []byte("b"), 0o600),
		os.Symlink("a.txt", in("link.txt")), os.Symlink("/etc", in("out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ call, want string }{
		{`peek {"name":"a.txt"}`, "a"},
		{`peek {"name":"./sub//deep/b.txt"}`, "b"},
		{`note {"name":"sub/c.txt","text":"c"}`, "c"},
		{`peek {"name":"none.txt"}`, "not_found"},
		{`peek {"name":"sub/none/x"}`, "not_found"},
		{`peek {"name":"link.txt"}`, "permission"},
		{`peek {"name":"out/passwd"}`, "permission"},
		{`note {"name":"out/x","text":"x"}`, "permission"},
		{`peek {"name":"sub/../a.txt"}`, "validation"},
		{`peek {"name":"/etc/passwd"}`, "validation"},
		{`peek {"name":""}`, "validation"},
	} {
		e.wants(t, c.call, c.want)
	}
}

// rests gives the run a prompt that comes to nothing, leaves it, and waits until plugins heard that it rests.
func (e *executing) rests(t *testing.T, prompt string) {
	t.Helper()
	l, _, err := e.store.Begin(t.Context(), sdk.Loop{Run: e.run.ID, Prompt: prompt})
	if err == nil {
		_, err = e.store.Commit(t.Context(), sdk.Change{Run: e.run.ID, EndLoop: &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusOK, Reason: "done", Stop: sdk.StopAnswer}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if rested, err := e.engine.Leave(t.Context(), e.run.ID); err != nil || !rested {
		t.Fatalf("it does not rest: %v", err)
	}
	for {
		changed := e.store.Changed()
		owed, err := e.store.Owed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(owed) == 0 {
			return
		}
		select {
		case <-changed:
		case <-time.After(patience):
			text, _ := os.ReadFile(e.paths.Log)
			t.Fatalf("nobody heard of %+v\n%s", owed, text)
		}
	}
}
