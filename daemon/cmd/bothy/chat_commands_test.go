package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestChatCommands: a command is done and is no prompt, where a person talks.
func TestChatCommands(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.c.inTTY = true
	b.daemon.detail.root, b.daemon.detail.runs = b.project, []sdk.Run{{ID: 7, Alias: "brave-1", Project: 1}}
	b.daemon.changes = rpc.Changes{Run: "brave-1", Project: b.project, Differences: []sdk.Difference{{Path: "a.go", Status: "changed", Diff: "-a\n+b\n"}}}
	b.c.in = strings.NewReader("/help\n/diff\n/mode full\n/model\nhello\n/model big/one\n/diff\n/runs\n/nope x\n /help\n")
	b.want(t, exitOK, "chat", "--plain")
	var asked []string
	for _, p := range b.daemon.prompts {
		asked = append(asked, p.Model+":"+p.Prompt)
	}
	if got := strings.Join(asked, "|"); got != ":hello|big/one:/nope x|big/one: /help" {
		t.Errorf("asked %q", got)
	}
	for _, want := range []string{"/undo", "there is no run yet", "full needs", "/model takes NAME"} {
		if !strings.Contains(b.err.String(), want) {
			t.Errorf("%q is not said: %s", want, b.err.String())
		}
	}
	for _, want := range []string{"+b", "brave-1"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("%q is not printed: %s", want, b.out.String())
		}
	}
}

// TestChatCommandsAreVerbs: each command that is a verb's is one that there is.
func TestChatCommandsAreVerbs(t *testing.T) {
	for i, x := range chatCommands {
		if i > 0 && chatCommands[i-1].name >= x.name {
			t.Errorf("%s is not sorted", x.name)
		}
		if (x.verb == "") == (x.set == nil) {
			t.Errorf("%s has a verb and sets something, or neither", x.name)
		}
		parser, err := kong.New(&cli{}, verbs.Vars())
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(x.verb)
		if strings.HasPrefix(x.takes, "NAME") {
			words = append(words, "other")
		}
		if x.verb == "" {
			continue
		}
		if _, err := parser.Parse(words); err != nil {
			t.Errorf("/%s: %v", x.name, err)
		}
	}
}
