//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

func TestWaysToStartACall(t *testing.T) {
	shell := []string{"bash", "--noprofile", "--norc", "-c"}
	for name, c := range map[string]struct {
		command string
		argv    []string
		shell   string
		want    [][]string
	}{
		"a command line":              {"a | b\n", nil, "bash", [][]string{append(slices.Clone(shell), "a | b\n")}},
		"one that begins like a flag": {"-x y", nil, "bash", [][]string{append(slices.Clone(shell), "--", "-x y")}},
		"one simple command":          {"ls -l", []string{"ls", "-l"}, "bash", [][]string{{"ls", "-l"}, append(slices.Clone(shell), `"$@"`, "bash", "ls", "-l")}},
		"what bash has itself":        {"cd x", []string{"cd", "x"}, "bash", [][]string{append(slices.Clone(shell), `"$@"`, "bash", "cd", "x")}},
		"without a shell":             {"echo ''", []string{"echo", ""}, shellArgv, [][]string{{"echo", ""}}},
	} {
		got, err := ways(c.command, c.argv, c.shell)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := ways("a | b", nil, shellArgv); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a command line where there is no shell: %v", err)
	}
	if isBuiltin("") || isBuiltin("cd echo") || isBuiltin("ls") || !isBuiltin("[") || !isBuiltin("wait") {
		t.Error("builtins are told wrongly")
	}
}

func TestCommandIsDeclared(t *testing.T) {
	if spec := newBash(hclog.NewNullLogger()).tools().Tools()[0]; spec.Command != "command" {
		t.Fatalf("policy cannot read what would run: %+v", spec)
	}
}

// words calls the tool as the daemon does when policy proved the words.
func (r *rig) words(argv ...string) sdk.ToolResult {
	r.t.Helper()
	arguments, err := json.Marshal(map[string]string{"command": strings.Join(argv, " ")})
	if err != nil {
		r.t.Fatal(err)
	}
	result, err := r.b.tools().Invoke(r.t.Context(), sdk.Invocation{
		Tool: "bash", Arguments: arguments, Argv: argv, Run: "run-1", Project: r.project, RunDir: r.runDir,
	}, &stream{chunks: make(map[int]string)})
	if err != nil {
		r.t.Fatalf("%q: %v", argv, err)
	}
	return result
}

// TestWordsBehaveAsBashDoes compares what a command comes to as words with what
// it comes to as a line.
func TestWordsBehaveAsBashDoes(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	for name, content := range map[string]string{"plain": "echo of a script: $1; exit 7\n", "noexec": "echo never\n", "badsheb": "#!/no/such/interpreter\n"} {
		if err := os.WriteFile(filepath.Join(r.project, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(r.project, "noexec"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.project, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"ls"}, {"echo", "a", "b"}, {"echo", "--help"}, {"printf", "%q", "a'b"}, {"pwd"}, {"true"}, {"false"}, {"exit", "3"},
		{"cd", "folder"}, {"type", "ls"}, {"no-such-program", "x"}, {"./missing"}, {"./noexec"}, {"./folder"}, {"./badsheb"},
		{"./plain", "word"}, {"ls", "missing"}, {"plain/x"}, {"test", "-e", "folder"}, {"env", "-u", "_", "-u", "SHLVL"}, // which are bash's
	} {
		line, _, err := r.call(`{"command":` + string(must(json.Marshal(strings.Join(argv, " ")))) + `}`)
		if argv[0] == "printf" {
			line, _, err = r.call(`{"command":"printf %q \"a'b\""}`)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := r.words(argv...)
		if got.Metadata["exit_code"] != line.Metadata["exit_code"] || sorted(got.Output) != sorted(line.Output) || got.Outcome != line.Outcome {
			t.Errorf("%q: as words %v %q, as a line %v %q", argv, got.Metadata["exit_code"], got.Output, line.Metadata["exit_code"], line.Output)
		}
	}
	if got := r.words("echo", "$HOME", "a;b", "", "*"); got.Output != "$HOME a;b  *\n" {
		t.Errorf("words were read again: %q", got.Output)
	}
}

// sorted takes the order of lines away: bash has its environment in another.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

func TestWithoutAShell(t *testing.T) {
	needPodman(t)
	r := newRig(t, func(s *sdk.Settings) { s.Sandbox.Shell = shellArgv })
	if _, _, err := r.call(`{"command":"echo hi | cat"}`); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "sandbox.shell") {
		t.Errorf("a command line: %v", err)
	}
	if got := r.words("printf", "<%s>", "", "a b", "$(id)"); got.Output != "<><a b><$(id)>" || !got.Success {
		t.Errorf("got %+v", got)
	}
	got := r.words("no-such-program")
	if got.Success || got.Outcome != "exit:127" || !strings.Contains(got.Output, "not found") {
		t.Errorf("got %+v", got)
	}
}

func TestPrivateWorkspaceHasNothingOfTheProject(t *testing.T) {
	needPodman(t)
	r := newRig(t, func(s *sdk.Settings) { s.Sandbox.Workspace = sdk.WorkspacePrivate })
	if err := os.WriteFile(filepath.Join(r.project, "theirs"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, err := r.call(`{"command":"test ! -e theirs && echo mine >mine && ls"}`)
	if err != nil || got.Output != "mine\n" {
		t.Fatalf("got %+v %v", got, err)
	}
	r.event(runExpired)
	if got, _, err = r.call(`{"command":"cat mine"}`); err != nil || got.Output != "mine\n" {
		t.Fatalf("after it expired: %+v %v", got, err)
	}
	r.event(runReset)
	if got, _, err = r.call(`{"command":"ls -A"}`); err != nil || got.Output != "" || !got.Success {
		t.Fatalf("after the reset: %+v %v", got, err)
	}
	entries, err := os.ReadDir(r.project)
	if err != nil || len(entries) != 1 {
		t.Errorf("the project holds %v %v", entries, err)
	}
}
