package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeKeys is a person who types a line each time that there is a question.
type fakeKeys struct {
	mu     sync.Mutex
	lines  []string
	early  []string // typed before the question, as a terminal keeps it
	forgot int
	asked  chan struct{} // a question stands there and nothing is typed
}

func (k *fakeKeys) forget() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.early = nil
	k.forgot++
	return nil
}

func (k *fakeKeys) line(ctx context.Context) (string, error) {
	k.mu.Lock()
	var line string
	found := true
	switch {
	case len(k.early) > 0:
		line, k.early = k.early[0], k.early[1:]
	case len(k.lines) > 0:
		line, k.lines = k.lines[0], k.lines[1:]
	default:
		found = false
	}
	k.mu.Unlock()
	switch {
	case found && line == "^D":
		return "", io.EOF
	case found:
		return line, nil
	}
	if k.asked != nil {
		k.asked <- struct{}{}
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}

// unseen is a line like any other: a test has no screen.
func (k *fakeKeys) unseen(ctx context.Context) (string, error) {
	line, err := k.line(ctx)
	return line, err
}

const bashPath = "log://turn_1/bash/rm"

// aProposal is what a hostile model proposes.
func aProposal(project string) sdk.Proposal {
	command := "rm -rf build \x1b[2J\nls"
	return sdk.Proposal{
		ID: "1a2b3c4d", Hash: strings.Repeat("0123456789abcdef", 4), Run: 7, Alias: "brave-1", Project: project, Dir: "/p/sub", Path: bashPath,
		Tool: "bash", Plugin: "bash", Digest: strings.Repeat("d", 64), Mode: sdk.ModeInteractive, Created: epoch, Expires: epoch.Add(24 * time.Hour),
		Arguments: data(map[string]any{"command": command, "timeout_seconds": 5}), Command: command, Bytes: len(command),
		Offers: []sdk.Offer{
			{Remember: sdk.RememberCall, Text: "always allow this call of bash, with exactly these arguments"},
			{Remember: sdk.RememberCommand, Text: "always allow `rm -rf 'a build'` (with or without -v) in /workspace/sub"},
			{Remember: sdk.RememberTool, Text: "always allow bash, whatever it is called with"},
		},
		Mounts: []string{"/workspace (read and write): /p", "/home/bothy"},
		Decision: sdk.Decision{Verdict: sdk.Propose, Rule: "shell", Source: "built-in", Reason: "rm is not proven", Commands: []sdk.SeenCommand{
			{Text: "rm -rf build \x1b[2J\u202e", Argv: []string{"rm", "-rf", "build"}, Verdict: sdk.Propose, Whole: &sdk.WholeCommand{Argv: []string{"rm", "-rf", "a build"}, Dir: "/workspace/sub", Plain: []string{"-v"}}, Rule: "program", Reason: "rm removes"},
			{Text: "ls", Argv: []string{"ls"}, Via: []string{"env"}, Verdict: sdk.Allow},
		}},
		Said:  "It is harmless.\x1b[1A\nRun it? [y/N] y\n  what would run, 2 bytes:\n    | ls",
		State: sdk.StateProposed,
	}
}

// proposing is a loop that proposes, and goes on as it is answered.
func proposing(project string) func(*fakeDaemon, int64) {
	return func(f *fakeDaemon, loop int64) {
		f.policy.propose(aProposal(project))
		f.commit(sdk.JournalRow{Kind: sdk.KindLoopStarted, Loop: loop})
		f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: loop, Turn: 1})
		f.commit(entry(loop, 1, "assistant://1", text("I clean up."), sdk.StateResolved, "", "", map[string]any{"calls": []any{1}}))
		f.commit(entry(loop, 1, bashPath, text(""), sdk.StateProposed, "", sdk.PhaseRecorded, map[string]any{"tool": "bash", "arguments": map[string]any{"command": "rm"}, "proposal": map[string]any{"id": "1a2b3c4d"}}))
	}
}

