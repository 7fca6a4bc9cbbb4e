package verdict

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// called makes a call of a word: "get" ended well, "get!" failed, "sh#" ended with an exit status, "get-" was given up, "get=" says of itself that it was aborted, "get?"
// was interrupted, "get/" was cancelled, "get~" a person rejected, and with a reason where two such signs stand; "update:200" is an update with a status.
func called(word string) Call {
	c := Call{Name: strings.TrimRight(word, "!#-=?/~")}
	c.State = sdk.StateResolved
	switch sign := word[len(c.Name):]; sign {
	case "!":
		c.State, c.Outcome = sdk.StateFailed, sdk.NotFound
	case "#":
		c.State, c.Outcome = sdk.StateFailed, sdk.Exit(1)
	case "-":
		c.State, c.Outcome, c.Reason = sdk.StateFailed, sdk.Aborted, "get, before it, failed"
	case "=":
		c.State, c.Outcome = sdk.StateFailed, sdk.Aborted
	case "?":
		c.State, c.Outcome = sdk.StateFailed, sdk.Interrupted
	case "/":
		c.State, c.Outcome = sdk.StateCancelled, sdk.Aborted
	case "~", "~~":
		c.State, c.Outcome, c.Answer = sdk.StateFailed, sdk.Permission, &sdk.ActionAnswer{Answer: sdk.Reject, Reason: strings.Repeat("no", len(sign)-1)}
	}
	if status, is := strings.CutPrefix(c.Name, "update:"); is {
		c.Name, c.Update = "update", true
		if _, err := fmt.Sscan(status, &c.Ends); err != nil {
			panic(err)
		}
		if c.Ends == sdk.StatusRunning {
			c.Ends = 0
		}
	}
	if c.Name == "finish_task" {
		c.Ends = sdk.StatusOK
	}
	return c
}

func calls(words string) (all []Call) {
	for _, word := range strings.Fields(words) {
		all = append(all, called(word))
	}
	return all
}

// warning is what the dialect said of an answer, and overflow what was said of its prompt.
var (
	warning  = sdk.Entry{Path: "log://turn_1/error/" + sdk.DialectSlug(1), State: sdk.StateFailed, Outcome: sdk.Validation}
	overflow = sdk.Entry{Path: "log://turn_1/error/overflow", State: sdk.StateFailed, Outcome: sdk.Overflow}
)

// TestRulings: what turns mean, calls before text.
// spec: response_healing dispatch_path
func TestRulings(t *testing.T) {
	text := sdk.Completion{Text: "well"}
	for _, c := range []struct {
		name   string
		turn   Turn
		status int
		stop   string // empty goes on
	}{
		{"V1 something was done", Turn{Calls: calls("get update:102")}, 102, ""},
		{"V10 all is done", Turn{Calls: calls("get update:200")}, 200, "terminal"},
		{"V11 and is not", Turn{Calls: calls("get! update:200!")}, 102, ""},
		{"V11 of a command", Turn{Calls: calls("sh# update:200!")}, 102, ""},
		{"V12 nothing to tell", Turn{Calls: calls("update:204")}, 204, "terminal"},
		{"V12 it cannot be done", Turn{Calls: calls("get update:422")}, 422, "terminal"},
		{"V13 plain text", Turn{Completion: text}, 200, "answer"},
		{"V13 plain text of which something was said", Turn{Completion: text, Errors: []sdk.Entry{warning}}, 102, ""},
		{"V14 the last one counts", Turn{Calls: calls("update:200- update:102")}, 102, ""},
		{"V14 the other way", Turn{Calls: calls("update:102 update:200")}, 200, "terminal"},
		{"V15 a warning beside calls", Turn{Calls: calls("update:102"), Errors: []sdk.Entry{warning}}, 102, ""},
		{"a warning beside the end", Turn{Calls: calls("update:200"), Errors: []sdk.Entry{warning}}, 200, "terminal"},
		{"V16 not a word", Turn{}, 204, "answer"},
		{"V16 not a word, in tags", Turn{Errors: []sdk.Entry{warning}}, 102, ""},
		{"a prompt that was shortened", Turn{Completion: text, Errors: []sdk.Entry{overflow}}, 200, "answer"},
		{"no update", Turn{Calls: calls("get")}, 102, ""},
		{"a thought and text", Turn{Calls: Acts(calls("think")), Completion: text}, 200, "answer"},
		{"a thought that failed", Turn{Calls: Acts(calls("think!")), Completion: text}, 102, ""},
		{"a result", Turn{Calls: calls("get finish_task"), Owes: true}, 200, "terminal"},
		{"a result that was refused", Turn{Calls: calls("finish_task!"), Owes: true}, 102, ""},
		{"rejected", Turn{Calls: calls("sh~ update:200-")}, 200, "rejected"},
		{"rejected, with a reason", Turn{Calls: calls("sh~~ update:200-")}, 102, ""},
		{"cut off", Turn{Completion: sdk.Completion{Text: "we", Finish: "length"}}, 500, "failed"},
		{"cut off within calls", Turn{Calls: calls("get!"), Completion: sdk.Completion{Finish: "length"}}, 102, ""},
		{"filtered", Turn{Completion: sdk.Completion{Finish: "filter"}, Owes: true}, 500, "failed"},
		{"calls that never came", Turn{Completion: sdk.Completion{Text: "we", Finish: "calls"}}, 500, "failed"},
		{"a result is owed", Turn{Completion: text, Owes: true, Plain: 1}, 102, ""},
		{"a result is owed for long", Turn{Completion: text, Owes: true, Plain: 2}, 499, "not_finished"},
	} {
		if r := Of(c.turn); r.Status != c.status || r.Stop != c.stop || r.Continue != (c.stop == "") || (r.Reason == "") != r.Continue {
			t.Errorf("%s: %+v, want %d %q", c.name, r, c.status, c.stop)
		}
	}
}

