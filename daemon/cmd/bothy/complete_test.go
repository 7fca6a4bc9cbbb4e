package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// offered are the words that are offered for the last of words.
func (b *bench) offered(t *testing.T, shell string, words ...string) []string {
	t.Helper()
	b.want(t, exitOK, append([]string{completeVerb, shell}, words...)...)
	var found []string
	for line := range strings.Lines(b.out.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		found = append(found, word)
	}
	if b.err.String() != "" {
		t.Errorf("%q complains: %s", words, b.err.String())
	}
	return found
}

func TestComplete(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	b.daemon.detail.runs = []sdk.Run{
		{ID: 7, Project: 1, Alias: "brave-1"}, {ID: 8, Project: 1, Alias: "bold-2"}, {ID: 9, Project: 1, Alias: "$(touch x)"},
	}
	for _, c := range []struct {
		line string // its words are between spaces; the last one may be empty
		want string
	}{
		{"st", "status stop"},
		{"runs sh", "show"},
		{"runs rm brave-1 bo", "bold-2"},
		{"restore ", ":files"},
		{"runs show ", "brave-1 bold-2"},
		{"runs show b", "brave-1 bold-2"},
		{"undo b", "brave-1 bold-2"},
		{"sessions sh", "show"},
		{"runs show brave-1 ", ""},
		{"run -r br", "brave-1"},
		{"run -qr br", "brave-1"},
		{"run --run=br", "--run=brave-1"},
		{"run --run br", "brave-1"},
		{"run --format ", "text json stream-json"},
		{"run --format=j", "--format=json"},
		{"run --form", "--format"},
		{"run --json --project x --form", "--format"},
		{"run -- --fo", ""},
		{"run word wo", ""},
		{"-C ", ":dirs"},
		{"-C sub ru", "run runs"},
		{"run --project ", ":dirs"},
		{"run -m r", "replay/first-run"},
		{"tools call ", "bash read_file"},
		{"tools call ba", "bash"},
		{"tools call bash ", ""},
		{"completion ", "bash zsh fish"},
		{"nonsense --x=", ""},
		{"--", "--help --dir --json --no-color --version"},
	} {
		for _, shell := range []string{"zsh", "fish"} {
			if got := strings.Join(b.offered(t, shell, strings.Split(c.line, " ")...), " "); got != c.want {
				t.Errorf("%s %q offers %q, want %q", shell, c.line, got, c.want)
			}
		}
	}
	for line, want := range map[string]string{ // = and : are words of their own to bash, which replaces what is behind them
		"run --format = j": "json", "run --format =": "text json stream-json", "run --run = br": "brave-1",
	} {
		if got := strings.Join(b.offered(t, "bash", strings.Split(line, " ")...), " "); got != want {
			t.Errorf("bash %q offers %q, want %q", line, got, want)
		}
	}
	if got := rejoin([]string{"run", "-m", "ollama/qwen3", ":", "8b", "x"}); !slices.Equal(got, []string{"run", "-m", "ollama/qwen3:8b", "x"}) {
		t.Errorf("%q", got)
	}
	b.want(t, exitOK, completeVerb)
	b.want(t, exitUsage, "completion", "tcsh")
}

// TestCompleteAlone: without a daemon, or with one that does not answer, there
// are verbs and flags, soon, and no daemon is started.
func TestCompleteAlone(t *testing.T) {
	b := newBench(t)
	b.install(t, "broken") // starting it would be told
	b.completesAlone(t)
	socket, err := rpc.SocketPath(b.c.env)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	deaf, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	b.completesAlone(t)
	if err := deaf.Close(); err != nil {
		t.Error(err)
	}
}

func (b *bench) completesAlone(t *testing.T) {
	t.Helper()
	for line, want := range map[string]string{"sto": "stop", "run -r ": "", "run -m ": "", "run -a ": ""} {
		if got := strings.Join(b.offered(t, "zsh", strings.Split(line, " ")...), " "); got != want {
			t.Errorf("%q offers %q, want %q", line, got, want)
		}
	}
	if files, err := os.ReadDir(filepath.Join(filepath.Dir(filepath.Dir(b.project)), "state")); err == nil {
		t.Errorf("a daemon was started: %v", files)
	}
}

// TestBashCompletion lets bash itself complete, with this program's answers.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is needed")
	}
	b := newBench(t)
	b.want(t, exitOK, "completion", "bash")
	dir := t.TempDir()
	script := filepath.Join(dir, "bothy.bash")
	if err := os.WriteFile(script, []byte(b.out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(dir, "bothy")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nprintf '%s\\n' \"$*\" >&3\nprintf 'one word\\tx\\n:dirs\\t\\n'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), bash, "--norc", "-c", `source "$1"
compopt() { :; } # works only while readline completes
COMP_WORDS=("$2" run --format = ""); COMP_CWORD=4; COMP_WORDS[4]=su
_bothy 3>&1; printf '<%s>' "${COMPREPLY[@]}"; complete -p bothy`, "bash", script, fake)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if want := "__complete bash run --format = su\n<one word><sub dir>complete -F _bothy bothy\n"; err != nil || string(out) != want {
		t.Errorf("%v: got %q, want %q", err, out, want)
	}
}

// TestMan: every verb has a page, of the parts that a page has, and none says
// anything that groff does not understand.
func TestMan(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(t.TempDir(), "man1")
	b.want(t, exitOK, "man", "--to", dir)
	b.want(t, exitOK, "--help")
	help := b.out.String()
	pages, err := os.ReadDir(dir)
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	groff, _ := exec.LookPath("groff")
	for _, p := range pages {
		file := filepath.Join(dir, p.Name())
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		verb := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(p.Name(), "bothy"), "-"), ".1")
		if !strings.Contains(help, verb) {
			t.Errorf("%s is the page of no verb", p.Name())
		}
		for _, part := range []string{".TH BOTHY", "\n.SH NAME\nbothy", "\n.SH SYNOPSIS\n", "OPTIONS\n.TP\n"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q", p.Name(), part)
			}
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, ".") && strings.HasPrefix(line, "'") {
				t.Errorf("%s: %q is a request", p.Name(), line)
			}
		}
		b.want(t, exitOK, append([]string{"man"}, strings.Fields(verb)...)...)
		if b.out.String() != string(text) {
			t.Errorf("bothy man %s prints another page", verb)
		}
		if groff == "" {
			continue
		}
		if out, err := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff says of %s: %v %s", p.Name(), err, out)
		}
	}
	b.want(t, exitOK, "man")
	for _, part := range []string{".TP\n\\fB0\\fR\nfinished\n", "\nbothyd has ended", ".SH ENVIRONMENT", "bothy\\-logs"} {
		if !strings.Contains(b.out.String(), part) {
			t.Errorf("the page of bothy lacks %q", part)
		}
	}
	b.want(t, exitOK, "man", "plugins", "install")
	if !strings.Contains(b.out.String(), ".SH INSTALL") || !strings.Contains(b.out.String(), ".TH") {
		t.Errorf("the page of a verb below another: %.200s", b.out.String())
	}
	b.want(t, exitUsage, "man", "plugins", "nope")
	b.want(t, exitUsage, "man", "nope")
}
