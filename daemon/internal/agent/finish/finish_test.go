package finish

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

const schemaText = `{"type":"object","properties":{"summary":{"type":"string"},"tests_verified":{"type":"boolean"},` +
	`"citations":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"url":{"type":"string"},"claim":{"type":"string"}}}]}}},"required":["summary"]}`

// done is what was done, one call after the other, each ended before the next began.
func done(calls ...sdk.WorkDone) []sdk.WorkDone {
	for i := range calls {
		d := &calls[i]
		if d.Run == "" {
			d.Run = "r"
		}
		if d.Ended == 0 {
			d.Began, d.Ended = int64(10*i+1), int64(10*i+5)
		}
	}
	return calls
}

var (
	read    = sdk.WorkDone{Tool: "read_file", Plugin: "files", Success: true, ReadOnly: true}
	write   = sdk.WorkDone{Tool: "write_file", Plugin: "files", Success: true, Changed: []string{"a.go"}}
	plainLs = sdk.WorkDone{Tool: "bash", Plugin: "bash", Success: true, ReadOnly: true, Untold: true}
	plainGo = sdk.WorkDone{Tool: "bash", Plugin: "bash", Success: true, Untold: true}
	failed  = sdk.WorkDone{Tool: "bash", Plugin: "bash", Outcome: "exit:1", Changed: []string{"b.go"}}
	pass    = tests(true, `{"passed":3,"failed":0}`)
)

func tests(success bool, structured string) sdk.WorkDone {
	outcome := sdk.Exit(1)
	if success {
		outcome = ""
	}
	return sdk.WorkDone{Tool: sdk.ToolTests, Plugin: "bash", Path: "log://turn_1/run_tests/call", Success: success, Outcome: outcome, Structured: json.RawMessage(structured), Changed: []string{".pytest_cache/x"}, Untold: true}
}

func fetch(arguments string) sdk.WorkDone {
	return sdk.WorkDone{Tool: "fetch", Plugin: "mcp__web", Success: true, OpenWorld: true, Arguments: json.RawMessage(arguments)}
}