// takesAnswers is how the daemon takes answers: one that fits is durable, and its rows
// come.
func takesAnswers(f *fakeDaemon) func(rpc.Resolve) (rpc.Resolved, error) {
	return func(r rpc.Resolve) (rpc.Resolved, error) {
		p, err := f.policy.Proposal(context.Background(), r.ID)
		if err != nil {
			return rpc.Resolved{}, err
		}
		if r.Hash != p.Hash || p.State != sdk.StateProposed {
			return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "the proposal is not what was shown\x07")
		}
		loop := int64(1)
		done := rpc.Resolved{Proposal: p, Status: sdk.StatusRunning}
		switch r.Answer {
		case sdk.Edit:
			p.Arguments, p.Hash = r.Arguments, "e"+p.Hash[1:]
			var arguments struct{ Command string }
			_ = json.Unmarshal(r.Arguments, &arguments)
			p.Command, p.Bytes = arguments.Command, len(arguments.Command)
			f.policy.propose(p)
			done.Proposal = p
			return done, nil
		case sdk.Reject:
			p.State, p.Outcome = sdk.StateFailed, sdk.Permission
			f.policy.propose(p)
			f.commit(entry(loop, 1, bashPath, text(""), sdk.StateFailed, sdk.Permission, sdk.PhaseEnded, map[string]any{"answer": map[string]string{"answer": "reject", "by": "a person"}, "error": "rejected"}))
			f.commit(ended(loop, 200, "answer", "rejected"))
		default:
			p.State = sdk.StateStreaming
			f.policy.propose(p)
			if r.Remember != "" {
				done.Rule = &sdk.RememberedRule{ID: "3f2a", PolicyRule: sdk.PolicyRule{Verdict: sdk.Allow, Tools: []string{"bash"}, Commands: []string{"rm"}, Project: p.Project}}
			}
			f.commit(entry(loop, 1, bashPath, nil, sdk.StateStreaming, "", sdk.PhaseApproved, map[string]any{"answer": map[string]string{"answer": "accept", "by": "a person"}}))
			f.commit(entry(loop, 1, bashPath, nil, sdk.StateStreaming, "", sdk.PhaseStarted, nil))
			f.commit(entry(loop, 1, bashPath, text("gone"), sdk.StateResolved, "", sdk.PhaseEnded, map[string]any{"duration_ms": 3}))
			f.commit(entry(loop, 1, "assistant://2", text("Done."), sdk.StateResolved, "", "", nil))
			f.commit(ended(loop, 200, "answer", "the model answered"))
		}
		done.Proposal = p
		return done, nil
	}
}

// withQuestion is a terminal where a person types lines.
func withQuestion(t *testing.T, lines ...string) (*bench, *fakeKeys) {
	t.Helper()
	b := withDaemon(t, nil)
	b.daemon.play, b.daemon.policy.resolve = proposing(b.project), takesAnswers(b.daemon)
	keys := &fakeKeys{lines: lines, early: []string{"y", "y"}}
	b.c.keys, b.c.inTTY, b.c.outTTY, b.c.errTTY = keys, true, true, true
	b.c.in = failing{t}
	return b, keys
}

// failing is an input that nobody may read.
type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("standard input was read")
	return 0, io.EOF
}

// answersOf are the answers that the daemon got, in a few words.
func (b *bench) answersOf() string {
	var all []string
	for _, r := range b.daemon.policy.resolved() {
		word := string(r.Answer)
		if r.Remember != "" {
			word += "+" + string(r.Remember)
		}
		if r.Reason != "" {
			word += " " + r.Reason
		}
		all = append(all, word)
	}
	return strings.Join(all, ", ")
}

