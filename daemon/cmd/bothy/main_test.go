package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

func TestRunText(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.want(t, exitOK, "run", "who", "am", "I?")
	b.golden(t, "run-text")
	if p := b.daemon.prompts[0]; p.Prompt != "who am I?" || p.Project != b.project || p.Agent != "" {
		t.Errorf("the daemon was asked %+v", p)
	}
	b.want(t, exitOK, "run", "-q", "again")
	if b.out.String() != "You are 1000.\x07\n" || b.err.String() != "" {
		t.Errorf("quiet: %q and %q", b.out.String(), b.err.String())
	}
}

func TestRunJSON(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.want(t, exitOK, "run", "--format", "json", "x")
	b.golden(t, "run-json")
	b.want(t, exitOK, "--json", "run", "x")
	var r result
	if err := json.Unmarshal([]byte(b.out.String()), &r); err != nil || r.Answer != "You are 1000.\a" || len(r.Actions) != 2 || r.Usage.Prompt != 250 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestAnAnswerThatWasCutOff is none: who takes standard output for the answer
// gets nothing, and a person still sees the text.
func TestAnAnswerThatWasCutOff(t *testing.T) {
	b := withDaemon(t, func(f *fakeDaemon, loop int64) {
		f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: loop, Turn: 1})
		f.commit(entry(loop, 1, "assistant://1", text("The answer is"), sdk.StateFailed, sdk.Aborted, "", map[string]any{"partial": true}))
		f.commit(ended(loop, 499, "aborted", "aborted by a person"))
	})
	b.want(t, exitAborted, "run", "x")
	if b.out.String() != "" || !strings.Contains(b.err.String(), "\nThe answer is\naborted") {
		t.Errorf("%q and %q", b.out.String(), b.err.String())
	}
	b.want(t, exitAborted, "run", "-q", "x")
	if b.out.String() != "" {
		t.Errorf("quiet: %q", b.out.String())
	}
	b.want(t, exitAborted, "run", "--json", "x")
	var r result
	if err := json.Unmarshal([]byte(b.out.String()), &r); err != nil || r.Answer != "" || r.Partial != "The answer is" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestRunStreamJSON(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.want(t, exitOK, "run", "--format", "stream-json", "x")
	var kinds []string
	for _, line := range strings.Split(strings.TrimSpace(b.out.String()), "\n") {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, e.Type)
	}
	if kinds[0] != "accepted" || kinds[len(kinds)-1] != "result" || kinds[1] != "row" || len(kinds) < 10 {
		t.Errorf("events %v", kinds)
	}
}

// TestPreview streams text that is committed afterwards: a terminal shows it
// once.
func TestPreview(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		dropped  bool
	}{"terminal": {terminal: true}, "terminal, dropped": {terminal: true, dropped: true}, "file": {}} {
		t.Run(name, func(t *testing.T) {
			b := withDaemon(t, nil)
			b.c.outTTY, b.c.errTTY = c.terminal, c.terminal
			b.daemon.play = func(f *fakeDaemon, loop int64) {
				f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: loop, Turn: 1})
				f.commit(sdk.JournalRow{Kind: sdk.KindNoteProgress, Loop: loop, Turn: 1, Data: data(map[string]string{"message": "begun"})})
				deadline := time.Now().Add(time.Minute)
				for !strings.Contains(b.err.String(), "begun") && time.Now().Before(deadline) {
					time.Sleep(time.Millisecond) // previews go only to who watches already
				}
				f.show(rpc.Preview{Run: 7, Loop: loop, Turn: 1, Text: "wrong", First: true})
				f.show(rpc.Preview{Run: 7, Loop: loop, Turn: 1, Restart: true})
				f.show(rpc.Preview{Run: 7, Loop: loop, Turn: 1, Text: "The ans\x1b", First: true})
				f.show(rpc.Preview{Run: 7, Loop: loop, Turn: 1, Text: "wer", Dropped: c.dropped})
				f.commit(entry(loop, 1, "assistant://1", text("The ans\x1bwer."), sdk.StateResolved, "", "", nil))
				f.commit(ended(loop, 200, "answer", ""))
			}
			b.want(t, exitOK, "run", "x")
			all := b.out.String() + b.err.String()
			if c.terminal {
				if strings.Contains(all, "\x1bw") || strings.Count(all, `The ans\x1bwer.`) != 1 || !strings.Contains(all, "asked again") || b.out.String() != "" {
					t.Errorf("stdout %q, stderr %q", b.out.String(), b.err.String())
				}
			} else if b.out.String() != "The ans\x1bwer.\n" || strings.Contains(b.err.String(), "The ans") {
				t.Errorf("stdout %q, stderr %q", b.out.String(), b.err.String())
			}
		})
	}
}

