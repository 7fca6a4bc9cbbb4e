package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// sent completes and returns the body that the server got, to the byte.
func sent(t *testing.T, req sdk.Request) string {
	t.Helper()
	var body []byte
	a := server(t, settings{}, func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, a200+ended)
	})
	for i := range req.Messages { // as if this server had written it
		req.Messages[i].Extra = []byte(strings.ReplaceAll(string(req.Messages[i].Extra), "HOST", a.client.Host()))
	}
	if _, err := collect(t, a, req); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(body))
}

// messages are those of a request whose body is checked apart from them.
func sentMessages(t *testing.T, messages ...sdk.Message) string {
	t.Helper()
	body := sent(t, sdk.Request{Model: "m", MaxTokens: 9, Messages: messages})
	var w struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(w.Messages), `,"cache_control":{"type":"ephemeral"}`, "")
}

func user(text string) sdk.Message { return sdk.Message{Role: sdk.RoleUser, Text: text} }

func result(id, text string) sdk.Message {
	return sdk.Message{Role: sdk.RoleTool, CallID: id, Tool: "bash", Text: text}
}

func answer(text string, calls ...sdk.Call) sdk.Message {
	return sdk.Message{Role: sdk.RoleAssistant, Text: text, Calls: calls}
}

// TestRequest has all that a request may hold: the marks of the cache stand behind
// the tools, the system text and the end of the conversation.
func TestRequest(t *testing.T) {
	temperature := 0.5
	got := sent(t, sdk.Request{
		Run: "r", Model: "m", Temperature: &temperature, MaxTokens: 9,
		Messages: []sdk.Message{
			{Role: sdk.RoleSystem, Text: "sys <b>"}, user("hi"),
			answer("t", call("c", "bash", `{"command":"a > b"}`), call("d", "bash", `[1]`)),
			result("c", "1000"), {Role: sdk.RoleTool, CallID: "d", Tool: "bash", Text: "no", Failed: true},
		},
		Tools: []sdk.ToolDef{{Name: "now", Description: "tells"}, {Name: "bash", Parameters: json.RawMessage(`{"type":"object"}`)}},
	})
	want := strings.Join([]string{`{"model":"m","max_tokens":9,`,
		`"system":[{"type":"text","text":"sys <b>","cache_control":{"type":"ephemeral"}}],`,
		`"tools":[{"name":"now","description":"tells","input_schema":{"type":"object","properties":{}}},`,
		`{"name":"bash","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],`,
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},`,
		`{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c","name":"bash","input":{"command":"a > b"}},`,
		`{"type":"tool_use","id":"d","name":"bash","input":{"invalid_arguments":"[1]"}}]},`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1000"},`,
		`{"type":"tool_result","tool_use_id":"d","content":"no","is_error":true,"cache_control":{"type":"ephemeral"}}]}],`,
		`"stream":true,"temperature":0.5}`}, "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestConversations are those that the server would refuse as they are.
func TestConversations(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages []sdk.Message
		want     string
	}{
		{"one role after itself", []sdk.Message{user("a"), user("b"), answer("c"), answer("d"), user("e")},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]},{"role":"user","content":[{"type":"text","text":"e"}]}]`},
		{"words before a result, results out of order", []sdk.Message{user("a"), answer("", call("x", "b", "{}"), call("y", "b", "{}")), user("wait"), result("y", "2"), result("x", "1")},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"b","input":{}},{"type":"tool_use","id":"y","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"1"},{"type":"tool_result","tool_use_id":"y","content":"2"},{"type":"text","text":"wait"}]}]`},
		{"a call without a result", []sdk.Message{user("a"), answer("", call("x", "b", "{}")), answer("", call("y", "b", "{}"))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"There is no result.","is_error":true}]},{"role":"assistant","content":[{"type":"tool_use","id":"y","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"y","content":"There is no result.","is_error":true}]}]`},
		{"a result without a call", []sdk.Message{user("a"), result("x", "1")},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"[result of bash]\n1"}]}]`},
		{"ids of other servers", []sdk.Message{user("a"), answer("", call("functions.b:0", "b", "{}"), call("", "b!", "{}")), result("functions.b:0", "1"), result("", "2"), answer("", call("functions.b:0", "b", "{}")), result("functions.b:0", "3")},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"functions_b_0","name":"b","input":{}},{"type":"tool_use","id":"unnamed","name":"b_","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_b_0","content":"1"},{"type":"tool_result","tool_use_id":"unnamed","content":"2"}]},{"role":"assistant","content":[{"type":"tool_use","id":"functions_b_0_2","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_b_0_2","content":"3"}]}]`},
		{"an answer first, nothing said, an empty result", []sdk.Message{answer(" \n", call("x", "b", "{}")), result("x", ""), user(" "), answer("\n"), user("b")},
			`[{"role":"user","content":[{"type":"text","text":"[What came before is left out.]"}]},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"},{"type":"text","text":"b"}]}]`},
		{"system text within the conversation", []sdk.Message{user("a"), {Role: sdk.RoleSystem, Text: "s"}},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"s"}]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sentMessages(t, c.messages...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestThinkingGoesBack plays answers with thinking and gives them back: the blocks
// stand in their order, each to the byte, whatever the way through JSON did to Extra.
func TestThinkingGoesBack(t *testing.T) {
	for file, want := range map[string]string{
		"thinking-tools": `[{"signature":"c2ln\\/+==","thinking":"First.","type":"thinking"},{"type":"text","text":"Wait."},{"signature":"c2VjMg==","thinking":"Then.","type":"thinking"},{"type":"tool_use","id":"toolu_t","name":"bash","input":{"command":"id"}}]`,
		"redacted":       `[{"signature":"c2ln","thinking":"Hm.","type":"thinking"},{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/LafPsn4a"},{"type":"tool_use","id":"toolu_r","name":"bash","input":{"command":"id"}}]`,
		"omitted":        `[{"signature":"b21pdA==","thinking":"","type":"thinking"},{"type":"tool_use","id":"toolu_o","name":"bash","input":{}}]`,
		"thinking":       `[{"signature":"c2ln","thinking":"Let me see: 1 < 2 & 3.","type":"thinking"},{"type":"text","text":"4"}]`,
	} {
		t.Run(file, func(t *testing.T) {
			m := played(t, file)
			messages := []sdk.Message{user("a"), m}
			if len(m.Calls) > 0 {
				messages = append(messages, result(m.Calls[0].ID, "1"))
			} else {
				messages = append(messages, user("b"))
			}
			var got []struct {
				Content json.RawMessage `json:"content"`
			}
			if err := json.Unmarshal([]byte(sentMessages(t, messages...)), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got[1].Content)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// played is the answer of a golden file as the next request has it. Its Extra goes
// through the encoder that the plugin wire uses, and HOST stands for the server.
func played(t *testing.T, file string) sdk.Message {
	t.Helper()
	a := server(t, settings{}, inPieces(readGolden(t, file), 61))
	got, err := collect(t, a, hello())
	if err != nil {
		t.Fatal(err)
	}
	m := answer(got.Text, got.Calls...)
	m.Extra = []byte(strings.ReplaceAll(string(got.Extra), a.client.Host(), "HOST"))
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back sdk.Message
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// TestThinkingThatDoesNotGoBack: what another server wrote, what a secret was taken
// out of, and what is no Extra of ours is left out; where only the text was changed
// the thinking goes first.
func TestThinkingThatDoesNotGoBack(t *testing.T) {
	const plain = `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"Wait."},{"type":"tool_use","id":"toolu_t","name":"bash","input":{"command":"id"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_t","content":"1"}]}]`
	for name, change := range map[string]func(*sdk.Message){
		"another server": func(m *sdk.Message) { m.Extra = []byte(strings.ReplaceAll(string(m.Extra), "HOST", "https://x")) },
		"a secret":       func(m *sdk.Message) { m.Extra = []byte(strings.ReplaceAll(string(m.Extra), "First", "[hidden]")) },
		"no object":      func(m *sdk.Message) { m.Extra = []byte(`[1]`) },
	} {
		m := played(t, "thinking-tools")
		change(&m)
		if got := sentMessages(t, user("a"), m, result("toolu_t", "1")); got != plain {
			t.Errorf("%s: %s", name, got)
		}
	}
	m := played(t, "thinking-tools")
	m.Text = "Wait [hidden]."
	got := sentMessages(t, user("a"), m, result("toolu_t", "1"))
	if !strings.Contains(got, `"content":[{"signature":"c2ln\\/+==","thinking":"First.","type":"thinking"},{"signature":"c2VjMg==","thinking":"Then.","type":"thinking"},{"type":"text","text":"Wait [hidden]."},{"type":"tool_use"`) {
		t.Errorf("a changed text: %s", got)
	}
}
