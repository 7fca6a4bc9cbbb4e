package sdk_test

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestOutputPaths: what is read is what is written, and a path in any other form is another's.
func TestOutputPaths(t *testing.T) {
	for _, p := range []sdk.ActionPath{{Turn: 1, Tool: "sh", Slug: "call"}, {Turn: 12, Tool: "env", Slug: "call_2"}, {Turn: 0, Tool: "sh", Slug: "a/b_1"}} {
		for _, channel := range []int{1, 2, 10} {
			path := p.Output(channel)
			if got, n, ok := sdk.ParseOutputPath(path); !ok || got != p || n != channel {
				t.Errorf("%s: %+v %d %v", path, got, n, ok)
			}
		}
	}
	for _, path := range []string{
		"", "sh://", "sh://turn_1/call", "sh://turn_1/call_", "sh://turn_1/call_0", "sh://turn_1/call_-1", "sh://turn_1/call_01", "sh://turn_1/call_+1", "sh://turn_1/_1",
		"sh://turn_x/call_1", "sh://turn_01/call_1", "sh://turn_-1/call_1", "log://turn_1/sh/call_1", "known://turn_1/call_1", "SH://turn_1/call_1", "sh://turn_1/call_1 ",
	} {
		if p, n, ok := sdk.ParseOutputPath(path); ok {
			t.Errorf("%q: %+v %d", path, p, n)
		}
	}
}

// FuzzOutputPath: what is read is written as it was.
func FuzzOutputPath(f *testing.F) {
	f.Add("sh://turn_1/call_2_1")
	f.Fuzz(func(t *testing.T, path string) {
		if p, n, ok := sdk.ParseOutputPath(path); ok && p.Output(n) != path {
			t.Errorf("%q: %+v %d", path, p, n)
		}
	})
}

// TestAgentNames: tools that no glob names are there for an agent that names them, and not where its run leaves them out.
func TestAgentNames(t *testing.T) {
	sh := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "sh"}, Plugin: "bash", Declared: "bash", Runs: "bash", Named: true}
	for _, c := range []struct {
		tools, excluded []string
		admits          bool
	}{
		{nil, nil, false}, {[]string{"*"}, nil, false}, {[]string{"s*", "bash"}, nil, false}, {[]string{"sh"}, nil, true}, {[]string{"bash__sh"}, nil, true},
		{[]string{"sh"}, []string{"sh"}, false}, {[]string{"sh"}, []string{"bash"}, false}, {[]string{"sh"}, []string{"env"}, true},
	} {
		if got := (sdk.Agent{Tools: c.tools, Excluded: c.excluded}).Admits(sh); got != c.admits {
			t.Errorf("%v without %v: %v", c.tools, c.excluded, got)
		}
	}
}
