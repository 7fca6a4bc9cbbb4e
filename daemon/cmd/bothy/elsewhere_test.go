package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestElsewhere: words of other tools do what they mean, or lead to the verb that does.
func TestElsewhere(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.want(t, exitOK, "exec", "-q", "who am I?")
	if len(b.daemon.prompts) != 1 || b.daemon.prompts[0].Prompt != "who am I?" {
		t.Errorf("exec asked %+v", b.daemon.prompts)
	}
	b.daemon.detail.root, b.daemon.detail.runs = b.project, []sdk.Run{{ID: 7, Alias: "brave-1", Project: 1}}
	b.daemon.changes = rpc.Changes{Run: "brave-1", Project: b.project, Differences: []sdk.Difference{{Path: "a.go", Status: "changed", Diff: "-a\n+b\n"}}}
	for ours, theirs := range map[string]string{
		"runs diff": "diff", "runs undo -n": "undo -n", "runs list": "sessions", "runs show brave-1": "session show brave-1", "runs rm": "runs delete",
		"version": "--version", "--json version": "--json --version", "run --help": "help run", "--help": "help", "auth login x": "login x", "runs undo --help": "help undo", "-C . runs list": "-C . sessions",
	} {
		code := b.run(strings.Fields(ours)...)
		out, err := b.out.String(), b.err.String()
		if got := b.run(strings.Fields(theirs)...); got != code || b.out.String() != out || b.err.String() != err {
			t.Errorf("bothy %s: exit %d, %q, %q; bothy %s: %d, %q, %q", theirs, got, b.out.String(), b.err.String(), ours, code, out, err)
		}
	}
	b.want(t, exitOK, "run", "--version")
	if b.out.String() != "bothy "+sdk.Version+"\n" || len(b.daemon.prompts) != 1 {
		t.Errorf("run --version: %q, %+v", b.out.String(), b.daemon.prompts)
	}
	for word, says := range map[string]string{
		"rm x": "`bothy runs rm RUN`", "delete x": "`bothy runs rm RUN`", "continue": "`bothy run -c", "providers list": "`bothy models`",
		"--json providers": "`bothy models`", "stats": "`bothy usage`", "nope": "`bothy --help`", "run --nope rm": "`bothy run --help`", "runs mcp": "`bothy runs` has the verbs list, show,",
		"policy list": "has the verbs rules, forget, test", "runs list mcp": "`bothy runs list --help`",
	} {
		if code := b.run(strings.Fields(word)...); code != exitUsage || !strings.Contains(b.err.String(), says) || b.out.String() != "" {
			t.Errorf("bothy %s: exit %d, %q, %q", word, code, b.out.String(), b.err.String())
		}
	}
}

// TestConversation: flags that are chat's alone need no verb, and a terminal is drawn on where
// it can be and a person wants it.
func TestConversation(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.c.inTTY, b.c.outTTY = true, true
	for typed, want := range map[string]string{
		"": "chat", "-c": "chat -c", "-r x --mode=restricted": "chat -r x --mode=restricted", "-C run": "chat -C run", "-m": "chat -m", "runs -c": "runs -c",
		"--version": "--version", "-c run": "-c run", "--nope": "--nope",
	} {
		if got := strings.Join(b.c.conversation(strings.Fields(typed)), " "); got != want {
			t.Errorf("bothy %s is bothy %s, want %s", typed, got, want)
		}
	}
	for typed, want := range map[string]string{
		"resume -m x fix-2": "chat -m x --run fix-2", "resume --project=y fix-2 -c": "chat --project=y --run fix-2 -c", "resume": "chat --pick", "resume fix-2": "chat --run fix-2", "resume -m x": "chat --pick -m x", "-C . resume a -m x": "-C . chat --run a -m x", "runs resume a": "runs resume a",
		"-p hello": "run hello", "-c -p go on": "run -c go on", "-m x --print y": "run -m x y", "-C . -p y": "run -C . y", "runs -p": "runs -p",
	} {
		if got := strings.Join(familiar(strings.Fields(typed)), " "); got != want {
			t.Errorf("bothy %s is bothy %s, want %s", typed, got, want)
		}
	}
	for _, set := range [][]string{{"BOTHY_PLAIN=1"}, {"TERM=dumb"}} {
		c := *b.c
		c.environ = append(slices.Clone(c.environ), set...)
		if c.drawn() || !b.c.drawn() {
			t.Errorf("%s, drawn: %t, want false; without: %t", set, c.drawn(), b.c.drawn())
		}
		if c = *b.c; true {
			c.plain = true
		}
		if c.drawn() {
			t.Error("it is drawn though it is to be plain")
		}
	}
	b.c.inTTY = false
	for _, args := range [][]string{nil, {"-c"}, {"--json"}, {"-C", "x"}} {
		if got := b.c.conversation(args); !slices.Equal(got, args) {
			t.Errorf("bothy %s without a terminal is bothy %s", args, got)
		}
	}
	b.want(t, exitUsage, "resume")
	if !strings.Contains(b.err.String(), "`bothy runs` prints it") {
		t.Errorf("resume without a terminal: %q", b.err.String())
	}
}

