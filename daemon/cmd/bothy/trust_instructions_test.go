package main

import (
	"io"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// instructed are the instructions of a folder that nobody has answered about.
func instructed() rpc.TrustInstructions {
	return rpc.TrustInstructions{File: "AGENTS.md", Size: 12, Text: "Say moo.\x1b[2J\u202e"}
}

// answeredInstructions are the answers that the daemon got, in a word each.
func (f *fakeSkills) answeredInstructions() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, q := range f.asked {
		switch t, _ := q.(rpc.TrustQuery); {
		case t.Follow && t.Instructions:
			out = append(out, "yes")
		case t.Revoke && t.Instructions:
			out = append(out, "no")
		}
	}
	f.asked = nil
	return strings.Join(out, " ")
}

// TestRunAsksAboutInstructions: before the prompt, once, and only a person.
func TestRunAsksAboutInstructions(t *testing.T) {
	for typed, want := range map[string]string{"y": "yes", "YES": "yes", "n": "no", "": "no", "d/?/x/y": "yes", "d/n": "no"} {
		for _, verb := range [][]string{{"run", "hello"}, {"run", "-q", "hello"}, {"chat", "--plain"}} {
			b, keys := withQuestion(t, strings.Split(typed, "/")...)
			b.daemon.play = twoTurns
			b.daemon.skills.trusted.Instructions = instructed()
			if verb[0] == "chat" {
				b.c.in = strings.NewReader("hello\n")
			}
			b.want(t, exitOK, verb...)
			if got := b.daemon.skills.answeredInstructions(); got != want || len(keys.lines) != 0 || keys.forgot == 0 {
				t.Errorf("%v, typed %q: answered %q, want %q; %d lines left", verb, typed, got, want, len(keys.lines))
			}
			if said := b.err.String(); strings.Contains(said, "\x1b[2J") || strings.Contains(said, "\u202e") || !strings.Contains(said, "AGENTS.md, 12 bytes") || strings.Contains(said, "Say moo.") != strings.Contains(typed, "d") {
				t.Errorf("%v, typed %q: said %s", verb, typed, said)
			}
		}
	}
}

// TestRunDoesNotAskAgain: nothing is asked where there is an answer, no file, or nobody.
func TestRunDoesNotAskAgain(t *testing.T) {
	nobody := func(_ *rpc.TrustInstructions, b *bench) { b.c.inTTY, b.c.in = false, strings.NewReader("") }
	for name, c := range map[string]struct {
		change   func(in *rpc.TrustInstructions, b *bench)
		args     []string
		says     bool
		requests bool
	}{
		"a yes":            {func(in *rpc.TrustInstructions, _ *bench) { in.Trusted, in.Answered = true, true }, nil, false, true},
		"a no":             {func(in *rpc.TrustInstructions, _ *bench) { in.Answered = true }, nil, false, true},
		"no file":          {func(in *rpc.TrustInstructions, _ *bench) { in.File = "" }, nil, false, true},
		"nobody":           {nobody, nil, false, false},
		"nobody, quiet":    {nobody, []string{"-q"}, true, true},
		"nobody, JSON":     {nobody, []string{"--json"}, true, true},
		"a terminal, JSON": {func(*rpc.TrustInstructions, *bench) {}, []string{"--json"}, true, true},
		"a yes, JSON":      {func(in *rpc.TrustInstructions, _ *bench) { in.Trusted = true }, []string{"--json"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, keys := withQuestion(t)
			b.daemon.play = twoTurns
			in := instructed()
			c.change(&in, b)
			b.daemon.skills.trusted.Instructions = in
			b.want(t, exitOK, append([]string{"run", "hello"}, c.args...)...)
			requested := false
			for _, q := range b.daemon.skills.asked {
				if _, is := q.(rpc.TrustQuery); is {
					requested = true
				}
			}
			if got := b.daemon.skills.answeredInstructions(); got != "" || keys.forgot != 0 || requested != c.requests {
				t.Errorf("answered %q, asked %t, requested %t", got, keys.forgot != 0, requested)
			}
			if said := strings.Contains(b.err.String(), "AGENTS.md was not read"); said != c.says {
				t.Errorf("said %s", b.err.String())
			}
		})
	}
}

// TestTrustOfInstructions: the verb shows and asks, and a script says what it means.
func TestTrustOfInstructions(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.skills.trusted.Instructions = instructed()
	b.c.in = strings.NewReader("y\n")
	b.want(t, exitUnanswered, "trust")
	if got := b.daemon.skills.answeredInstructions(); got != "" || !strings.Contains(b.err.String(), "--accept-instructions") || !strings.Contains(b.out.String(), "AGENTS.md of this folder") {
		t.Errorf("answered %q: %s%s", got, b.out.String(), b.err.String())
	}
	b.want(t, exitOK, "trust", "--json")
	if !strings.Contains(b.out.String(), `"file": "AGENTS.md"`) {
		t.Errorf("JSON is %s", b.out.String())
	}
	for flag, want := range map[string]string{"--accept-instructions": "yes", "--revoke-instructions": "no"} {
		b.daemon.skills.answeredInstructions()
		b.want(t, exitOK, "trust", flag)
		if got := b.daemon.skills.answeredInstructions(); got != want {
			t.Errorf("%s: answered %q", flag, got)
		}
	}
	for _, args := range [][]string{{"--accept-instructions", "--revoke-instructions"}, {"a", "--accept-instructions"}, {"--accept", "a=b", "--revoke-instructions"}} {
		b.want(t, exitUsage, append([]string{"trust"}, args...)...)
	}

	b.c.inTTY, b.c.outTTY = true, true
	for typed, want := range map[string]string{"y\n": "yes", "n\n": "no", "": "no", "d\nx\n": "no", "d\ny\n": "yes", "d": "no"} {
		b.c.in = strings.NewReader(typed)
		b.want(t, exitOK, "trust")
		if got := b.daemon.skills.answeredInstructions(); got != want {
			t.Errorf("%q: answered %q, want %q", typed, got, want)
		}
		if said := b.out.String() + b.err.String(); strings.ContainsAny(said, "\x1b\u202e") || strings.Contains(said, "Say moo.") != strings.HasPrefix(typed, "d\n") {
			t.Errorf("%q: said %s", typed, said)
		}
	}
	b.daemon.skills.trusted.Instructions = rpc.TrustInstructions{Trusted: true, Problem: "AGENTS.md is a pipe"}
	b.c.in = failing{t}
	b.want(t, exitOK, "trust")
	if said := b.out.String() + b.err.String(); !strings.Contains(said, "AGENTS.md is a pipe") || !strings.Contains(said, "agents follow") {
		t.Errorf("said %s", said)
	}
	b.daemon.skills.trusted.Instructions, b.daemon.skills.refuse = instructed(), sdk.Errorf(sdk.Unavailable, "the store takes no writes")
	b.c.in = io.MultiReader(strings.NewReader("y\n"))
	b.want(t, exitFailed, "trust")
}
