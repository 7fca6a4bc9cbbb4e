package show

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWhyACallFailed: what policy said is why a call was denied, and no more than
// that. A tool that refuses says why in its own words.
func TestWhyACallFailed(t *testing.T) {
	allowed := &sdk.Decision{Verdict: sdk.Allow, Reason: `"read_file" only reads, and its plugin is pinned`}
	denied := &sdk.Decision{Verdict: sdk.Deny, Reason: "make is not known to be harmless"}
	asked := &sdk.Decision{Verdict: sdk.Propose, Reason: "it writes"}
	for _, c := range []struct {
		decision *sdk.Decision
		answer   *sdk.ActionAnswer
		outcome  sdk.Outcome
		said     string
		want     string
	}{
		{allowed, nil, sdk.Permission, "a leads out of the project", "refused: a leads out of the project"},
		{allowed, nil, sdk.NotFound, "a does not exist", "failed (not_found): a does not exist"},
		{denied, nil, sdk.Permission, "denied by policy", "denied: make is not known to be harmless"},
		{nil, nil, sdk.Permission, "the agent may not use it", "denied: the agent may not use it"},
		{asked, &sdk.ActionAnswer{Answer: sdk.Accept, By: "a"}, sdk.Permission, "a is protected", "refused: a is protected"},
		{asked, &sdk.ActionAnswer{Answer: sdk.Reject, By: "a", Reason: "not now"}, sdk.Permission, "rejected", "rejected by a: not now"},
	} {
		a := sdk.Action{State: sdk.StateFailed, Outcome: c.outcome, Decision: c.decision, Answer: c.answer, ActionEnd: sdk.ActionEnd{Error: c.said}}
		if got := Ending(&a); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// TestArguments: no two calls have arguments that look the same.
func TestArguments(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ raw, want string }{
		{`{"path":"a"}`, `a`},
		{`{"path":"a b"}`, `a b`},
		{`{"path":"a b=c force=true"}`, `"a b=c force=true"`},
		{`{"path":"a","b":"c force=true"}`, `a b="c force=true"`},
		{`{"path":"a","b":"c","force":true}`, `a b=c force=true`},
		{`{"path":"a","b":"c","force":"true"}`, `a b=c force="true"`},
		{`{"path":"a","b":null}`, `a b=null`},
		{`{"path":"a","b":"null"}`, `a b="null"`},
		{`{"path":"a","b":5}`, `a b=5`},
		{`{"path":"a","b":"5"}`, `a b="5"`},
		{`{"path":"a","b":""}`, `a b=""`},
		{`{"path":"a","b":"\"\""}`, `a b="\"\""`},
		{`{"path":"a","b":["c","d"]}`, `a b=["c","d"]`},
		{`{"path":"a","b":"[\"c\",\"d\"]"}`, `a b="[\"c\",\"d\"]"`},
		{`{"path":"a","b":"c\nd"}`, `a b="c\nd"`},
		{`{"path":"a","b":"c\\nd"}`, `a b=c\nd`},
		{`{"path":"a","b":"\u001b[2J"}`, `a b="\u001b[2J"`},
		{`{"path":"a","b":"\\x1b[2J"}`, `a b=\x1b[2J`},
		{`{"path":"a","b":"\u202e<"}`, `a b="\u202e<"`},
		{`{"path":"a","b c":"d"}`, `a "b c"=d`},
		{`{"path":"a \"b c\"=d"}`, `"a \"b c\"=d"`},
		{`{"command":"x","-run":"y"}`, `x "-run"=y`},
		{`{"command":"x -run=y"}`, `x -run=y`},
		{`{"command":"x -run=y; echo \"z\""}`, `x -run=y; echo "z"`},
		{`{"command":"true"}`, `"true"`},
		{`{"command":true}`, `true`},
		{`{"command":"\"x y\""}`, `"\"x y\""`},
		{`{"command":"x y"}`, `x y`},
		{`{"command":" x y"}`, `" x y"`},
		{`{"command":"x\ny"}`, `"x\ny"`},
		{`{"command":"x\\ny"}`, `x\ny`},
		{`{"b":"c","d":"e"}`, `b=c d=e`},
		{`{"command":"b=c d=e"}`, `"b=c d=e"`},
		{`"\u003cset path=\"a\"\u003e\nhalf\u001b"`, `"<set path=\"a\">\nhalf\u001b"`},
		{`{"half`, `{"half`},
	} {
		got := Arguments(json.RawMessage(c.raw))
		if got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.raw, got, c.want)
		}
		if other := seen[got]; other != "" {
			t.Errorf("%s and %s are both shown as %s", c.raw, other, got)
		}
		seen[got] = c.raw
	}
}
