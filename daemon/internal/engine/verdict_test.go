package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/sdk"
)

// asTags is the dialect of native calls, for an agent whose dialect is tags: what is ruled is the same.
type asTags struct{ dialect.Tools }

func (asTags) Read(c sdk.Completion, offered []sdk.Tool) sdk.Reading {
	r := dialect.Tools{}.Read(c, offered)
	r.Narration = c.Text
	return r
}

// tagsHouse has an agent default that speaks tags, with the verbs and the guards that go with them.
func tagsHouse(t *testing.T, steps ...step) *house {
	h := prepareHouse(t, steps...)
	h.withVerbs()
	failingCommand(h)
	agent := h.agents["default"]
	agent.Dialect, agent.Guards = sdk.DialectTags, tags
	h.agents["default"] = agent
	h.config.Dialects = map[string]Dialect{sdk.DialectTools: dialect.Tools{}, sdk.DialectTags: asTags{}}
	return h
}

// failingCommand adds the tool write_sh, which ends with an exit status, and write_cut, which says that it was aborted.
func failingCommand(h *house) {
	h.tools.add("write_sh", sdk.Annotations{}, true, sdk.GrantProject)
	h.tools.on("write_sh", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Output: "1 failed", Outcome: sdk.Exit(1)}, nil
	})
	h.tools.add("write_cut", sdk.Annotations{}, true, sdk.GrantProject)
	h.tools.on("write_cut", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Output: "stopped", Outcome: sdk.Aborted}, nil
	})
}

func update(status string) call { return call{"update", `{"body":"x","status":` + status + `}`} }

