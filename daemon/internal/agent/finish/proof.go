package finish

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
)

// proofs say what of a result is not proven, for the model; nothing is that all is.
var proofs = map[string]func(sdk.Work) []string{
	sdk.ProofTests:     proveTests,
	sdk.ProofCitations: proveCitations,
}

// Check says why nothing could ever be handed over by a spec: its schema is none of an object, a proof is unknown, or the
// schema has no place for what a proof is asked of. The error is for whoever wrote the spec.
func Check(spec sdk.FinishSpec) error {
	compiled, err := schema.Compile(spec.Schema)
	if err != nil {
		return err
	}
	for _, name := range spec.Prove {
		switch {
		case proofs[name] == nil:
			return fmt.Errorf("there is no proof %q; there are: %s", name, strings.Join(sdk.Proofs(), ", "))
		case name == sdk.ProofTests && !compiled.Declares("tests_verified"):
			return fmt.Errorf("the proof %q is about a property tests_verified, and the schema declares none", name)
		}
	}
	return nil
}

// proveTests holds tests_verified to the tests that ran: some passed, and nothing changed since they were begun.
func proveTests(w sdk.Work) []string {
	result, _ := decoded(w.Result).(map[string]any) // by its very name: a field of a struct has any case
	verified, said := result["tests_verified"].(bool)
	if !said {
		return []string{"tests_verified is missing: run the tests by " + sdk.ToolTests + ", and say that they pass"}
	}
	if !verified {
		return []string{"tests_verified is false: make the tests pass, run them by " + sdk.ToolTests + ", and say so then"}
	}
	tests, failed := lastTests(w.Done)
	change := lastChange(w.Done)
	switch {
	case failed:
		return []string{"the tests failed when they ran last: mend what fails, and run " + sdk.ToolTests + " again"}
	case tests == nil:
		return []string{"no run of " + sdk.ToolTests + " passed: run it, and mend what fails"}
	case change != nil && change.Ended > tests.Began:
		return []string{"the tests passed before " + changed(change) + ": run " + sdk.ToolTests + " again"}
	}
	return nil
}

// isTests reports whether a call was to run the tests. What a server of MCP calls so may run anything, and says itself
// what came of it: it proves nothing, and what it changes is a change.
func isTests(d *sdk.WorkDone) bool {
	return d.Tool == sdk.ToolTests && !strings.HasPrefix(d.Plugin, sdk.MCPPrefix)
}

// lastTests is the run of the tests that was begun last among those that came to something; failed is that it did not
// pass, though an earlier one had. Nil is that none passed.
func lastTests(done []sdk.WorkDone) (last *sdk.WorkDone, failed bool) {
	once := false
	for i := range done {
		d := &done[i]
		if !isTests(d) || d.Began == 0 || !d.Success && d.Outcome != sdk.Timeout && !strings.HasPrefix(string(d.Outcome), "exit:") {
			continue
		}
		once = once || passed(d)
		if last == nil || d.Began > last.Began {
			last = d
		}
	}
	if last != nil && !passed(last) {
		return nil, once
	}
	return last, false
}

// passed reports whether of the tests that a call ran some passed and none failed.
func passed(d *sdk.WorkDone) bool {
	var count struct{ Passed, Failed int }
	return d.Success && json.Unmarshal(d.Structured, &count) == nil && count.Passed > 0 && count.Failed == 0
}

// lastChange is the call that changed the project last, or may have; nil where none did. What a run of the tests
// changes by itself is none.
func lastChange(done []sdk.WorkDone) (last *sdk.WorkDone) {
	tests := map[string]bool{}
	for _, d := range done {
		if isTests(&d) {
			tests[d.Run+" "+d.Path] = true
		}
	}
	for i := range done {
		d := &done[i]
		if isTests(d) || tests[d.Run+" "+d.Parent] || len(d.Changed) == 0 && (!d.Untold || d.ReadOnly) {
			continue
		}
		if last == nil || d.Ended > last.Ended {
			last = d
		}
	}
	return last
}

// changed says what a call changed, for the model.
func changed(d *sdk.WorkDone) string {
	switch len(d.Changed) {
	case 0:
		return "a call of " + d.Tool + " that may have changed files"
	case 1:
		return d.Changed[0] + " was changed"
	}
	return d.Changed[0] + " and others were changed"
}