// TestInsteadsAreNoVerbs: a verb that is made later is not hidden by what was said in
// its place, and what is said names verbs that there are.
func TestInsteadsAreNoVerbs(t *testing.T) {
	parser, err := kong.New(&cli{}, verbs.Vars())
	if err != nil {
		t.Fatal(err)
	}
	for word := range elsewhere {
		if insteads[word] != "" {
			t.Errorf("%s is taken for a verb, and nothing can be said in its place", word)
		}
		for _, n := range parser.Model.Children {
			if n.Name == word {
				t.Errorf("%s is a verb", word)
			}
		}
	}
	for word, text := range insteads {
		for _, n := range parser.Model.Children {
			if n.Name == word {
				t.Errorf("%s is a verb", word)
			}
		}
		quoted := strings.Split(text, "`")
		for i := 1; i < len(quoted); i += 2 {
			at := parser.Model.Node
			for j, w := range ours(strings.Fields(quoted[i])[1:]) {
				var next *kong.Node
				for _, n := range at.Children {
					if n.Name == w {
						next = n
					}
				}
				if next == nil && j == 0 {
					t.Errorf("%s: there is no verb for %s", word, quoted[i])
				}
				if next == nil {
					break
				}
				at = next
			}
		}
	}
}

// TestManPages: a terminal gets the page by man, or by a pager where there is none.
func TestManPages(t *testing.T) {
	bin := t.TempDir()
	program := func(name, text string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t)
	b.c.environ = append(b.c.environ, "PATH="+bin)
	b.want(t, exitOK, "man", "run")
	raw := b.out.String()
	if !strings.HasPrefix(raw, ".") {
		t.Errorf("a pipe gets %.80q", raw)
	}
	b.c.outTTY = true
	b.want(t, exitOK, "man", "run")
	if out := b.out.String(); !strings.HasPrefix(out, "Usage: bothy run") {
		t.Errorf("without man and less it prints %.80q", out)
	}
	b.c.environ = append(b.c.environ, "PATH="+bin+":"+os.Getenv("PATH"), "PAGER=sed s/^/paged:/")
	if b.c.program("man") == "" {
		b.want(t, exitOK, "man", "run")
		if out := b.out.String(); !strings.HasPrefix(out, "paged:Usage: bothy run") {
			t.Errorf("the pager shows %.80q", out)
		}
	}
	program("man", `echo "man of ${1##*/}"; cat "$1"`)
	b.want(t, exitOK, "man", "run")
	if out := b.out.String(); out != "man of bothy-run.1\n"+raw {
		t.Errorf("man shows %.80q", out)
	}
	b.want(t, exitOK, "man")
	if out := b.out.String(); !strings.HasPrefix(out, "man of bothy.1\n") {
		t.Errorf("man shows %.80q", out)
	}
	b.want(t, exitUsage, "man", "nope")
}

// TestVersionJSON holds --json at --version.
func TestVersionJSON(t *testing.T) {
	b := newBench(t)
	b.want(t, exitOK, "--json", "--version")
	var v map[string]string
	if err := json.Unmarshal([]byte(b.out.String()), &v); err != nil || v["version"] != sdk.Version {
		t.Errorf("%v %v", v, err)
	}
}
