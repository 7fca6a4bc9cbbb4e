package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
)

// TestAnswersCountOnce: an answer is good once, in its time, and for the call that was asked about.
func TestAnswersCountOnce(t *testing.T) {
	var p pending
	now := time.Now()
	arguments := json.RawMessage(`{"path":"x", "n":1}`)
	ask := func() string { return p.keep(question{tool: "write_file", arguments: arguments}, now) }
	for name, c := range map[string]struct {
		tool, arguments string
		at              time.Duration
		is              bool
	}{
		"the same":        {"write_file", `{"n":1,"path":"x"}`, 0, true},
		"another tool":    {"delete_path", `{"path":"x","n":1}`, 0, false},
		"other arguments": {"write_file", `{"path":"y","n":1}`, 0, false},
		"too late":        {"write_file", `{"path":"x","n":1}`, pendingFor + time.Second, false},
	} {
		id := ask()
		if _, is := p.take(id, c.tool, json.RawMessage(c.arguments), now.Add(c.at)); is != c.is {
			t.Errorf("%s: %v", name, is)
		}
		if _, again := p.take(id, c.tool, json.RawMessage(c.arguments), now.Add(c.at)); again {
			t.Errorf("%s: twice", name)
		}
	}
	if _, is := p.take("made up", "write_file", arguments, now); is {
		t.Error("an answer to nothing counts")
	}
}

// TestQuestionsAreFew: however many are asked and never answered.
func TestQuestionsAreFew(t *testing.T) {
	var p pending
	now := time.Now()
	first := p.keep(question{tool: "t"}, now)
	last := ""
	for i := range 10 * mostPending {
		last = p.keep(question{tool: fmt.Sprint(i)}, now.Add(time.Duration(i+1)*time.Millisecond))
	}
	if len(p.all) > mostPending {
		t.Errorf("%d are kept", len(p.all))
	}
	if _, is := p.all[first]; is {
		t.Error("the oldest is kept")
	}
	if _, is := p.all[last]; !is {
		t.Error("the newest is not kept")
	}
	p.keep(question{}, now.Add(time.Hour))
	if len(p.all) != 1 {
		t.Errorf("%d are kept after their time", len(p.all))
	}
}

// TestPluginsQuestions: a plugin's question is asked with its own schema, in its order, where the client can and may
// ask it: for a secret no form of the protocol may ask.
func TestPluginsQuestions(t *testing.T) {
	form, address := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}, &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
	const trip = `{"properties":{"a":{"type":"string"},"z":{"type":"string"}},"type":"object"}`
	for name, c := range map[string]struct {
		q    sdk.Question
		can  *mcp.ElicitationCapabilities
		want string // the schema or the URL; empty is not asked
	}{
		"a form":                        {sdk.Question{Message: "Where to?", Schema: json.RawMessage(trip), Order: []string{"z", "a"}}, form, `{"properties":{"z":{"type":"string"},"a":{"type":"string"}},"type":"object"}`},
		"a form of before":              {sdk.Question{Message: "Where to?", Schema: json.RawMessage(trip)}, &mcp.ElicitationCapabilities{}, trip},
		"a yes":                         {sdk.Question{Message: "Where to?"}, form, string(nothing)},
		"a form, and addresses alone":   {sdk.Question{Message: "Where to?", Schema: json.RawMessage(trip)}, address, ""},
		"an address":                    {sdk.Question{Message: "Where to?", URL: "https://a.example/x"}, address, "https://a.example/x"},
		"an address that looks like it": {sdk.Question{Message: "Where to?", URL: "https://а.example/x"}, address, ""},
		"an address, and forms alone":   {sdk.Question{Message: "Where to?", URL: "https://a.example/x"}, form, ""},
		"a secret":                      {sdk.Question{Message: "Where to?", Schema: json.RawMessage(`{"type":"object","properties":{"pin":{"type":"string","format":"password"}}}`)}, form, ""},
	} {
		got, can := asks(sdk.Proposal{ID: "7", Question: &c.q, Decision: sdk.Decision{Reason: "the plugin trips asks"}}, c.can)
		if can != (c.want != "") {
			t.Errorf("%s: asked is %v", name, can)
		}
		if !can {
			continue
		}
		schema, _ := got.RequestedSchema.(json.RawMessage)
		if string(schema)+got.URL != c.want || !strings.HasPrefix(got.Message, "Where to?") || !strings.Contains(got.Message, "the plugin trips asks") || (got.Mode == "url") != (c.q.URL != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