func TestRunAsks(t *testing.T) {
	for name, c := range map[string]struct {
		typed string // lines, apart by /
		want  string
	}{
		"yes": {"y", "accept"}, "Yes": {" YES ", "accept"}, "nothing is no": {"", "reject"}, "no": {"n", "reject"}, "end of input": {"^D", "reject"},
		"no with a reason": {"n use  the trash", "reject use  the trash"}, "help first": {"?/d/y", "accept"}, "no answer is asked again": {"yy/sure/n", "reject"},
		"this call": {"r/1", "accept+call"}, "commands": {"r/2", "accept+command"}, "tool": {"r/3", "accept+tool"}, "remember nothing": {"r//n", "reject"},
		"edit and no": {"e/ls -l/n", "edit, reject"}, "edit nothing": {"e//y", "accept"}, "edit and yes": {"e/ls -l/y", "edit, accept"},
	} {
		t.Run(name, func(t *testing.T) {
			b, keys := withQuestion(t, strings.Split(c.typed, "/")...)
			b.want(t, exitOK, "run", "clean", "up")
			if got := b.answersOf(); got != c.want {
				t.Errorf("answered %q, want %q:\n%s", got, c.want, b.err.String())
			}
			if p := b.daemon.prompts[0]; !p.Attend || p.Mode != "" || p.Yolo {
				t.Errorf("asked the daemon for %+v", p)
			}
			if all := unpainted(b.out.String() + b.err.String()); strings.ContainsAny(all, "\x1b\u202e\x07") {
				t.Errorf("the terminal is steered: %q", all)
			}
			if len(keys.lines) != 0 || keys.forgot == 0 {
				t.Errorf("%d lines were not read, what was typed before was dropped %d times", len(keys.lines), keys.forgot)
			}
			first := b.daemon.policy.resolved()[0]
			if first.ID != "1a2b3c4d" || first.Hash != aProposal("").Hash {
				t.Errorf("answered %+v, which is not what was shown", first)
			}
		})
	}
}

func TestTheQuestion(t *testing.T) {
	b := newBench(t)
	p := aProposal("/p")
	p.Command = "rm -rf build \x1b[2J\u202e\nls"
	p.Arguments, p.Bytes = data(map[string]any{"command": p.Command, "timeout_seconds": 5}), len(p.Command)
	b.c.errTTY = true
	b.out.Reset()
	if _, err := io.WriteString(&b.out, b.c.draw(show.Details(p, 80, false))); err != nil {
		t.Fatal(err)
	}
	p.Tool, p.Plugin, p.Command, p.Network, p.Decision.Commands, p.Said = "write_file", "files", "", true, nil, ""
	p.Arguments = json.RawMessage("{\"content\":\"one\\ntwo\\n\",\"other\":\"not\\nin it\",\"path\":\"a\u202eb\"}")
	p.Diff = "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-zero\n+one\n+two\n"
	if _, err := io.WriteString(&b.out, b.c.draw(show.Details(p, 0, false))+b.c.draw(show.Details(p, 40, true))); err != nil {
		t.Fatal(err)
	}
	b.golden(t, "question")
	for line := range strings.Lines(b.out.String()) {
		if strings.HasPrefix(line, "    | ls") && strings.Contains(line, "says") {
			t.Error("the model's words look like ours")
		}
	}
}

// TestWhatCameDamagedIsNotAccepted: JSON cannot carry every byte, and a text that
// is not the daemon's is not what would run.
func TestWhatCameDamagedIsNotAccepted(t *testing.T) {
	b, _ := withQuestion(t, "y", "n")
	b.daemon.play = func(f *fakeDaemon, loop int64) {
		proposing(b.project)(f, loop)
		p := aProposal(b.project)
		p.Bytes++
		f.policy.propose(p)
	}
	p := aProposal(b.project)
	p.Bytes++
	b.daemon.policy.propose(p)
	b.c.keys = nil
	b.want(t, exitFailed, "proposals", "accept", p.ID, "--hash", p.Hash)
	if got := b.answersOf(); got != "" || !strings.Contains(b.err.String(), "not what would run") {
		t.Errorf("answered %q: %s", got, b.err.String())
	}
}

