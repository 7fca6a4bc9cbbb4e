package project

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestDone: what was done for a prompt are its calls and those of who was delegated work, with what they changed as far
// as it counts.
func TestDone(t *testing.T) {
	l, h := newLedger(t)
	tools := h.Tools()
	h.Tools = func() []sdk.Tool {
		return append(tools,
			sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "read_file", Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "files", Pinned: true},
			sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "write_file"}, Plugin: "files", Pinned: true, Grants: []string{sdk.GrantProject}},
			sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "look", Annotations: sdk.Annotations{ReadOnly: true, OpenWorld: true}}, Plugin: "loose"})
	}
	l.write(".gitignore", "*.o\n/out/\n")
	l.mkdir("sub")
	l.write("sub/.gitignore", "!keep.o\n")
	l.steps = nil
	l.action(11, 1, "log://turn_1/read_file/a", `{"tool":"read_file","plugin":"files","arguments":{"path":"a"}}`)
	l.write("a.go", "1")
	l.write("a.o", "1")
	l.mkdir("out")
	l.write("out/b", "1")
	l.write("sub/keep.o", "1")
	l.action(11, 1, "log://turn_1/bash/call", `{"tool":"bash__bash","declared":"bash","plugin":"bash","told":true}`)
	l.action(11, 2, "log://turn_2/bash/call", `{"tool":"bash","plugin":"bash","decision":{"verdict":"allow","rule":"shell.proven","reason":""}}`)
	l.action(11, 2, "log://turn_2/bash/call_2", `{"tool":"bash","plugin":"bash","decision":{"verdict":"allow","rule":"view","reason":""}}`)
	l.action(11, 2, "log://turn_2/look/call", `{"tool":"look","plugin":"loose","structured":{"n":1}}`)
	l.action(11, 2, "log://turn_2/fetch/call", `{"tool":"mcp__web__fetch","plugin":"mcp__web","open_world":true}`) // whose server does not run any more
	l.action(12, 3, "log://turn_3/bash/call", `{"tool":"bash","plugin":"bash"}`)
	got := func() string {
		done, err := h.Done(t.Context(), sdk.Loop{ID: 11, Run: 1})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, d := range done {
			if d.Began == 0 || d.Ended <= d.Began {
				t.Errorf("%+v", d)
			}
			text := d.Run + " " + d.Tool + fmt.Sprint(d.Changed)
			for _, is := range []struct {
				it   bool
				name string
			}{{d.ReadOnly, "reads"}, {d.Untold, "untold"}, {d.OpenWorld, "open"}, {d.Structured != nil, string(d.Structured)}} {
				if is.it {
					text += " " + is.name
				}
			}
			all = append(all, text)
		}
		return strings.Join(all, ", ")
	}
	if want := `work read_file[] reads, work bash[a.go sub/keep.o], work bash[] reads untold, work bash[] untold, work look[] open {"n":1}, work mcp__web__fetch[] open`; got() != want {
		t.Errorf("got %s\nwant %s", got(), want)
	}
	// what is ignored counts as soon as the work changed that
	l.write(".gitignore", "*\n")
	l.action(11, 2, "log://turn_2/write_file/call", `{"tool":"write_file","plugin":"files"}`)
	if want := "bash[a.go a.o out out/b sub/keep.o]"; !strings.Contains(got(), want) || !strings.Contains(got(), "write_file[.gitignore]") {
		t.Errorf("got %s\nwant %s in it", got(), want)
	}
	// the calls of a child, for that prompt, are among those of who delegated
	l.run = 2
	l.write("child.go", "1")
	l.action(21, 1, "log://turn_1/write_file/call", `{"tool":"write_file","plugin":"files"}`)
	l.action(22, 2, "log://turn_2/bash/call", `{"tool":"bash","plugin":"bash"}`)
	l.run = 1
	l.action(11, 2, "log://turn_2/delegate/call", `{"tool":"delegate","plugin":"bothy","child":{"run":2,"alias":"one","loop":21,"agent":"x"}}`)
	if want := "work write_file[.gitignore], one write_file[child.go], work delegate[]"; !strings.HasSuffix(got(), want) {
		t.Errorf("got %s\nwant %s at its end", got(), want)
	}
	// and once that was deleted nobody knows what it changed
	l.gone = 2
	if want := "work write_file[.gitignore], work delegate[] untold"; !strings.HasSuffix(got(), want) {
		t.Errorf("got %s\nwant %s at its end", got(), want)
	}
}