// TestPreviewOfAnotherDaemon: an answer whose daemon died begins anew where it
// is seen. What the next daemon had sent before it was followed again is not
// taken for the begin: the text comes once, with its row.
func TestPreviewOfAnotherDaemon(t *testing.T) {
	b := newBench(t)
	b.c.outTTY, b.c.errTTY = true, true
	p := newProgress(b.c, newLoopState(1))
	p.row(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: 1, Turn: 1}, timeline.Change{})
	for _, v := range []rpc.Preview{{Text: "The old ans", First: true}, {Restart: true}, {Text: "new answer"}} {
		v.Loop, v.Turn = 1, 1
		if v.Restart {
			p.lost()
			b.c.say("bothyd died")
		}
		p.preview(v)
	}
	row := entry(1, 1, "assistant://1", text("The new answer"), sdk.StateResolved, "", "", nil)
	for _, partial := range []sdk.JournalRow{
		entry(1, 1, "assistant://1/partial_1", text("The old ans"), sdk.StateFailed, sdk.Interrupted, "", nil),
		entry(1, 1, "assistant://1", text("The new"), sdk.StateStreaming, "", "", nil), row,
	} {
		c, _ := p.loop.take(partial)
		p.row(partial, c)
	}
	p.loop.End = &sdk.LoopEnd{Status: 200, Stop: "answer"}
	if err := p.finish(rpc.Accepted{Run: "brave-1"}, false); err != nil {
		t.Fatal(err)
	}
	if out, errs := b.out.String(), b.err.String(); out != "The new answer\n" || !strings.Contains(errs, "The old ans\nbothyd died\n") || strings.Count(errs, "The old ans") != 1 || !strings.Contains(errs, "asked again") || strings.Contains(errs, "new answer") {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

// TestAbortedOutput: what streamed before a call was ended stands there once, and the
// reason as well.
func TestAbortedOutput(t *testing.T) {
	for name, body := range map[string]string{"whole": "one\ntwo\nthr", "cut": "wo\nthr"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := newProgress(b.c, newLoopState(1))
			const path = "log://turn_1/evil/call"
			for _, row := range []sdk.JournalRow{
				{Kind: sdk.KindTurnOpened, Loop: 1, Turn: 1},
				entry(1, 1, path, text(""), sdk.StateStreaming, "", sdk.PhaseStarted, map[string]any{"tool": "evil"}),
				{Kind: sdk.KindEntryChunk, Path: path, Data: data(map[string]int{"channel": 1}), Body: text("one\ntwo\nthr")},
				entry(1, 1, path, text(body+"\n\naborted: no"), sdk.StateCancelled, sdk.Aborted, sdk.PhaseEnded, map[string]any{"error": "aborted: no"}),
			} {
				c, _ := p.loop.take(row)
				p.row(row, c)
			}
			want := "• evil\n  │ one\n  │ two\n  │ thr\n  ✗ cancelled: aborted: no, turn_1/evil/call\n"
			if got := b.err.String(); got != want {
				t.Errorf("shown\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestExitCodesOfRun(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		stop   string
		want   int
	}{
		"answer": {200, "answer", exitOK}, "terminal 204": {204, "terminal", exitOK}, "unable": {422, "terminal", exitFailed},
		"failed": {500, "failed", exitFailed}, "overflow": {413, "overflow", exitFailed}, "max turns": {500, "max_turns", exitStopped},
		"rejected": {200, "rejected", exitOK}, "aborted": {499, "aborted", exitAborted}, "replay": {500, "replay", exitUsage}, "mismatch": {500, "mismatch", exitFailed}, "proposal": {500, "proposal", exitUnanswered},
	} {
		t.Run(name, func(t *testing.T) {
			b := withDaemon(t, func(f *fakeDaemon, loop int64) { f.commit(ended(loop, c.status, c.stop, "because\x1b of it")) })
			b.want(t, c.want, "run", "x")
			if c.want != exitOK && !strings.Contains(b.err.String(), `because\x1b of it`) {
				t.Errorf("the reason is missing: %q", b.err.String())
			}
			b.want(t, c.want, "run", "-q", "x")
			if c.want != exitOK && !strings.Contains(b.err.String(), `because\x1b of it`) {
				t.Errorf("quiet hides the reason: %q", b.err.String())
			}
		})
	}
}

func TestPrompts(t *testing.T) {
	b := withDaemon(t, twoTurns)
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"from a pipe\n", nil, "from a pipe"},
		{"a diff\n", []string{"-", "review", "this"}, "review this\n\na diff"},
		{"", []string{"just", "words"}, "just words"},
		{"piped\n", []string{"just", "words"}, "just words\n\nStandard input:\n```\npiped\n```"},
		{"", []string{"--", "--help"}, "--help"},
	} {
		b.c.in = strings.NewReader(c.stdin)
		b.want(t, exitOK, append([]string{"run", "-q"}, c.args...)...)
		if got := b.daemon.prompts[len(b.daemon.prompts)-1].Prompt; got != c.want {
			t.Errorf("%v with %q asked %q, want %q", c.args, c.stdin, got, c.want)
		}
	}
	b.want(t, exitOK, "run", "--ask", "-m", "m1", "-r", "r1", "-a", "a1", "look")
	if p := b.daemon.prompts[len(b.daemon.prompts)-1]; p.Model != "m1" || p.Run != "r1" || p.Agent != "a1" || b.daemon.modes[len(b.daemon.modes)-1] != true {
		t.Errorf("%+v", p)
	}
}

func TestUsage(t *testing.T) {
	b := newBench(t)
	b.c.in = strings.NewReader(" \n")
	home := filepath.Dir(b.project)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such verb":     {[]string{"nope"}, "`bothy --help`"},
		"nor of runs":      {[]string{"runs", "stop"}, "has the verbs list, show,"},
		"nor of a list":    {[]string{"runs", "list", "x"}, "`bothy runs list --help`"},
		"no such flag":     {[]string{"run", "--nope"}, "bothy run --help"},
		"bad format":       {[]string{"run", "--format", "xml", "x"}, "--format"},
		"empty prompt":     {[]string{"run"}, "empty"},
		"home":             {[]string{"-C", home, "run", "x"}, "--project"},
		"root":             {[]string{"-C", "/", "run", "x"}, "--project"},
		"no directory":     {[]string{"-C", "/nope", "run", "x"}, "/nope"},
		"no project":       {[]string{"run", "--project", "nope", "x"}, "--project nope"},
		"two runs":         {[]string{"run", "-c", "-r", "r1", "x"}, "leave out one"},
		"two runs to talk": {[]string{"chat", "--last", "-r", "r1"}, "leave out one"},
		"arguments":        {[]string{"tools", "call", "bash", "{"}, "JSON object"},
		"null arguments":   {[]string{"tools", "call", "bash", "null"}, "JSON object"},
		"list arguments":   {[]string{"tools", "call", "bash", "[1]"}, "JSON object"},
		"limit":            {[]string{"runs", "list", "-n", "0"}, "--limit"},
		"no bothyd":        {[]string{"doctor"}, "make build"},
		"no bothyd at all": {[]string{"models"}, "make build"},
	} {
		if got := b.run(c.args...); got != exitUsage || !strings.Contains(b.err.String(), c.says) || b.out.String() != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want 2 and %q", name, got, b.out.String(), b.err.String(), c.says)
		}
	}
	b.c.inTTY = true
	b.want(t, exitUsage, "run")
	b.want(t, exitOK, "run", "--help")
	if !strings.Contains(b.out.String(), `git diff | bothy run "review this"`) {
		t.Errorf("help: %s", b.out.String())
	}
	b.want(t, exitOK)
	if !strings.Contains(b.out.String(), "Commands:") {
		t.Errorf("without a word: %s", b.out.String())
	}
	b.want(t, exitOK, "--help")
	for _, code := range []string{"0  finished", "4  a question", "5  aborted"} {
		if !strings.Contains(b.out.String(), code) {
			t.Errorf("help lacks exit code %q", code)
		}
	}
}

