package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// aQuestion is what a plugin asks, with a field of which nothing is to be shown.
func aQuestion(project string) sdk.Proposal {
	p := aProposal(project)
	p.Tool, p.Plugin, p.Command, p.Path, p.Offers = sdk.ToolAskUser, "mcp__trips", "", "log://turn_1/ask_user/call", nil
	p.Question = &sdk.Question{Message: "Where to?\nSay a \x1b[31mtown.", Schema: json.RawMessage(`{"type":"object","properties":{
		"city":{"type":"string","title":"Town"},"nights":{"type":"integer","minimum":1,"default":2},
		"class":{"type":"string","enum":["one","two"]},"pin":{"type":"string","format":"password"}},"required":["city","class"]}`)}
	p.Arguments = data(p.Question)
	p.Decision = sdk.Decision{Verdict: sdk.Propose, Rule: "question", Source: "built-in", Reason: "the plugin mcp__trips asks this"}
	return p
}

// whoIsAsked is a daemon in which one question waits, of a person who types some lines.
func whoIsAsked(t *testing.T, lines ...string) *bench {
	t.Helper()
	b := withDaemon(t, nil)
	b.daemon.policy.propose(aQuestion(b.project))
	b.daemon.policy.resolve = func(r rpc.Resolve) (rpc.Resolved, error) {
		p := aQuestion(b.project)
		p.State = sdk.StateResolved
		return rpc.Resolved{Proposal: p}, nil
	}
	b.c.in = failing{t}
	if lines != nil {
		b.c.keys, b.c.inTTY, b.c.errTTY = &fakeKeys{lines: lines, early: []string{"y"}}, true, true
	}
	return b
}

// gave are the answers that the daemon got, with their data.
func (b *bench) gave() string {
	var all []string
	for _, r := range b.daemon.policy.resolved() {
		all = append(all, strings.TrimSpace(string(r.Answer)+" "+string(r.Data)))
	}
	return strings.Join(all, "; ")
}

// TestQuestionOnATerminal: what is wanted is asked for one by one, until it fits.
func TestQuestionOnATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		typed string // between bars
		want  string
		says  []string
	}{
		"answered": {"y|Bern||3|2|hunter2", `accept {"city":"Bern","class":"two","nights":2,"pin":"hunter2"}`,
			[]string{"Town", "one", "nothing typed is 2", "class must be one of one, two", "it is not shown"}},
		"too little": {"d|y||Bern|0|1|1|", `accept {"city":"Bern","class":"one","nights":1}`, []string{"city is needed", "a whole number of at least 1"}},
		"given up":   {"d|y|Bern|^D|n", "reject", []string{"nothing is answered yet"}},
		"no":         {"n", "reject", []string{`\x1b`, "wants to know: Town, nights (if you like)"}},
		"left":       {"what|c", "cancel", []string{"is no answer"}},
		"nothing":    {"", "reject", nil},
	} {
		for _, verb := range []string{"answer", "accept"} {
			b := whoIsAsked(t, strings.Split(c.typed, "|")...)
			b.want(t, exitOK, "proposals", verb, "1a2b3c4d")
			if got := b.gave(); got != c.want {
				t.Errorf("%s: answered %q, want %q", name, got, c.want)
			}
			for _, says := range c.says {
				if !strings.Contains(b.err.String(), says) {
					t.Errorf("%s: not said: %q in %s", name, says, b.err.String())
				}
			}
			if strings.Contains(b.err.String(), "\x1b[31m") {
				t.Errorf("%s: the message was not made harmless", name)
			}
		}
	}
}

// TestQuestionWithoutATerminal: words of the command line, or JSON, are the answer.
func TestQuestionWithoutATerminal(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
		says string
	}{
		{"answer 1a2b3c4d city=Bern class=2", exitOK, `accept {"city":"Bern","class":"two","nights":2}`, "answered;"},
		{`answer 1a2b3c4d --data {"city":"Bern"}`, exitOK, `accept {"city":"Bern"}`, "answered;"}, // the daemon says what is missing
		{"answer 1a2b3c4d --cancel", exitOK, "cancel", "not answered"},
		{"answer 1a2b3c4d", exitUsage, "", "it wants city, nights (a whole number of at least 1), class (a number or a value), pin"},
		{"answer 1a2b3c4d town=Bern", exitUsage, "", "town=Bern is no FIELD=VALUE"},
		{"answer 1a2b3c4d city=Bern class=3", exitUsage, "", "class must be one of one, two"},
		{"answer 1a2b3c4d city=Bern --cancel", exitUsage, "", "each is an answer"},
		{"accept 1a2b3c4d", exitUsage, "", "proposals answer 1a2b3c4d FIELD=VALUE"},
		{"reject 1a2b3c4d", exitOK, "reject", "not answered"},
	} {
		b := whoIsAsked(t)
		b.want(t, c.code, append([]string{"proposals"}, strings.Split(c.args, " ")...)...)
		if got := b.gave(); got != c.want || !strings.Contains(b.err.String(), c.says) {
			t.Errorf("%s: answered %q, said %s", c.args, got, b.err.String())
		}
	}
	b := whoIsAsked(t)
	b.want(t, exitOK, "proposals", "show", "1a2b3c4d")
	if out := b.out.String(); !strings.Contains(out, "what you answer goes to it alone") || !strings.Contains(out, "| Where to?") || !strings.Contains(out, "Town") {
		t.Errorf("%s", out)
	}
	b.want(t, exitOK, "proposals")
	if out := b.out.String(); !strings.Contains(out, "Where to?") {
		t.Errorf("%s", out)
	}
	b = withProposals(t)
	b.want(t, exitUsage, "proposals", "answer", "1a2b3c4d", "a=b")
}
