package engine

import (
	"errors"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// gate is what an agent does that has to hand a result over, and what comes of it, wherever it works.
type gate struct {
	spec  sdk.FinishSpec
	judge func(asked int) (sdk.Judgement, error)
	work  []step // before it hands anything over
	gives []step
	did   string // the work
	came  outcome
	says  string // in the first refusal
	// alone is what comes of it in the synthesis of a team, whose work its members do, and which has no tool but one;
	// nil where that is the same.
	alone *outcome
}

// outcome is what calls came to, and what the loop ended by.
type outcome struct{ calls, stop string }

const (
	notYet = "finish_task:failed:validation"
	taken  = "finish_task:resolved"
)

// gates are the rows T1 to T10 of the seeds, with what a model makes of a refusal; the proofs, also by tools of servers of
// MCP; and the validator.
func gates() map[string]gate {
	read, plain, give := calls(numbered("read", 1)), say("I am done."), calls(handOver(goodResult))
	cites := func(url string) step {
		return calls(handOver(`{"summary":"done","tests_verified":true,"citations":["` + url + `"]}`))
	}
	tests, server := calls(call{sdk.ToolTests, `{}`}), calls(call{"mcp__web__run_tests", `{}`})
	fetch := func(tool string) step { return calls(call{"mcp__web__" + tool, `{"url":"https://a.example/"}`}) }
	tested, cited := sdk.FinishSpec{Prove: []string{sdk.ProofTests}}, sdk.FinishSpec{Prove: []string{sdk.ProofCitations}}
	ends := func(calls string) outcome { return outcome{calls, sdk.StopTerminal} }
	atOnce, missing := ends(taken), "nothing was done for it yet"
	return map[string]gate{
		"T1 at once, then after work": {
			gives: []step{give, read, give}, came: ends(notYet + " read:resolved " + taken), says: missing, alone: &atOnce,
		},
		"T1 work of the same answer counts": {
			gives: []step{calls(numbered("read", 1), handOver(goodResult)), give}, came: ends("read:resolved " + taken),
			alone: &outcome{"read:failed:not_found finish_task:failed:conflict " + taken, sdk.StopTerminal},
		},
		"T1 what failed was tried":       {work: []step{calls(numbered("read_bad", 1))}, gives: []step{give}, did: "read_bad:failed:timeout", came: atOnce},
		"T1 what is not there was tried": {work: []step{calls(call{"gone", `{}`})}, gives: []step{give}, did: "gone:failed:not_found", came: atOnce},
		"T1 to mark a plan is no work": {
			gives: []step{calls(call{sdk.ToolPlan, `{"steps":[{"text":"look"}]}`}), give, read, give}, came: ends("plan:resolved " + notYet + " read:resolved " + taken), says: missing,
			alone: &outcome{"plan:failed:not_found " + taken, sdk.StopTerminal},
		},
		"T1 what a server of MCP does is work": {work: []step{fetch("fetch")}, gives: []step{give}, did: "mcp__web__fetch:resolved", came: atOnce},
		"T2 a field is missing": {
			work: []step{read}, gives: []step{calls(handOver(`{}`)), give}, did: "read:resolved", came: ends(notYet + " " + taken), says: `"summary", "tests_verified" are required and missing`,
		},
		"T2 of another type": {
			work: []step{read}, gives: []step{calls(handOver(`{"summary":"x","tests_verified":"true"}`)), give}, did: "read:resolved", came: ends(notYet + " " + taken), says: `"tests_verified"`,
		},
		"T5 after a failure of an earlier turn": {work: []step{calls(numbered("write_bad", 1))}, gives: []step{give}, did: "write_bad:failed:permission", came: atOnce},
		"T5 beside a failure of the same answer": {
			gives: []step{calls(numbered("read_bad", 1), handOver(goodResult)), give}, came: ends("read_bad:failed:timeout finish_task:failed:conflict " + taken),
			alone: &outcome{"read_bad:failed:not_found finish_task:failed:conflict " + taken, sdk.StopTerminal},
		},
		"T6 nothing behind it is made": {
			work: []step{read}, gives: []step{calls(handOver(goodResult), numbered("write", 1)), give}, did: "read:resolved", came: ends(taken + " write:failed:aborted"),
			alone: &outcome{"finish_task:failed:conflict write:failed:not_found " + taken, sdk.StopTerminal},
		},
		"T6 twice": {
			work: []step{read}, gives: []step{calls(handOver(goodResult), handOver(goodResult))}, did: "read:resolved", came: ends(taken + " finish_task:failed:aborted"),
		},
		"what stands behind a refused one is made": {
			gives: []step{calls(handOver(goodResult), numbered("write", 1)), give}, came: ends(notYet + " write:resolved " + taken), says: missing,
			alone: &outcome{"finish_task:failed:conflict write:failed:not_found " + taken, sdk.StopTerminal},
		},
		"T7 two plain texts, and a call resets the count": {
			gives: []step{plain, plain, read, plain, plain, give}, came: ends("read:resolved " + taken), alone: &outcome{"read:failed:not_found " + taken, sdk.StopTerminal},
		},
		"T8 three plain texts": {work: []step{read}, gives: []step{plain, plain, plain}, did: "read:resolved", came: outcome{"", sdk.StopNotFinished}},
		"T8 without a word":    {gives: []step{say(""), say(""), say("")}, came: outcome{"", sdk.StopNotFinished}},
		"T10 max_turns": {
			gives: []step{calls(numbered("read", 1)), calls(numbered("read", 2)), calls(numbered("read", 3)), calls(numbered("read", 4)), calls(numbered("read", 5)), calls(numbered("read", 6)), calls(numbered("read", 7)), plain, plain, plain},
			came:  outcome{strings.TrimSpace(strings.Repeat("read:resolved ", 7)), sdk.GuardMaxTurns},
			alone: &outcome{"read:failed:not_found read:failed:not_found read:failed:not_found", "consecutive_errors"},
		},
		"it never finishes but by the same call": {
			gives: []step{give, give, give}, came: outcome{notYet + " " + notYet + " finish_task:cancelled:aborted", sdk.GuardRepeatedCalls}, says: missing, alone: &atOnce,
		},
		"refusals count as errors": {
			work: []step{read}, gives: []step{calls(handOver(`{}`)), calls(handOver(`{"summary":1}`)), calls(handOver(`{"summary":""}`))}, did: "read:resolved",
			came: outcome{notYet + " " + notYet + " " + notYet, "consecutive_errors"}, says: "required and missing",
		},
		"another tool that ends the work does not": {
			gives: []step{calls(call{"finish", `{}`}), give}, came: ends("finish:resolved " + taken), alone: &outcome{"finish:failed:not_found " + taken, sdk.StopTerminal},
		},
		"by its whole name": {work: []step{read}, gives: []step{calls(call{"bothy__finish_task", goodResult})}, did: "read:resolved", came: ends("bothy__finish_task:resolved")},

		"tests passed": {spec: tested, work: []step{calls(numbered("bash", 1)), tests}, gives: []step{give}, did: "bash:resolved run_tests:resolved", came: atOnce},
		"tests passed before a command that may have changed files": {
			spec: tested, work: []step{tests, calls(numbered("bash", 1))}, gives: []step{give, tests, give}, did: "run_tests:resolved bash:resolved",
			came: ends(notYet + " run_tests:resolved " + taken), says: "the tests passed before",
			alone: &outcome{notYet + " run_tests:failed:not_found " + notYet, "consecutive_errors"},
		},
		"T9 tests that are said to fail": {
			spec: tested, work: []step{tests}, gives: []step{calls(handOver(`{"summary":"x","tests_verified":false}`)), give}, did: "run_tests:resolved", came: ends(notYet + " " + taken), says: "tests_verified is false",
		},
		"tests of a server of MCP": {
			spec: tested, work: []step{server}, gives: []step{give, server, give, tests, give}, did: "mcp__web__run_tests:resolved", says: "no run of run_tests passed",
			came:  ends(notYet + " mcp__web__run_tests:resolved " + notYet + " run_tests:resolved " + taken),
			alone: &outcome{notYet + " mcp__web__run_tests:failed:not_found " + notYet, "consecutive_errors"},
		},
		"cited is what a server of MCP fetched": {
			spec: cited, work: []step{fetch("fetch")}, gives: []step{cites("https://b.example/"), cites("https://a.example/")}, did: "mcp__web__fetch:resolved", came: ends(notYet + " " + taken), says: "https://b.example/ was not fetched",
		},
		"cited is what a server of MCP was only asked about": {
			spec: cited, work: []step{fetch("note")}, gives: []step{cites("https://a.example/"), give}, did: "mcp__web__note:resolved", came: ends(notYet + " " + taken), says: "https://a.example/ was not fetched",
		},
		"cited is what could not be fetched": {
			spec: cited, work: []step{fetch("gone")}, gives: []step{cites("https://a.example/"), give}, did: "mcp__web__gone:failed:exit:1", came: ends(notYet + " " + taken), says: "https://a.example/ was not fetched",
		},

		"the validator misses something": {
			spec: sdk.FinishSpec{Validator: "judge"}, work: []step{read}, gives: []step{give, calls(handOver(`{"summary":"a.go is done","tests_verified":true}`))}, did: "read:resolved",
			judge: func(asked int) (sdk.Judgement, error) {
				return sdk.Judgement{Accepted: asked > 1, Missing: []string{"name the file"}}, nil
			},
			came: ends(notYet + " " + taken), says: "the validator judge refused it: name the file",
		},
		"the validator fails once": {
			spec: sdk.FinishSpec{Validator: "judge"}, work: []step{read}, gives: []step{give, give}, did: "read:resolved", says: "did not judge the result: it crashed",
			judge: func(asked int) (sdk.Judgement, error) {
				return sdk.Judgement{Accepted: true}, map[bool]error{true: errors.New("it crashed")}[asked == 1]
			},
			came: ends("finish_task:failed:again " + taken),
		},
		"the validator is missing": {
			spec: sdk.FinishSpec{Validator: "judge"}, work: []step{read}, gives: []step{give, give, give}, did: "read:resolved", says: "there is no plugin judge",
			judge: func(int) (sdk.Judgement, error) {
				return sdk.Judgement{}, sdk.Errorf(sdk.NotFound, "there is no plugin judge")
			},
			came: outcome{"finish_task:failed:again finish_task:failed:again finish_task:failed:again", sdk.StopFailed},
		},
	}
}