func TestRefusedPrompt(t *testing.T) {
	b := withDaemon(t, nil)
	for _, c := range []struct {
		err  error
		want int
	}{
		{sdk.Errorf(sdk.Validation, "there is no model \x1bx"), exitUsage},
		{sdk.Errorf(sdk.NotFound, "there is no agent x"), exitUsage},
		{sdk.Errorf(sdk.Conflict, "the run is busy"), exitFailed},
		{errors.New("disk full"), exitFailed},
	} {
		b.daemon.refuse = c.err
		b.want(t, c.want, "run", "x")
		if want := "bothy: " + show.Text(c.err.Error()) + "\n"; b.err.String() != want {
			t.Errorf("stderr %q, want %q", b.err.String(), want)
		}
	}
}

func TestInterrupts(t *testing.T) {
	b := withDaemon(t, func(*fakeDaemon, int64) {})
	b.signals <- os.Interrupt
	b.want(t, exitAborted, "run", "x")
	if len(b.daemon.aborts) != 1 || b.daemon.aborts[0] != 7 || !strings.Contains(b.err.String(), "aborted") {
		t.Errorf("aborts %v, stderr %q", b.daemon.aborts, b.err.String())
	}
}

// TestInterruptsAreHeardFirst: who presses Ctrl-C as soon as the prompt is at work is heard, though nobody
// follows it yet.
func TestInterruptsAreHeardFirst(t *testing.T) {
	for _, args := range [][]string{{"run", "x"}, {"chat", "--plain"}} {
		var heard atomic.Bool
		b := withDaemon(t, nil)
		b.daemon.play = func(*fakeDaemon, int64) {
			if !heard.Load() {
				t.Errorf("%s: the prompt is at work, and nobody hears Ctrl-C", args)
			}
			b.signals <- os.Interrupt
		}
		b.c.in = strings.NewReader("x\n")
		b.c.interrupts = func() (<-chan os.Signal, func()) { heard.Store(true); return b.signals, func() {} }
		b.want(t, exitAborted, args...)
		if len(b.daemon.aborts) != 1 {
			t.Errorf("%s: aborts %v", args, b.daemon.aborts)
		}
	}
}