func TestJudge(t *testing.T) {
	const good = `{"summary":"x","tests_verified":true}`
	cites := func(urls ...string) string {
		text, _ := json.Marshal(map[string]any{"summary": "x", "citations": urls})
		return string(text)
	}
	apply := sdk.WorkDone{Tool: "apply", Plugin: "bash", Success: true, Changed: []string{"cache"}, Parent: pass.Path}
	aside := sdk.WorkDone{Tool: "write_file", Plugin: "files", Run: "child", Success: true, Changed: []string{"c.go"}, Began: 2, Ended: 12}
	cut, refused, ofMCP := tests(false, `{"passed":2}`), tests(false, ``), tests(true, `{"passed":3,"failed":0}`)
	cut.Outcome, refused.Outcome, ofMCP.Plugin = sdk.Timeout, sdk.Permission, "mcp__x"
	failedFetch, unknown := fetch(`{"url":"https://a.example/"}`), fetch(`{"url":"https://a.example/"}`)
	failedFetch.Success, unknown.OpenWorld = false, false
	for name, c := range map[string]struct {
		prove  []string
		idle   bool
		done   []sdk.WorkDone
		result string
		want   string // in the refusal; empty is accepted
	}{
		"T1 nothing was done":               {nil, false, nil, good, "nothing was done for it yet"},
		"T1 it only tried to finish":        {nil, false, done(sdk.WorkDone{Tool: sdk.ToolFinish, Plugin: sdk.OwnPlugin}), good, "nothing was done for it yet"},
		"T1 it only marked its plan":        {nil, false, done(sdk.WorkDone{Tool: sdk.ToolPlan, Plugin: sdk.OwnPlugin, Success: true}), good, "nothing was done for it yet"},
		"T1 it delegated":                   {nil, false, done(sdk.WorkDone{Tool: sdk.ToolDelegate, Plugin: sdk.OwnPlugin}), good, ""},
		"T1 another's tool of that name":    {nil, false, done(sdk.WorkDone{Tool: sdk.ToolFinish, Plugin: "p"}), good, ""},
		"T1 there is nothing to do it with": {nil, true, nil, good, ""},
		"T2 a name is missing":              {nil, false, done(read), `{}`, `"summary" is required and missing`},
		"T2 of another type":                {nil, false, done(read), `{"summary":1}`, `property "summary"`},
		"T2 null":                           {nil, false, done(read), `{"summary":null}`, `property "summary"`},
		"T2 undeclared":                     {nil, false, done(read), `{"summary":"x","more":1}`, `"more" is not declared`},
		"T2 twice":                          {nil, false, done(read), `{"summary":"x","summary":"y"}`, "given twice"},
		"T2 no object":                      {nil, false, done(read), `"x"`, "JSON object"},
		"no such proof":                     {[]string{"luck"}, false, done(read), good, `no proof "luck"`},
		"T9 not verified":                   {[]string{sdk.ProofTests}, false, done(write, pass), `{"summary":"x","tests_verified":false}`, "tests_verified is false"},
		"T9 nothing said":                   {[]string{sdk.ProofTests}, false, done(write, pass), `{"summary":"x"}`, "tests_verified is missing"},
		"T9 said twice in another case":     {[]string{sdk.ProofTests}, false, done(write, pass), `{"summary":"x","tests_verified":false,"Tests_Verified":true}`, "not declared"},
		"tests never ran":                   {[]string{sdk.ProofTests}, false, done(read), good, "no run of run_tests passed"},
		"tests failed":                      {[]string{sdk.ProofTests}, false, done(write, tests(false, `{"passed":2,"failed":1}`)), good, "no run of run_tests passed"},
		"tests that counted none":           {[]string{sdk.ProofTests}, false, done(write, tests(true, `{"passed":0,"failed":0}`)), good, "no run of run_tests passed"},
		"tests that tell nothing":           {[]string{sdk.ProofTests}, false, done(write, tests(true, ``)), good, "no run of run_tests passed"},
		"tests that tell words":             {[]string{sdk.ProofTests}, false, done(write, tests(true, `{"passed":"all"}`)), good, "no run of run_tests passed"},
		"tests that say two things":         {[]string{sdk.ProofTests}, false, done(write, tests(true, `{"passed":3,"failed":1}`)), good, "no run of run_tests passed"},
		"tests that failed since":           {[]string{sdk.ProofTests}, false, done(write, pass, tests(false, `{"passed":2,"failed":1}`)), good, "failed when they ran last"},
		"tests that were cut off since":     {[]string{sdk.ProofTests}, false, done(write, pass, cut), good, "failed when they ran last"},
		"tests that did not run since":      {[]string{sdk.ProofTests}, false, done(write, pass, refused), good, ""},
		"tests that failed before":          {[]string{sdk.ProofTests}, false, done(write, tests(false, `{"passed":2,"failed":1}`), pass), good, ""},
		"of a server of MCP":                {[]string{sdk.ProofTests}, false, done(write, ofMCP), good, "no run of run_tests passed"},
		"a server's is a change":            {[]string{sdk.ProofTests}, false, done(pass, ofMCP), good, "the tests passed before"},
		"tests passed":                      {[]string{sdk.ProofTests}, false, done(write, pass), good, ""},
		"and it only read since":            {[]string{sdk.ProofTests}, false, done(write, pass, read, plainLs), good, ""},
		"a change since":                    {[]string{sdk.ProofTests}, false, done(pass, write), good, "before a.go was changed: run run_tests again"},
		"a command that may have changed":   {[]string{sdk.ProofTests}, false, done(pass, plainGo), good, "that may have changed files"},
		"a command that failed and changed": {[]string{sdk.ProofTests}, false, done(pass, failed), good, "before b.go was changed"},
		"tests again":                       {[]string{sdk.ProofTests}, false, done(pass, write, pass), good, ""},
		"what the tests left to be applied": {[]string{sdk.ProofTests}, false, done(pass, apply), good, ""},
		"a sibling's change during the run": {[]string{sdk.ProofTests}, false, append(done(pass, read, aside), aside), good, "before c.go was changed"},
		"cited and fetched":                 {[]string{sdk.ProofCitations}, false, done(fetch(`{"url":"https://a.example/"}`)), cites("https://a.example/"), ""},
		"in another form":                   {[]string{sdk.ProofCitations}, false, done(fetch(`{"urls":["HTTPS://A.example:443"]}`)), cites("https://a.example/#part"), ""},
		"cited and not fetched":             {[]string{sdk.ProofCitations}, false, done(fetch(`{"url":"https://a.example/"}`)), cites("https://b.example/x"), "https://b.example/x was not fetched"},
		"another query":                     {[]string{sdk.ProofCitations}, false, done(fetch(`{"url":"https://a.example/?q=1"}`)), cites("https://a.example/?q=2"), "was not fetched"},
		"the fetch failed":                  {[]string{sdk.ProofCitations}, false, done(failedFetch), cites("https://a.example/"), "was not fetched"},
		"a tool that reaches nothing":       {[]string{sdk.ProofCitations}, false, done(unknown), cites("https://a.example/"), "was not fetched"},
		"an own tool reaches nothing":       {[]string{sdk.ProofCitations}, false, done(sdk.WorkDone{Tool: "open_network", Plugin: sdk.OwnPlugin, Success: true, OpenWorld: true, Arguments: json.RawMessage(`{"reason":"https://a.example/"}`)}), cites("https://a.example/"), "was not fetched"},
		"an address that was searched for":  {[]string{sdk.ProofCitations}, false, done(sdk.WorkDone{Tool: sdk.SearchTool, Plugin: "web", Success: true, OpenWorld: true, Arguments: json.RawMessage(`{"query":"https://a.example/"}`)}), cites("https://a.example/"), "was not fetched"},
		"an address to be fetched ahead":    {[]string{sdk.ProofCitations}, false, done(sdk.WorkDone{Tool: sdk.PrefetchTool, Plugin: "web", Success: true, OpenWorld: true, Arguments: json.RawMessage(`{"addresses":["https://a.example/"]}`)}), cites("https://a.example/"), "was not fetched"},
		"an address that was spoken of":     {[]string{sdk.ProofCitations}, false, done(fetch(`{"q":"see https://a.example/"}`)), cites("https://a.example/"), "was not fetched"},
		"no address":                        {[]string{sdk.ProofCitations}, false, done(read), `{"summary":"x","citations":[{"url":"a book"}]}`, "is no address of the web"},
		"of a file":                         {[]string{sdk.ProofCitations}, false, done(read), `{"summary":"x","citations":[{"url":"file:///etc/passwd"}]}`, "is no address of the web"},
		"nothing is cited":                  {[]string{sdk.ProofCitations}, false, done(read), `{"summary":"see https://a.example/"}`, ""},
		"a text that is cited":              {[]string{sdk.ProofCitations}, false, done(read), `{"summary":"x","citations":["a book"]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := Gates{Spec: sdk.FinishSpec{Schema: json.RawMessage(schemaText), Prove: c.prove}, Idle: c.idle}
			err := g.Judge(t.Context(), sdk.Work{Result: json.RawMessage(c.result), Done: c.done})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || sdk.OutcomeOf(err) != sdk.Validation):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestValidate: the plugin is asked last; what it says holds, and what it fails to say is told apart.
func TestValidate(t *testing.T) {
	crash := errors.New("it crashed")
	for name, c := range map[string]struct {
		judgement sdk.Judgement
		err       error
		result    string
		asked     bool
		want      string
		unjudged  bool
	}{
		"accepted":        {sdk.Judgement{Accepted: true}, nil, `{"summary":"x"}`, true, "", false},
		"refused":         {sdk.Judgement{Missing: []string{"a", "b"}}, nil, `{"summary":"x"}`, true, "the validator v refused it:\n- a\n- b", false},
		"without a word":  {sdk.Judgement{}, nil, `{"summary":"x"}`, true, "the validator v refused it", false},
		"failed":          {sdk.Judgement{Accepted: true}, crash, `{"summary":"x"}`, true, "it crashed", true},
		"schema is first": {sdk.Judgement{Accepted: true}, nil, `{}`, false, "missing", false},
	} {
		asked := false
		g := Gates{Spec: sdk.FinishSpec{Schema: json.RawMessage(schemaText), Validator: "v"}, Validate: func(context.Context, string, sdk.Work) (sdk.Judgement, error) {
			asked = true
			return c.judgement, c.err
		}}
		err := g.Judge(t.Context(), sdk.Work{Result: json.RawMessage(c.result), Done: done(read)})
		var unjudged *Unjudged
		if asked != c.asked || errors.As(err, &unjudged) != c.unjudged || (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: asked %v, %v", name, asked, err)
		}
	}
	g := Gates{Spec: sdk.FinishSpec{Schema: json.RawMessage(schemaText), Validator: "v"}, Idle: true}
	var unjudged *Unjudged
	if err := g.Judge(t.Context(), sdk.Work{Result: json.RawMessage(`{"summary":"x"}`)}); !errors.As(err, &unjudged) || unjudged.Validator != "v" {
		t.Errorf("without plugins: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spec sdk.FinishSpec
		want string
	}{
		"usable":           {sdk.FinishSpec{Schema: json.RawMessage(schemaText), Prove: sdk.Proofs()}, ""},
		"of a list":        {sdk.FinishSpec{Schema: json.RawMessage(`{"type":"array"}`)}, "not one of type object"},
		"without a schema": {sdk.FinishSpec{}, "cannot be read"},
		"no such proof":    {sdk.FinishSpec{Schema: json.RawMessage(schemaText), Prove: []string{"luck"}}, "there are: tests, citations"},
		"no claim":         {sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object"}`), Prove: []string{sdk.ProofTests}}, "tests_verified"},
		"composed":         {sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object","allOf":[{"properties":{"tests_verified":{}}}]}`), Prove: []string{sdk.ProofTests}}, ""},
	} {
		if err := Check(c.spec); (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzJudge: whatever a model hands over is judged, and what its schema refuses is never accepted.
func FuzzJudge(f *testing.F) {
	for _, text := range []string{`{}`, `{"summary":"x","tests_verified":true,"citations":[{"url":"https://a.example"},"http://[::1]:80/%zz"]}`, `{"summary":"x","citations":[[{"URL":["//a"]}]]}`, `[`, `{"url":null}`} {
		f.Add([]byte(text), []byte(text))
	}
	g := Gates{Spec: sdk.FinishSpec{Schema: json.RawMessage(schemaText), Prove: sdk.Proofs()}}
	f.Fuzz(func(t *testing.T, result, structured []byte) {
		w := sdk.Work{Result: result, Done: []sdk.WorkDone{
			{Tool: "fetch", Plugin: "p", Success: true, OpenWorld: true, Arguments: structured},
			{Tool: sdk.ToolTests, Plugin: "bash", Success: true, Structured: structured, Began: 1, Ended: 2},
		}}
		if g.Judge(t.Context(), w) != nil {
			return
		}
		var claim struct {
			Summary *string
			Tests   bool `json:"tests_verified"`
		}
		if err := json.Unmarshal(result, &claim); err != nil || claim.Summary == nil || !claim.Tests {
			t.Errorf("%q is accepted", result)
		}
	})
}
