package main

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// asked is a daemon in which a person answers, and what they were asked.
func asked(t *testing.T, answer sdk.QuestionAnswer, refuse error) (*sdktest.Daemon, *sdk.Question) {
	t.Helper()
	q := &sdk.Question{}
	return &sdktest.Daemon{Tools: map[string]func(context.Context, json.RawMessage) (sdk.ToolResult, error){
		sdk.ToolAskUser: func(_ context.Context, arguments json.RawMessage) (sdk.ToolResult, error) {
			var err error
			if *q, err = sdk.QuestionOf(arguments); err != nil || refuse != nil {
				return sdk.ToolResult{}, refuse
			}
			said, err := json.Marshal(answer)
			return sdk.ToolResult{Success: true, Structured: said}, err
		},
	}}, q
}

// TestElicitation: the server asks the person within its call, for data or to open an address, in
// both eras of the protocol; what they answered reaches it.
func TestElicitation(t *testing.T) {
	bern := sdk.QuestionAnswer{Answer: sdk.Accept, Data: json.RawMessage(`{"city":"Bern"}`)}
	for _, what := range []string{"plain", "legacy"} {
		m := started(t, what)
		for _, c := range []struct {
			tool   string
			answer sdk.QuestionAnswer
			refuse error
			want   string
		}{
			{"form", bern, nil, `accept {"city":"Bern"}`},
			{"form", sdk.QuestionAnswer{Answer: sdk.Reject}, nil, "decline null"},
			{"form", sdk.QuestionAnswer{Answer: sdk.Cancel}, nil, "cancel null"},
			{"form", bern, sdk.Errorf(sdk.Unavailable, "nobody is there"), "cancel null"},
			{"address", sdk.QuestionAnswer{Answer: sdk.Accept}, nil, "accept null"},
			{"address", sdk.QuestionAnswer{Answer: sdk.Reject}, nil, "decline null"},
		} {
			d, q := asked(t, c.answer, c.refuse)
			ctx := host.WithCall(host.With(t.Context(), d), "a")
			r, err := m.Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__" + c.tool, Arguments: []byte(`{}`), CallID: "a", Run: "r"}, &sdktest.Recorder{})
			if err != nil || r.Output != c.want {
				t.Errorf("%s %s: %+v, %v", what, c.tool, r, err)
			}
			switch {
			case c.tool == "form" && (q.Message != "Where to?" || q.Schema == nil || q.URL != "" || strings.Contains(string(q.Schema), orderKey) || !slices.Equal(q.Order, []string{"when", "city"})):
				t.Errorf("%s: asked %+v", what, q)
			case c.tool == "address" && (q.Message != "Sign in." || q.Schema != nil || q.URL != "https://far.example/login"):
				t.Errorf("%s: asked %+v", what, q)
			}
		}
	}
}

// TestCallsThatNeedAnAddress: a call that is refused until the person has opened an address is made once
// more when they have, and else ends with the server's refusal.
func TestCallsThatNeedAnAddress(t *testing.T) {
	for answer, want := range map[sdk.Answer]string{sdk.Accept: "signed in", sdk.Reject: "refused the call of first"} {
		d, q := asked(t, sdk.QuestionAnswer{Answer: answer}, nil)
		ctx := host.WithCall(host.With(t.Context(), d), "a")
		r, err := started(t, "plain").Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__first", Arguments: []byte(`{}`), CallID: "a"}, &sdktest.Recorder{})
		got := r.Output
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || q.URL != "https://far.example/login" || !strings.HasPrefix(q.Message, "Sign in.") {
			t.Errorf("%s: %q, asked %+v", answer, got, q)
		}
	}
}

// TestElicitationThatIsNone: what may not be asked is an error of the server's call.
func TestElicitationThatIsNone(t *testing.T) {
	d, _ := asked(t, sdk.QuestionAnswer{}, sdk.Errorf(sdk.Permission, "the plugin is not granted"))
	ctx := host.WithCall(host.With(t.Context(), d), "a")
	r, err := started(t, "plain").Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__form", Arguments: []byte(`{}`), CallID: "a"}, &sdktest.Recorder{})
	if err == nil {
		t.Errorf("%+v", r)
	}
}

// TestOrderOfForms: it is that of the server's text where its messages can be seen, else what is required comes first.
func TestOrderOfForms(t *testing.T) {
	const schema = `{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"},"a":{"type":"string"}},"required":["c","a"]}`
	read := func(raw json.RawMessage) (v any) {
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if got := orderOf(read(json.RawMessage(schema))); !slices.Equal(got, []string{"c", "a"}) {
		t.Errorf("of what is required: %v", got)
	}
	with := read(listed(json.RawMessage(schema)))
	if got := orderOf(with); !slices.Equal(got, []string{"b", "c", "a"}) || !reflect.DeepEqual(with, read(json.RawMessage(schema))) {
		t.Errorf("%v, and what is left is %v", got, with)
	}
	for _, raw := range []string{`null`, `7`, `[]`, `{`, `{"properties":7}`, `{"properties":{"a":`} {
		if got := string(listed(json.RawMessage(raw))); json.Valid([]byte(raw)) != json.Valid([]byte(got)) {
			t.Errorf("%s became %s", raw, got)
		}
	}
	if got := orderOf(7); got != nil {
		t.Errorf("of no schema: %v", got)
	}
}
