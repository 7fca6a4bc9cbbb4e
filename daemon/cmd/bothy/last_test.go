package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestLast: -c goes on with the run that was given a prompt last, and --last names it
// to the verbs about runs.
func TestLast(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.want(t, exitUsage, "run", "-c", "x")
	if !strings.Contains(b.err.String(), "has no runs yet") || len(b.daemon.prompts) != 0 {
		t.Errorf("%s; %+v", b.err.String(), b.daemon.prompts)
	}
	b.daemon.detail.root = b.project
	b.daemon.detail.runs = []sdk.Run{{ID: 9, Alias: "newest", Project: 1}, {ID: 7, Alias: "r1", Project: 1}}
	b.daemon.detail.last = 7
	for _, flag := range []string{"-c", "--continue", "--last"} {
		b.want(t, exitOK, "run", flag, "x")
		if p := b.daemon.prompts[len(b.daemon.prompts)-1]; p.Run != "r1" {
			t.Errorf("%s: %+v", flag, p)
		}
	}
	b.c.in = strings.NewReader("x\n")
	b.want(t, exitOK, "chat", "-c")
	if p := b.daemon.prompts[len(b.daemon.prompts)-1]; p.Run != "r1" {
		t.Errorf("chat: %+v", p)
	}
	for verb, name := range map[string]string{
		"runs show": "r1", "runs abort": "r1", "runs resume": "r1", "runs fork": "r1", "runs diff": "r1", "runs undo --yes": "r1", "runs redo --yes": "r1", "runs reset": "r1", "runs rm --yes": "r1",
		"journal": "-r r1", "proposals": "-r r1", "audit": "-r r1", "tools call bash {}": "-r r1",
	} {
		b.want(t, exitUsage, strings.Fields(verb+" --last "+name)...)
		if !strings.Contains(b.err.String(), "leave out one of them") {
			t.Errorf("%s: %s", verb, b.err.String())
		}
	}
	b.want(t, exitOK, "runs", "reset", "--last")
	b.want(t, exitOK, "runs", "rm", "--yes", "--last")
	if got := strings.Join(b.daemon.done, "; "); got != "reset 7; delete 7" {
		t.Errorf("did %s", got)
	}
	b.want(t, exitUsage, "runs", "reset")
	b.want(t, exitUsage, "runs", "rm", "--yes")
}