// TestInterruptsBeforeItIsTaken: a prompt that the daemon is slow to take is aborted then, and left at the
// second Ctrl-C.
func TestInterruptsBeforeItIsTaken(t *testing.T) {
	b := withDaemon(t, func(*fakeDaemon, int64) {})
	b.daemon.slow = make(chan struct{})
	b.signals <- os.Interrupt
	go func() {
		for !strings.Contains(b.err.String(), "the prompt is aborted as soon as") {
			time.Sleep(time.Millisecond)
		}
		close(b.daemon.slow)
	}()
	b.want(t, exitAborted, "run", "x")
	if len(b.daemon.aborts) != 1 {
		t.Errorf("aborts %v", b.daemon.aborts)
	}
	b.daemon.slow, b.daemon.aborts = make(chan struct{}), nil
	b.signals <- os.Interrupt
	b.signals <- os.Interrupt
	b.want(t, exitAborted, "run", "x")
	if len(b.daemon.aborts) != 0 || !strings.Contains(b.err.String(), "left before bothyd had taken the prompt") {
		t.Errorf("aborts %v, stderr %q", b.daemon.aborts, b.err.String())
	}
	close(b.daemon.slow)
}

// TestSecondInterruptLeaves: the loop does not end when it is aborted.
func TestSecondInterruptLeaves(t *testing.T) {
	b := withDaemon(t, func(*fakeDaemon, int64) {})
	b.daemon.stubborn = true
	b.signals <- os.Interrupt
	go func() {
		for !strings.Contains(b.err.String(), "aborting run") {
			time.Sleep(time.Millisecond)
		}
		b.signals <- os.Interrupt
	}()
	b.want(t, exitAborted, "run", "x")
	if !strings.Contains(b.err.String(), "left run brave-1; `bothy runs show brave-1`") {
		t.Errorf("stderr %q", b.err.String())
	}
}