// TestUntrue: beside which calls a claim is not accepted.
// spec: wrong_done
func TestUntrue(t *testing.T) {
	for words, want := range map[string]bool{
		"": false, "get": false, "get!": true, "sh#": true, "get?": true, "get/": true, "sh~": true, "get set- set-": false, "get! set-": true, "update:200- update:102": false, "get=": true,
	} {
		if got := Untrue(calls(words), false); got != want {
			t.Errorf("%q: %t", words, got)
		}
		if !Untrue(calls(words), true) {
			t.Errorf("%q, and a call was lost: a claim is accepted", words)
		}
	}
}

// TestReplaced: the last update counts, also where it is none that ends anything.
func TestReplaced(t *testing.T) {
	for words, want := range map[string]string{
		"": "[]", "get": "[]", "update:200": "[]", "update:200 update:102": "[0]", "update:102 update:200": "[]", "update:200 get update:422 sh update:200": "[0 2]",
		"update:200 update:102!": "[0]", "update:204 update:102 get": "[0]", "finish_task update:102": "[]",
	} {
		if got := fmt.Sprint(Replaced(calls(words))); got != want {
			t.Errorf("%q: %s", words, got)
		}
	}
}

// TestStopped: by which status a filter may end a loop, and with which words.
func TestStopped(t *testing.T) {
	if r, err := Stopped(sdk.Ruling{Status: sdk.StatusAborted}); err != nil || r.Stop != sdk.StopFailed || r.Reason == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := Stopped(sdk.Ruling{Status: sdk.StatusOK, Stop: "x", Reason: "y"}); err != nil || r.Stop != "x" || r.Reason != "y" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, status := range []int{0, 102, 202, 404, 409, 999} {
		if r, err := Stopped(sdk.Ruling{Status: status}); err == nil {
			t.Errorf("%d is taken: %+v", status, r)
		}
	}
}

// TestNoFalseEnd: whatever a turn did, it ends as done only by an accepted call that is its last update, beside nothing
// that failed, or by an answer of which nothing was said.
func TestNoFalseEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"get", "get!", "sh#", "get-", "get=", "get?", "get/", "update:102", "update:200", "update:422", "update:204"}), 0, 5).Draw(t, "words")
		all := calls(strings.Join(words, " "))
		for _, i := range Replaced(all) { // as the engine has it
			all[i] = called("update:200-")
		}
		lost := rapid.Bool().Draw(t, "lost")
		if Untrue(all, lost) {
			for i := range all {
				if all[i].ended() {
					all[i] = called("update:200!")
				}
			}
		}
		r := Of(Turn{Calls: all, Completion: sdk.Completion{Text: "x"}})
		last := lastUpdate(calls(strings.Join(words, " ")))
		ends := last >= 0 && words[last] != "update:102" && !Untrue(calls(strings.Join(words, " ")), lost)
		if len(words) > 0 && r.Continue == ends {
			t.Fatalf("%v: %+v", words, r)
		}
	})
}

// TestReasonOfAnEnd: a person reads of work that cannot be done that it cannot.
func TestReasonOfAnEnd(t *testing.T) {
	for words, want := range map[string]string{
		"update:200":  "update ended the work",
		"update:422":  "update ended the work, which cannot be done",
		"finish_task": "finish_task ended the work",
	} {
		if r := Of(Turn{Calls: calls(words)}); r.Reason != want {
			t.Errorf("%s: %q", words, r.Reason)
		}
	}
}
