package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// TestBelieve: of what a plugin tells of changes all that can be is kept, and where
// that is not all of it, that is said.
func TestBelieve(t *testing.T) {
	file := &sdk.FileState{Kind: "file", Hash: strings.Repeat("a", 64)}
	good := sdk.FileChange{Path: "a/b", After: file}
	for name, c := range map[string]struct {
		changes []sdk.FileChange
		kept    string // the digest of a list
		alien   bool   // the plugin may not write in the project
		twice   bool
		untold  bool
		left    int // of the changes of a result that is not believed wholly
	}{
		"nothing":                  {},
		"a file":                   {changes: []sdk.FileChange{good}},
		"a second try":             {changes: []sdk.FileChange{good}, twice: true, untold: true},
		"not granted":              {changes: []sdk.FileChange{good}, alien: true, untold: true},
		"nothing, alien":           {alien: true},
		"a kept list":              {kept: strings.Repeat("a", 64)},
		"a list, alien":            {kept: strings.Repeat("a", 64), alien: true, untold: true},
		"no list":                  {kept: "../../etc/passwd", untold: true},
		"two lists":                {changes: []sdk.FileChange{good}, kept: strings.Repeat("a", 64), untold: true},
		"the project's own folder": {changes: []sdk.FileChange{{Path: ".", Before: &sdk.FileState{Kind: "directory", Mode: 0o755}, After: &sdk.FileState{Kind: "directory", Mode: 0o775}}, good}},
		"very many":                {changes: slices.Repeat([]sdk.FileChange{good}, 20_000)},
		"absolute":                 {changes: []sdk.FileChange{good, {Path: "/etc/passwd", After: file}, good}, untold: true, left: 2},
		"leads out":                {changes: []sdk.FileChange{{Path: "a/../../b", After: file}}, untold: true},
		"no path":                  {changes: []sdk.FileChange{{After: file}}, untold: true},
		"a NUL":                    {changes: []sdk.FileChange{{Path: "a\x00", After: file}}, untold: true},
		"from outside":             {changes: []sdk.FileChange{{Path: "a", From: "..", After: file}}, untold: true},
		"moved to nothing":         {changes: []sdk.FileChange{{Path: "a", From: "b"}}, untold: true},
		"out of nothing":           {changes: []sdk.FileChange{{Path: "a"}}, untold: true},
		"a strange kind":           {changes: []sdk.FileChange{{Path: "a", After: &sdk.FileState{Kind: "fifo"}}}, untold: true},
		"a splice below 0":         {changes: []sdk.FileChange{{Path: "a", Before: file, After: file, Undo: &sdk.Splice{Offset: -1}}}, untold: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &offered{Tool: sdk.Tool{Grants: []string{sdk.GrantProject}}, owner: &instance{log: hclog.NewNullLogger()}}
			if c.alien {
				o.Grants = nil
			}
			got := o.believe(sdk.ToolResult{Changes: c.changes, ChangesKept: c.kept, Untold: true, Told: true}, c.twice)
			if got.Told != (!c.untold && !c.alien || c.twice) {
				t.Errorf("told is %v", got.Told)
			}
			left, digest := len(c.changes), c.kept
			if c.untold && !c.twice {
				left, digest = c.left, ""
			}
			if len(got.Changes) != left || got.ChangesKept != digest || got.Untold != c.untold {
				t.Errorf("untold %v, %d changes", got.Untold, len(got.Changes))
			}
		})
	}
}

// TestBelieveOfACallBehind: only of what somebody vouches for is another call made.
func TestBelieveOfACallBehind(t *testing.T) {
	for _, pinned := range []bool{true, false} {
		o := &offered{Tool: sdk.Tool{Pinned: pinned}, owner: &instance{log: hclog.NewNullLogger()}}
		if got := o.believe(sdk.ToolResult{Follow: &sdk.FollowUp{Tool: "apply"}}, false); (got.Follow != nil) != pinned {
			t.Errorf("pinned %v: %+v", pinned, got.Follow)
		}
	}
}
