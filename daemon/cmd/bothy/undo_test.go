package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func someChanges(project string) rpc.Changes {
	return rpc.Changes{Run: "brave-1", ID: 7, Project: project, Untold: 2, Differences: []sdk.Difference{
		{Path: "a.go", Kind: "file", Status: "changed", Turns: []int{3}, Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\x1b[31m\n+new\n", Added: 1, Removed: 1},
		{Path: "b", Kind: "file", Status: "changed", Turns: []int{3, 4}, Conflict: "something else changed it since"},
		{Path: "new", Kind: "directory", Status: "added", Turns: []int{3}},
		{Path: "there", From: "here", Kind: "file", Status: "moved", Turns: []int{4}},
		{Path: "x.png", Kind: "file", Status: "deleted", Turns: []int{4}, Binary: true},
	}}
}

func TestDiffOfARun(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail, b.daemon.changes = eventful(b.project), someChanges(b.project)
	b.c.outTTY = true
	b.want(t, exitOK, "runs", "diff", "brave-1")
	b.golden(t, "runs-diff")
	if want := "run brave-1 changed 5 paths, +1 -1 lines; 1 cannot be taken back; what 2 calls changed is not known: commands that worked on the project itself, or calls that were cut short\n"; b.err.String() != want {
		t.Errorf("said %q", b.err.String())
	}
	b.want(t, exitOK, "runs", "diff", "--stat")
	if !strings.HasPrefix(b.out.String(), "# changed a.go, +1 -1\n") {
		t.Error(b.out.String())
	}
	b.want(t, exitOK, "runs", "diff", "--json")
	var got rpc.Changes
	if err := json.Unmarshal([]byte(b.out.String()), &got); err != nil || len(got.Differences) != 5 {
		t.Errorf("%v: %s", err, b.out.String())
	}
	b.daemon.changes = rpc.Changes{Run: "brave-1", Unfinished: true}
	b.want(t, exitOK, "runs", "diff")
	if out := b.err.String(); b.out.String() != "" || !strings.Contains(out, "changed nothing that is still so") || !strings.Contains(out, "`bothy runs undo brave-1` goes on") {
		t.Errorf("%q, %q", b.out.String(), out)
	}
}

func TestUndoOfARun(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail, b.daemon.changes = eventful(b.project), someChanges(b.project)
	b.want(t, exitOK, "runs", "undo", "brave-1", "-n")
	if !strings.Contains(b.err.String(), "unless you say --partial") || !strings.Contains(b.out.String(), "moved   there, from here\n") || strings.Join(b.daemon.done, ", ") != "changes 7" {
		t.Errorf("%s: %v", b.out.String(), b.daemon.done)
	}
	b.daemon.done = nil
	b.want(t, exitUsage, "runs", "undo", "brave-1", "--partial")
	if !strings.Contains(b.err.String(), "say --yes") {
		t.Error(b.err.String())
	}
	b.c.inTTY = true
	for answer, want := range map[string]int{"y\n": exitOK, "n\n": exitAborted, "": exitAborted} {
		b.daemon.done = nil
		b.c.in = strings.NewReader(answer)
		b.want(t, want, "runs", "undo", "--partial")
		if did := strings.Join(b.daemon.done, ", "); (did == "changes 7, undo 7 true") != (want == exitOK) {
			t.Errorf("%q: did %s", answer, did)
		}
	}
	// What is asked is no part of the JSON, and JSON there is in every case.
	b.c.in = strings.NewReader("y\n")
	b.want(t, exitOK, "runs", "undo", "--partial", "--json")
	if !json.Valid([]byte(b.out.String())) || !strings.Contains(b.err.String(), "moved   there, from here\nTake this back") && !strings.Contains(b.err.String(), "binary\nTake this back") {
		t.Errorf("%s%s", b.out.String(), b.err.String())
	}
	// What cannot be done is not asked about.
	b.daemon.done = nil
	b.c.in = strings.NewReader("y\n")
	b.want(t, exitOK, "runs", "undo")
	if strings.Contains(b.err.String(), "[y/N]") || strings.Join(b.daemon.done, ", ") != "changes 7, undo 7 false" {
		t.Errorf("%s: %v", b.err.String(), b.daemon.done)
	}
	b.daemon.done = nil
	b.want(t, exitOK, "runs", "undo", "--yes", "--partial")
	if strings.Join(b.daemon.done, ", ") != "undo 7 true" {
		t.Error(b.daemon.done)
	}
	b.golden(t, "runs-undo")
	b.want(t, exitOK, "runs", "undo", "--yes", "--json")
	if !json.Valid([]byte(b.out.String())) {
		t.Error(b.out.String())
	}
	// Where all of it is left as it is, that is a failure.
	b.daemon.changes.Differences = someChanges(b.project).Differences[1:2]
	for _, flags := range [][]string{{}, {"--json"}} {
		b.want(t, exitFailed, append([]string{"runs", "undo", "--yes", "--partial"}, flags...)...)
		if out := b.out.String(); strings.Contains(out, "took back") || !strings.Contains(out, "something else changed it since") || !strings.Contains(b.err.String(), "nothing of run brave-1 was taken back") {
			t.Errorf("%s%s", out, b.err.String())
		}
	}
	b.daemon.changes.Differences = nil
	b.want(t, exitOK, "runs", "undo", "--json")
	if !json.Valid([]byte(b.out.String())) {
		t.Errorf("nothing to take back: %q", b.out.String())
	}
	b.want(t, exitOK, "runs", "undo", "--yes")
	if b.out.String() != "run brave-1 changed nothing that is still so\n" {
		t.Error(b.out.String())
	}
	b.daemon.refuse = sdk.Errorf(sdk.Conflict, "nothing was taken back")
	b.want(t, exitFailed, "runs", "undo", "--yes")
}

// TestPartsOfARun: the flags of a part reach the daemon, and people read which part it was.
func TestPartsOfARun(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail, b.daemon.changes = eventful(b.project), someChanges(b.project)
	b.daemon.changes.Differences = b.daemon.changes.Differences[2:]
	for _, c := range []struct{ flags, asked, said string }{
		{"--turn 3", `"turn":3`, "turn 3 of run brave-1"},
		{"--prompt 1", `"prompt":1`, "prompt 1 of run brave-1"},
		{"--action turn_3/bash/call", `"action":"turn_3/bash/call"`, "turn_3/bash/call of run brave-1"},
		{"--path src/** --path=a,b --prompt 2", `"prompt":2,"paths":["src/**","a,b"]`, "src/**, a,b of prompt 2 of run brave-1"},
	} {
		flags := strings.Fields(c.flags)
		b.daemon.done = nil
		b.want(t, exitOK, append([]string{"runs", "diff", "brave-1"}, flags...)...)
		if did := strings.Join(b.daemon.done, ", "); did != "changes 7 "+c.asked || !strings.HasPrefix(b.err.String(), c.said+" changed 3 paths") {
			t.Errorf("%s: did %s: %s", c.flags, did, b.err.String())
		}
		b.daemon.done = nil
		b.want(t, exitOK, append([]string{"runs", "undo", "brave-1", "--yes"}, flags...)...)
		if did := strings.Join(b.daemon.done, ", "); did != "undo 7 false "+c.asked || !strings.HasPrefix(b.out.String(), "took back 3 paths of "+c.said+"\n") {
			t.Errorf("%s: did %s: %s", c.flags, did, b.out.String())
		}
		b.want(t, exitUsage, append([]string{"runs", "undo", "brave-1"}, flags...)...)
		if !strings.Contains(b.err.String(), "`bothy runs undo --") {
			t.Error(b.err.String())
		}
	}
	b.want(t, exitUsage, "runs", "undo", "--turn", "-1")
}

func TestRedoOfARun(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail, b.daemon.changes = eventful(b.project), someChanges(b.project)
	b.want(t, exitOK, "runs", "redo", "brave-1", "-n")
	if did := strings.Join(b.daemon.done, ", "); did != `changes 7 "redo":true` || !strings.Contains(b.err.String(), "5 paths of run brave-1 would be made again; 1 cannot be\nso nothing is made again, unless you say --partial") {
		t.Errorf("did %s: %s", did, b.err.String())
	}
	b.daemon.done = nil
	b.want(t, exitOK, "runs", "redo", "brave-1", "--yes", "--partial")
	if did := strings.Join(b.daemon.done, ", "); did != "redo 7 true" || !strings.HasPrefix(b.out.String(), "made 4 paths of run brave-1 again\n  changed a.go") {
		t.Errorf("did %s: %s", did, b.out.String())
	}
	b.want(t, exitOK, "runs", "redo", "--yes", "--json")
	if !json.Valid([]byte(b.out.String())) {
		t.Error(b.out.String())
	}
	b.daemon.changes.Differences = nil
	b.want(t, exitOK, "runs", "redo")
	if b.out.String() != "run brave-1 has nothing that was taken back\n" {
		t.Error(b.out.String())
	}
}