// TestDoneHidesNothing: no change is left out because of what the work did to what git leaves out, and no call because
// the clock was put back or its plugin is gone.
func TestDoneHidesNothing(t *testing.T) {
	last := func(t *testing.T, h *History) sdk.WorkDone {
		t.Helper()
		done, err := h.Done(t.Context(), sdk.Loop{ID: 11, Run: 1, Created: time.Unix(100, 0)})
		if err != nil || len(done) == 0 {
			t.Fatal(done, err)
		}
		return done[len(done)-1]
	}
	const told = `{"tool":"bash","plugin":"bash","told":true}`
	for name, c := range map[string]struct {
		did  func(l *ledger)
		want string
	}{
		"a commit": {func(l *ledger) {
			l.write(".git/index", "1")
			l.write("sub/.git/HEAD", "1")
		}, "[]"},
		"what its clone alone ignores": {func(l *ledger) {
			l.write("a.go", "1")
			l.write(".git/info/exclude", "*.go\n")
		}, "[a.go]"},
		"a folder that ignores all was moved": {func(l *ledger) {
			l.move("cache", "src")
			l.write("src/a.go", "1")
		}, "[cache src src/a.go]"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := newLedger(t)
			for _, folder := range []string{".git", ".git/info", "sub", "sub/.git", "cache"} {
				l.mkdir(folder)
			}
			l.write("cache/.gitignore", "*\n")
			l.steps = nil
			c.did(l)
			l.action(11, 1, "log://turn_1/bash/call", told)
			if got := fmt.Sprint(last(t, h).Changed); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("the clock", func(t *testing.T) {
		l, h := newLedger(t)
		l.action(11, 1, "log://turn_1/bash/call", told)
		l.before = time.Unix(99, 0)
		if d := last(t, h); d.Began == 0 || d.Ended == 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("a plugin that is gone", func(t *testing.T) {
		l, h := newLedger(t)
		l.action(11, 1, "log://turn_1/sh/call", `{"tool":"sh","plugin":"shell"}`)
		if d := last(t, h); !d.Untold {
			t.Errorf("%+v", d)
		}
		l.action(11, 2, "log://turn_2/look/call", `{"tool":"look","plugin":"mcp__web"}`)
		if d := last(t, h); d.Untold {
			t.Errorf("%+v", d)
		}
		l.action(11, 2, "log://turn_2/think/call", `{"tool":"think","plugin":"bothy"}`)
		if d := last(t, h); d.Untold {
			t.Errorf("%+v", d)
		}
	})
}

// TestDoneByTests: only the tool that finds its command itself, of a plugin that is vouched for, ran the tests; another
// one of that name proves nothing, and what it changed is a change.
func TestDoneByTests(t *testing.T) {
	l, h := newLedger(t)
	tests := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.ToolTests, Command: "command", Staged: true}, Plugin: "bash", Pinned: true}
	named, loose := tests, tests
	named.Plugin, named.Declared, named.Staged = "named", sdk.ToolTests, false
	loose.Plugin, loose.Declared, loose.Pinned = "loose", sdk.ToolTests, false
	h.Tools = func() []sdk.Tool { return []sdk.Tool{tests, named, loose} }
	var want []string
	for i, plugin := range []string{"bash", "named", "loose", "gone"} {
		l.action(11, 1, fmt.Sprintf("log://turn_1/run_tests/call_%d", i), `{"tool":"run_tests","plugin":"`+plugin+`"}`)
		want = append(want, plugin+"__run_tests")
	}
	want[0] = sdk.ToolTests
	done, err := h.Done(t.Context(), sdk.Loop{ID: 11, Run: 1})
	var got []string
	for _, d := range done {
		got = append(got, d.Tool)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("done by %v, want %v: %v", got, want, err)
	}
}

// TestDoneBefore: what was done for a prompt before it was cut short counts with what is done when it is gone on with. A
// run of the tests proves nothing that was begun before a person changed the project.
func TestDoneBefore(t *testing.T) {
	for name, c := range map[string]struct {
		between func(l *ledger, h *History)
		want    string
	}{
		"nothing": {func(*ledger, *History) {}, "write_file run_tests read_file"},
		"a call that only reads": {func(l *ledger, _ *History) {
			l.action(0, 2, "log://turn_2/read_file/b", `{"tool":"read_file","plugin":"files"}`)
		}, "write_file run_tests read_file"},
		"a call that changed a file": {func(l *ledger, _ *History) {
			l.write("b", "1")
			l.action(0, 2, "log://turn_2/write_file/b", `{"tool":"write_file","plugin":"files"}`)
		}, "write_file bash__run_tests read_file"},
		"a call that may have": {func(l *ledger, _ *History) {
			l.action(0, 2, "log://turn_2/bash/call", `{"tool":"bash","plugin":"bash"}`)
		}, "write_file bash__run_tests read_file"},
		"taken back": {func(l *ledger, h *History) {
			if _, err := h.Undo(t.Context(), 1, rpc.Undo{Prompt: 1}); err != nil {
				t.Error(err)
			}
		}, "write_file bash__run_tests read_file"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := newLedger(t)
			bash := h.Tools()
			h.Tools = func() []sdk.Tool {
				return append(bash,
					sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "read_file", Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "files", Pinned: true},
					sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.ToolTests, Command: "command", Staged: true}, Plugin: "bash", Pinned: true})
			}
			l.write("a", "1")
			l.action(11, 1, "log://turn_1/write_file/a", `{"tool":"write_file","plugin":"files"}`)
			l.action(11, 1, "log://turn_1/run_tests/call", `{"tool":"run_tests","plugin":"bash","told":true}`)
			c.between(l, h)
			l.action(12, 3, "log://turn_3/read_file/a", `{"tool":"read_file","plugin":"files"}`)
			done, err := h.Done(t.Context(), sdk.Loop{ID: 12, Run: 1}, sdk.Loop{ID: 11, Run: 1})
			var got []string
			for _, d := range done {
				got = append(got, d.Tool)
			}
			if got := strings.Join(got, " "); err != nil || got != c.want {
				t.Errorf("done by %s, want %s: %v", got, c.want, err)
			}
		})
	}
}