// TestVerdictRows: the rows of the cases about updates, strikes and plain text.
// spec: response_healing wrong_done
func TestVerdictRows(t *testing.T) {
	goes := update("102")
	bad := func(n int) step { return calls(numbered("read_bad", n), goes) }
	for _, c := range []struct {
		name   string
		steps  []step
		status int
		stop   string
		turns  int
	}{
		{"V6 no update", []step{calls(numbered("read", 1)), calls(numbered("read", 2)), calls(numbered("read", 3)), say("never")}, 499, "max_strikes", 3},
		{"V6 once", []step{calls(numbered("read", 1)), calls(numbered("read", 2)), calls(numbered("read", 3), goes), calls(numbered("read", 4)), calls(numbered("read", 5), update("200"))}, 200, "terminal", 5},
		{"V8", []step{bad(1), bad(2), bad(3), say("never")}, 499, "max_strikes", 3},
		{"V10", []step{bad(1), bad(2), calls(numbered("read", 1), update("200"))}, 200, "terminal", 3},
		{"V11", []step{calls(numbered("read_bad", 1), update("200")), calls(numbered("read_bad", 2), update("422")), calls(numbered("read_bad", 3), update("204")), say("never")}, 499, "max_strikes", 3},
		{"V11 of a command", []step{calls(numbered("write_sh", 1), update("200")), calls(numbered("write_sh", 2), update("200")), calls(numbered("write_sh", 3), update("200")), say("never")}, 499, "max_strikes", 3},
		{"V11 of what was aborted", []step{calls(numbered("write_cut", 1), update("200")), calls(update("200"))}, 200, "terminal", 2},
		{"V11 before it", []step{calls(update("200"), numbered("write_sh", 1)), calls(update("200"))}, 200, "terminal", 2},
		{"V11 and then it is true", []step{calls(numbered("write_sh", 1), update("200")), calls(update("200"))}, 200, "terminal", 2},
		{"a test that fails beside 102", []step{calls(numbered("write_sh", 1), goes), calls(numbered("write_sh", 2), goes), calls(numbered("write_sh", 3), goes), calls(numbered("write_sh", 4), goes), calls(update("422"))}, 422, "terminal", 5},
		{"V12 with nothing to tell", []step{calls(update("204"))}, 204, "terminal", 1},
		{"V12 cannot be done", []step{calls(numbered("read", 1), update("422"))}, 422, "terminal", 1},
		{"V13 plain text", []step{say("hello")}, 200, "answer", 1},
		{"V13 behind what ended well", []step{calls(numbered("read", 1), goes), say("done")}, 200, "answer", 2},
		{"V13 behind a failure", []step{bad(1), say("done"), say("really"), say("never")}, 499, "max_strikes", 3},
		{"V13 behind a failure that was mended", []step{bad(1), calls(numbered("read", 1), goes), say("done")}, 200, "answer", 3},
		{"V13 behind an exit status", []step{calls(numbered("write_sh", 1), goes), say("it fails")}, 200, "answer", 2},
		{"V13 and then the end", []step{bad(1), say("done"), calls(update("200"))}, 200, "terminal", 3},
		{"V14", []step{calls(update("200"), goes), calls(update("200"))}, 200, "terminal", 2},
		{"V14 with work in between", []step{calls(update("200"), numbered("write", 1), goes), calls(update("200"))}, 200, "terminal", 2},
		{"V16", []step{say(""), say(" \n"), say("done")}, 200, "answer", 3},
		{"V16 again and again", []step{say(""), say(""), say(""), say("never")}, 499, "max_strikes", 3},
		{"V17", []step{bad(1), calls(update("200"))}, 200, "terminal", 2},
		{"a status that is none", []step{calls(update("300")), calls(update(`"abc"`)), calls(update("200"))}, 200, "terminal", 3},
		{"V2 other words hide nothing", []step{
			calls(numbered("read", 1), call{"update", `{"body":"a"}`}), calls(numbered("read", 1), call{"update", `{"body":"b"}`}), calls(numbered("read", 1), call{"update", `{"body":"c"}`}),
			calls(numbered("read", 1), call{"update", `{"body":"d"}`}), calls(numbered("read", 1), call{"update", `{"body":"e"}`}), say("never"),
		}, 499, "min_cycles", 5},
		{"updates and nothing else", []step{
			calls(call{"update", `{"body":"a"}`}), calls(call{"update", `{"body":"b"}`}), calls(call{"update", `{"body":"c"}`}), calls(call{"update", `{"body":"d"}`}), calls(call{"update", `{"body":"e"}`}), say("never"),
		}, 499, "min_cycles", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := tagsHouse(t, c.steps...)
			h.start()
			a := h.submit(Submission{})
			l := h.await(a)
			if turns := len(h.models.asked()); l.Status != c.status || l.Stop != c.stop || turns != c.turns {
				t.Errorf("ended %d by %s after %d turns, want %d by %s after %d: %s; %s", l.Status, l.Stop, turns, c.status, c.stop, c.turns, l.Reason, h.outcomes(a.Run.ID))
			}
			run, err := h.store.Run(t.Context(), a.Run.ID)
			if want := min(c.status, 499); err != nil || c.status < 499 && run.Status != sdk.StatusOK || c.status == 499 && run.Status != want {
				t.Errorf("the run shows %d", run.Status)
			}
			if outcomes := h.outcomes(a.Run.ID); strings.HasPrefix(c.name, "V11") && !strings.Contains(outcomes, "update:failed:conflict") {
				t.Errorf("what was claimed came to %s", outcomes)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestVerdictsOfAnswers: the rows of the cases about what only an answer in tags can be: an update without a word ends the loop, and
// what was put right in an answer is a strike beside calls that go on.
// spec: response_healing
func TestVerdictsOfAnswers(t *testing.T) {
	repaired := func(n int) step {
		return say(fmt.Sprintf("<set path=\"known://n%d\">fact</get>\n<update status=\"102\">going on</update>", n))
	}
	for _, c := range []struct {
		name  string
		steps []step
		stop  string
		turns int
	}{
		{"25 no word", []step{say(`<update status="200"/>`), say("never")}, sdk.StopTerminal, 1},
		{"25 an empty body", []step{say(`<update status="200"></update>`), say("never")}, sdk.StopTerminal, 1},
		{"V15", []step{repaired(1), repaired(2), repaired(3), say("never")}, "max_strikes", 3},
		{"V15 twice", []step{repaired(1), repaired(2), say(`<set path="known://n3">fact</set><update>going on</update>`), repaired(4), repaired(5), say(`<update status="200">done</update>`)}, sdk.StopTerminal, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := taggedHouse(t, c.steps...)
			agent := h.agents["tags"]
			agent.Guards = tags
			h.agents["tags"] = agent
			h.start()
			a := h.submit(Submission{Agent: "tags"})
			if l := h.await(a); l.Stop != c.stop || len(h.models.asked()) != c.turns {
				t.Errorf("ended %d by %s after %d turns: %s; %s", l.Status, l.Stop, len(h.models.asked()), l.Reason, h.outcomes(a.Run.ID))
			}
			h.check(a.Run.ID)
		})
	}
}

// TestNewPromptHasNoStrikes is V18: strikes are those of a loop, and so is the failure behind which plain text ends nothing.
func TestNewPromptHasNoStrikes(t *testing.T) {
	bad := func(n int) step { return calls(numbered("read_bad", n), update("102")) }
	h := tagsHouse(t, bad(1), bad(2), calls(update("422")), bad(3), bad(4), calls(update("422")), say("hello"))
	h.start()
	a := h.submit(Submission{})
	for i, want := range []string{"terminal", "terminal", "answer"} {
		if i > 0 {
			a = h.submit(Submission{Run: a.Run.Alias, Prompt: "again"})
		}
		if l := h.await(a); l.Stop != want {
			t.Errorf("prompt %d ended by %s: %s", i+1, l.Stop, l.Reason)
		}
	}
}

// TestVerdictOverARestart: what an answer in plain text means, and how many strikes there were, is known to the next daemon.
func TestVerdictOverARestart(t *testing.T) {
	bad := calls(numbered("read_bad", 1), update("102"))
	for name, c := range map[string]struct {
		before, after []step
		stop          string
		asked         int
	}{
		"plain text behind a failure": {[]step{bad}, []step{say("done"), say("really"), say("never")}, "max_strikes", 3},
		"a strike of plain text":      {[]step{bad, say("done")}, []step{say("really"), say("never")}, "max_strikes", 3},
		"no update":                   {[]step{calls(numbered("read", 1)), calls(numbered("read", 2))}, []step{calls(numbered("read", 3)), say("never")}, "max_strikes", 3},
		"other words":                 {[]step{calls(call{"update", `{"body":"a"}`}), calls(call{"update", `{"body":"b"}`}), calls(call{"update", `{"body":"c"}`})}, []step{calls(call{"update", `{"body":"d"}`}), calls(call{"update", `{"body":"e"}`}), say("never")}, "min_cycles", 5},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := tagsHouse(t, append(append(c.before, silent(begun)), c.after...)...)
			h.start()
			a := h.submit(Submission{})
			<-begun
			h.cut()
			h.start()
			if l := h.await(a); l.Stop != c.stop || len(h.models.asked())-1 != c.asked {
				t.Errorf("ended by %s after %d turns: %s", l.Stop, len(h.models.asked())-1, l.Reason)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCyclesAreSilent: of a pattern that repeats the model hears nothing, from the first strike to the last: what it is
// shown in each turn is what it was shown before, its calls, and what they came to.
func TestCyclesAreSilent(t *testing.T) {
	h := tagsHouse(t)
	for range 5 {
		h.models.then(calls(numbered("read", 1), update("102")))
	}
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Stop != "min_cycles" {
		t.Fatalf("ended by %s: %s", l.Stop, l.Reason)
	}
	asked := h.models.asked()
	for n, r := range asked {
		if n == 0 {
			continue
		}
		if more := len(r.Messages) - len(asked[n-1].Messages); more != 2 {
			t.Errorf("turn %d has %d messages more", n+1, more)
		}
		if r.Messages[0].Text != asked[0].Messages[0].Text {
			t.Errorf("turn %d has another system text", n+1)
		}
		for _, m := range r.Messages[len(r.Messages)-2:] {
			if m.Role != sdk.RoleAssistant && m.Results == 0 {
				t.Errorf("turn %d: %s is told %q", n+1, m.Role, m.Text)
			}
			for _, word := range []string{"cycle", "strike", "guard", "circle", "repeat", "pattern", "same"} {
				if strings.Contains(m.Text, word) {
					t.Errorf("turn %d is told of it: %q", n+1, m.Text)
				}
			}
		}
	}
	if failures := slices.DeleteFunc(h.entries(a.Run.ID, "log://"), func(e sdk.Entry) bool { return e.State == sdk.StateResolved }); len(failures) > 0 {
		t.Errorf("there are %+v", failures)
	}
}

// TestAFilterOnlyEndsWork: a filter of turn.verdict keeps no loop going that ends, whatever an update said, and can end one that goes on.
func TestAFilterOnlyEndsWork(t *testing.T) {
	h := tagsHouse(t, calls(update("200")), say("never"))
	h.hooks.TurnVerdict.On(0, "keeper", false, func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		r.Ruling = sdk.Ruling{Continue: true, Status: sdk.StatusRunning}
		return r, nil
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOK || len(h.models.asked()) != 1 {
		t.Errorf("it was kept going: %d, %d turns", l.Status, len(h.models.asked()))
	}
}

// TestClaimsAtAnyDeath: wherever a daemon dies, an update that was written first is judged by what fails behind it, and one
// that a later one replaces ends nothing.
func TestClaimsAtAnyDeath(t *testing.T) {
	atAnyDeath(t, func(h *house) {
		failingCommand(h)
		h.models.steps = byConversation(update("422"), update("200"), numbered("write", 1), numbered("write_sh", 1))
	}, nothingMore, func(h *house, a Accepted, _ bool) {
		switch got := h.outcomes(a.Run.ID); got {
		case "update:failed:aborted update:failed:conflict write:resolved write_sh:failed:exit:1",
			"update:failed:aborted update:failed:conflict write:resolved write_sh:failed:interrupted",
			"update:failed:aborted update:failed:conflict write:failed:interrupted write_sh:failed:aborted":
		default:
			h.t.Errorf("got %s", got)
		}
		if said := h.entries(a.Run.ID, "update://"); len(said) > 0 || len(h.models.asked()) < 2 {
			h.t.Errorf("it is claimed all the same: %+v", said)
		}
	})
}
