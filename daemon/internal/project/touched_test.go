package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestTouchedFiles: by prompt, what was done and whether it was taken back.
func TestTouchedFiles(t *testing.T) {
	l, h := newLedger(t)
	l.write("a", "1")
	l.write("gone", "1")
	l.action(11, 1, "log://turn_1/write/a", `{"tool":"write"}`)
	l.write("a", "2")
	l.remove("gone")
	l.mkdir("d")
	l.action(11, 2, "log://turn_2/bash/call", `{"tool":"bash"}`)
	l.write("a", "3")
	l.write("b", "1")
	l.action(12, 3, "log://turn_3/write/b", `{"tool":"write"}`)
	told := func() string {
		t.Helper()
		all, err := h.Touched(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, loop := range []int64{11, 12} {
			for _, f := range all[loop].Files {
				lines = append(lines, fmt.Sprintf("%d %s %s %v %v", loop, f.Status, f.Path, f.Turns, f.Undone))
			}
			lines = append(lines, fmt.Sprintf("%d untold", all[loop].Untold))
		}
		return strings.Join(lines, ", ")
	}
	if got, want := told(), "11 added a [1 2] false, 11 added d [2] false, 1 untold, 12 changed a [3] false, 12 added b [3] false, 0 untold"; got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
	if _, err := h.Undo(t.Context(), 1, rpc.Undo{Prompt: 2}); err != nil {
		t.Fatal(err)
	}
	if got, want := told(), "11 added a [1 2] false, 11 added d [2] false, 1 untold, 12 changed a [3] true, 12 added b [3] true, 0 untold"; got != want {
		t.Errorf("after an undo told %s\nwant %s", got, want)
	}
}