// TestSomebodyIsFaster: the question ends when the answer came from elsewhere,
// and an answer that came too late is told and does nothing.
func TestSomebodyIsFaster(t *testing.T) {
	b, keys := withQuestion(t)
	keys.asked = make(chan struct{})
	go func() {
		<-keys.asked
		_, _ = b.daemon.policy.Resolve(context.Background(), rpc.Resolve{ID: "1a2b3c4d", Hash: aProposal("").Hash, Answer: sdk.Accept})
	}()
	b.want(t, exitOK, "run", "x")
	if got := b.err.String(); !strings.Contains(got, "answered elsewhere") || b.answersOf() != "accept" {
		t.Errorf("answered %q: %s", b.answersOf(), got)
	}

	b, _ = withQuestion(t, "y")
	other := takesAnswers(b.daemon)
	b.daemon.policy.resolve = func(r rpc.Resolve) (rpc.Resolved, error) {
		if _, err := other(rpc.Resolve{ID: r.ID, Hash: r.Hash, Answer: sdk.Reject}); err != nil {
			return rpc.Resolved{}, err
		}
		return rpc.Resolved{}, sdk.Errorf(sdk.Conflict, "somebody else answered\x07 it")
	}
	b.want(t, exitOK, "run", "x")
	if got := b.err.String(); !strings.Contains(got, `answered\x07 it`) || !strings.Contains(got, "already answered") {
		t.Errorf("said %s", got)
	}

	b, _ = withQuestion(t, "y", "y") // it became another one meanwhile: that is shown, and asked
	changed := takesAnswers(b.daemon)
	b.daemon.policy.resolve = func(r rpc.Resolve) (rpc.Resolved, error) {
		if len(b.daemon.policy.resolved()) == 1 {
			if _, err := changed(rpc.Resolve{ID: r.ID, Hash: r.Hash, Answer: sdk.Edit, Arguments: data(map[string]string{"command": "other"})}); err != nil {
				return rpc.Resolved{}, err
			}
		}
		return changed(r)
	}
	b.want(t, exitOK, "run", "x")
	if got := b.err.String(); b.answersOf() != "accept, accept" || !strings.Contains(got, "another proposal by now") || strings.Count(unpainted(got), "? other\n") != 1 {
		t.Errorf("answered %q: %s", b.answersOf(), got)
	}
}

// TestInterruptAtAQuestion aborts the run: Ctrl-C is no answer.
func TestInterruptAtAQuestion(t *testing.T) {
	b, keys := withQuestion(t)
	keys.asked = make(chan struct{})
	go func() {
		<-keys.asked
		b.signals <- os.Interrupt
	}()
	b.want(t, exitAborted, "run", "x")
	if got := b.answersOf(); got != "" || len(b.daemon.aborts) != 1 {
		t.Errorf("answered %q, aborted %v", got, b.daemon.aborts)
	}
}

func TestEditor(t *testing.T) {
	b, _ := withQuestion(t, "e", "y")
	editor := filepath.Join(t.TempDir(), "my editor")
	script := "#!/bin/sh\ncp \"$2\" \"$SEEN\"\nprintf 'ls \"a b\"\\n' > \"$2\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(t.TempDir(), "seen")
	b.c.in = strings.NewReader("")
	b.c.environ = append(b.c.environ, "EDITOR='"+editor+"' -w", "SEEN="+seen)
	b.want(t, exitOK, "run", "x")
	if text, err := os.ReadFile(seen); err != nil || string(text) != aProposal("").Command {
		t.Errorf("the editor got %q (%v)", text, err)
	}
	var arguments map[string]any
	if r := b.daemon.policy.resolved(); len(r) != 2 || json.Unmarshal(r[0].Arguments, &arguments) != nil || arguments["command"] != `ls "a b"` || arguments["timeout_seconds"] != 5.0 || r[1].Hash == r[0].Hash {
		t.Errorf("answered %s: %s", b.answersOf(), b.err.String())
	}
	b, _ = withQuestion(t, "e", "n")
	b.c.in = strings.NewReader("")
	b.c.environ = append(b.c.environ, "VISUAL=false", "EDITOR='"+editor+"' -w")
	b.want(t, exitOK, "run", "x")
	if got := b.answersOf(); got != "reject" || !strings.Contains(b.err.String(), "nothing is changed") {
		t.Errorf("answered %q: %s", got, b.err.String())
	}
}