func TestChat(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.c.in = strings.NewReader("hello\n\n  again  \n/quit\nnever\n")
	b.want(t, exitOK, "chat")
	if len(b.daemon.prompts) != 2 || b.daemon.prompts[0].Agent != "chat" || b.daemon.prompts[0].Run != "" || b.daemon.prompts[1].Run != "brave-1" || b.daemon.prompts[1].Prompt != "again" {
		t.Errorf("prompts %+v", b.daemon.prompts)
	}
	if got := b.out.String(); got != "You are 1000.\x07\nYou are 1000.\x07\n" {
		t.Errorf("stdout %q", got)
	}
	b.daemon.play = func(f *fakeDaemon, loop int64) { f.commit(ended(loop, 500, "max_turns", "enough")) }
	b.c.in = strings.NewReader("no newline at the end")
	b.want(t, exitStopped, "chat")
}

// TestChatGoesOn: a prompt that had as many turns as it may take goes on when a person
// says so, and other text is the next prompt. The end of the chat leaves the run.
func TestChatGoesOn(t *testing.T) {
	for lines, want := range map[string]struct{ resumed, prompts int }{
		"hello\n\n/quit\n":            {1, 2}, // the fake counts what goes on as a prompt
		"hello\nY\nyes\nn\n\n/quit\n": {2, 3},
		"hello\nno\n/quit\n":          {0, 1},
		"hello\nelse\n/quit\n":        {0, 2},
		"hello\n/quit\n":              {0, 1},
		"hello":                       {0, 1},
	} {
		b := withDaemon(t, func(f *fakeDaemon, loop int64) { f.commit(ended(loop, 500, "max_turns", "enough")) })
		b.daemon.detail = eventful(b.project)
		b.c.inTTY, b.c.in = true, strings.NewReader(lines)
		b.want(t, exitOK, "chat")
		if done := b.daemon.done; len(done) != want.resumed+1 || done[want.resumed] != "leave 7" || len(b.daemon.prompts) != want.prompts {
			t.Errorf("%q: did %v, %d prompts", lines, b.daemon.done, len(b.daemon.prompts))
		}
		if !strings.Contains(b.err.String(), "bothy runs resume brave-1 goes on") {
			t.Errorf("%q: %s", lines, b.err.String())
		}
	}
}