// TestNobodyToAsk: without a terminal no answer is read, the proposal is shown, and
// the end comes in time with what to do.
func TestNobodyToAsk(t *testing.T) {
	for _, terminal := range []string{"none", "out", "in"} {
		b, _ := withQuestion(t)
		b.c.inTTY, b.c.outTTY, b.c.errTTY = terminal == "in", terminal == "out", terminal == "out"
		if terminal == "none" {
			b.c.keys = nil
		}
		b.c.in = strings.NewReader("y\ny\n") // which goes with the prompt, and is no answer
		b.want(t, exitUnanswered, "run", "--answer-within", "1ms", "x")
		if p := b.daemon.prompts[0]; p.Attend {
			t.Errorf("%s: it attends", terminal)
		}
		for _, part := range []string{"what would run, ", `rm -rf build \x1b[2J\u{202e}`, "waits 1ms for an answer", "bothy proposals accept 1a2b3c4d", "waits for an answer (1 turn"} {
			if !strings.Contains(unpainted(b.err.String()), part) {
				t.Errorf("%s: %q is missing: %s", terminal, part, b.err.String())
			}
		}
		b.want(t, exitUnanswered, "run", "--answer-within", "1ms", "--json", "x")
		var r result
		if err := json.Unmarshal([]byte(b.out.String()), &r); err != nil || r.Exit != exitUnanswered || r.Status != sdk.StatusProposed || r.Proposal == nil || r.Proposal.Command != aProposal("").Command {
			t.Errorf("%s: %v %s", terminal, err, b.out.String())
		}
		b.want(t, exitUnanswered, "run", "--answer-within", "1ms", "--format", "stream-json", "x")
		if !strings.Contains(b.out.String(), `{"type":"proposal","proposal":{"id":"1a2b3c4d"`) {
			t.Errorf("%s: %s", terminal, b.out.String())
		}
		if terminal != "in" { // the lines of a chat are prompts; no question reads one
			b.c.in = strings.NewReader("x\ny\ny\n")
			b.want(t, exitUnanswered, "chat", "--answer-within", "1ms")
		}
		if b.answersOf() != "" {
			t.Errorf("%s: answered %s", terminal, b.answersOf())
		}
	}
}

// TestNobodyToAskAndNothingToShow: the end comes in time also when the daemon
// cannot say what waits.
func TestNobodyToAskAndNothingToShow(t *testing.T) {
	b, _ := withQuestion(t)
	b.c.inTTY, b.c.outTTY, b.c.errTTY, b.c.keys = false, false, false, nil
	b.c.in = strings.NewReader("")
	b.daemon.policy.silent = sdk.Errorf(sdk.Internal, "the disk is gone")
	b.want(t, exitUnanswered, "run", "--answer-within", "1ms", "x")
	if !strings.Contains(b.err.String(), "cannot be shown") || !strings.Contains(b.err.String(), "bothy proposals accept 1a2b3c4d") {
		t.Error(b.err.String())
	}
}

// TestRememberSaysWhatItCovers: each rule as it would be written, by numbers without a hole.
func TestRememberSaysWhatItCovers(t *testing.T) {
	b, _ := withQuestion(t, "r", "2")
	b.want(t, exitOK, "run", "clean", "up")
	for _, want := range []string{"2  always allow `rm -rf 'a build'` (with or without -v) in /workspace/sub", "[1, 2, 3;"} {
		if !strings.Contains(unpainted(b.err.String()), want) {
			t.Errorf("%q is not shown:\n%s", want, b.err.String())
		}
	}
	for typed, want := range map[string]string{"r/2": "accept+tool", "r/3/n": "reject"} {
		b, _ := withQuestion(t, strings.Split(typed, "/")...)
		b.daemon.policy.change = func(p *sdk.Proposal) {
			p.Offers = slices.DeleteFunc(slices.Clone(p.Offers), func(o sdk.Offer) bool { return o.Remember == sdk.RememberCommand })
		}
		b.want(t, exitOK, "run", "clean", "up")
		if got := b.answersOf(); got != want || !strings.Contains(b.err.String(), "[1, 2;") {
			t.Errorf("%s answered %q, want %q:\n%s", typed, got, want, b.err.String())
		}
	}
}