func TestLists(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = fakeRun{
		root: b.project,
		runs: []sdk.Run{
			{ID: 7, Project: 1, Alias: "brave-1", Agent: "default", Model: "replay/first-run", Status: 200, Turns: 2, Updated: epoch.Local()},
			{ID: 8, Project: 1, Alias: "tools", Agent: "tools", Status: 100, Turns: 3, Hidden: true},
		},
		loops: []sdk.Loop{{ID: 3, Run: 7, Sequence: 1, Prompt: "do it\nnow\x1b[1m", Status: 500, Stop: "max_turns", Reason: "99 turns were not enough", Created: epoch, Ended: epoch.Add(2 * time.Second)}},
		turns: []sdk.Turn{{Sequence: 1, Loop: 3, Model: "first-run", Closed: true, Duration: time.Second, Usage: &sdk.Usage{Prompt: 10, Cached: 4, Completion: 2}}},
		entries: []sdk.Entry{
			{Path: "assistant://1", Turn: 1, Body: "I try.", State: sdk.StateResolved},
			{Path: "log://turn_1/bash/x", Turn: 1, Body: "one\ntwo\u202e", State: sdk.StateFailed, Outcome: sdk.Permission, Attributes: data(map[string]any{"arguments": map[string]any{"command": "rm -rf /"}, "decision": sdk.Decision{Verdict: sdk.Deny, Rule: "x", Reason: "outside of the project"}})},
		},
	}
	for name, args := range map[string][]string{
		"runs-list": {"runs"}, "runs-list-all": {"runs", "list", "-a", "-g"}, "runs-show": {"runs", "show"}, "tools-list": {"tools"},
		"plugins-list": {"plugins", "list"}, "models": {"models"}, "version": {"version"},
	} {
		b.c.outTTY = name != "runs-list-all" // how much there is of a path depends on where the tests run
		b.want(t, exitOK, args...)
		b.golden(t, name)
		if strings.ContainsAny(b.out.String(), "\x1b\u202e") {
			t.Errorf("%s: control characters on standard output: %q", name, b.out.String())
		}
		b.want(t, exitOK, append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(b.out.String()), &v); err != nil {
			t.Errorf("%s --json: %v", name, err)
		}
	}
	b.want(t, exitUsage, "runs", "show", "nope")
	b.want(t, exitOK, "status")
	if out := b.out.String(); !strings.Contains(out, "bash ready (12, 5.0 MB)") || !strings.Contains(out, `odd\x1b[2Jthing`) || !strings.Contains(out, "1 running") {
		t.Errorf("status: %s", out)
	}
	if strings.Contains(b.out.String(), "stopping") {
		t.Errorf("status: %s", b.out.String())
	}
	b.want(t, exitOK, "status", "--json")
	b.daemon.stopping = true
	b.want(t, exitOK, "status")
	if out := b.out.String(); !strings.Contains(out, "1 running, 0 queued; it is stopping") {
		t.Errorf("status: %s", out)
	}
}

func TestNoRuns(t *testing.T) {
	b := withDaemon(t, nil)
	b.want(t, exitOK, "runs")
	if b.out.String() != "" || !strings.Contains(b.err.String(), "no runs yet") {
		t.Errorf("%q, %q", b.out.String(), b.err.String())
	}
	b.want(t, exitOK, "runs", "--json")
	if b.out.String() != "[]\n" {
		t.Errorf("%q", b.out.String())
	}
}

func TestColor(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.c.errTTY = true
	colored := func(args ...string) bool {
		b.want(t, exitOK, append([]string{"run", "x"}, args...)...)
		return strings.Contains(b.err.String(), "\x1b[")
	}
	if !colored() {
		t.Error("a terminal gets no colours")
	}
	if colored("--no-color") {
		t.Error("--no-color does nothing")
	}
	b.c.environ = append(b.c.environ, "NO_COLOR=1")
	if colored() {
		t.Error("NO_COLOR does nothing")
	}
	b.c.environ = append(b.c.environ, "NO_COLOR=", "TERM=dumb")
	if colored() {
		t.Error("a dumb terminal gets colours")
	}
}
