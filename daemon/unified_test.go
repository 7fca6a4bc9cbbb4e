package daemon

import (
	"encoding/json"
	"slices"
	"testing"
)

// specMethods are the methods of the protocol that this one continues, each with its parameters.
var specMethods = map[string][]string{
	"ping":             {},
	"discover":         {},
	"init":             {"name", "projectRoot", "configPath"},
	"getModels":        {"limit", "offset"},
	"addModel":         {"alias", "actual", "contextLength"},
	"removeModel":      {"alias"},
	"get":              {"path", "run", "persist", "readonly"},
	"set":              {"run", "path", "body", "attributes"},
	"rm":               {"run", "path"},
	"mv":               {"run", "path", "to"},
	"cp":               {"run", "path", "to"},
	"update":           {"run", "body", "status", "attributes"},
	"store":            {"path", "run", "persist", "ignore", "clear"},
	"getConstraints":   {},
	"getEntries":       {"pattern", "body", "run", "limit", "offset"},
	"startRun":         {"model", "temperature", "persona", "contextLimit", "yolo"},
	"ask":              {"prompt", "model", "run", "temperature", "persona", "contextLimit", "noRepo", "noInteraction", "noWeb", "noProposals", "noMemory", "yolo", "fork"},
	"act":              {"prompt", "model", "run", "temperature", "persona", "contextLimit", "noRepo", "noInteraction", "noWeb", "noProposals", "noMemory", "yolo", "fork"},
	"run/resolve":      {"run", "resolution"},
	"run/abort":        {"run"},
	"run/rename":       {"run", "name"},
	"run/inject":       {"run", "message"},
	"run/config":       {"run", "temperature", "persona", "contextLimit", "model"},
	"stream":           {"run", "path", "channel", "chunk"},
	"stream/completed": {"run", "path", "exit_code", "duration"},
	"stream/aborted":   {"run", "path", "reason", "duration"},
	"stream/cancel":    {"run", "path", "reason"},
	"getRuns":          {"limit", "offset"},
	"getRun":           {"run"},
}

// TestMethodsOfTheSpec: each is served, and takes what it is given there.
// spec: rpc_methods
func TestMethodsOfTheSpec(t *testing.T) {
	s := newSite(t, withoutSandbox, "listen {\n  web = \"127.0.0.1:0\"\n}\n")
	s.up()
	catalogue := s.plain(t, "submit").call("discover", map[string]any{})
	methods, _ := catalogue["methods"].(map[string]any)
	for name, params := range specMethods {
		m, ok := methods[name].(map[string]any)
		if !ok {
			t.Errorf("%s is not served", name)
			continue
		}
		schema, _ := m["params"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for _, p := range params {
			if _, ok := properties[p]; !ok {
				t.Errorf("%s takes no %s", name, p)
			}
		}
	}
}

// TestUnifiedAPI: a model is offered the tools that its agent names, and a client has a method for each of the verbs and for the life
// of runs, which no model has.
// spec: unified_api
func TestUnifiedAPI(t *testing.T) {
	s := newSite(t, "agent \"all\" {\n  model = \"steps/steps\"\n  tools = [\"set\", \"get\", \"rm\", \"cp\", \"mv\", \"update\", \"sh\", \"env\", \"ask_user\"]\n}\n", "listen {\n  web = \"127.0.0.1:0\"\n}\n")
	s.up()
	p := s.plain(t, "submit")
	methods, _ := p.call("discover", map[string]any{})["methods"].(map[string]any)
	offered := func(mode string) []string {
		p.call("journal/watch", map[string]any{"project": s.project, "states": "increments"})
		prompt, _ := json.Marshal(plan{Tag: mode, Steps: 0})
		p.call(mode, map[string]any{"project": s.project, "prompt": string(prompt), "agent": "all", "run": mode})
		p.until("the end", func(m map[string]any) bool {
			state, _ := m["params"].(map[string]any)
			return m["method"] == "run/state" && state["status"] == 200.0 && state["run"] == mode
		})
		return s.model.offered()
	}
	act, ask := offered("act"), offered("ask")
	for _, c := range []struct {
		name             string
		act, ask, client bool
	}{
		{"get", true, true, true}, {"set", true, true, true}, {"rm", true, true, true}, {"mv", true, true, true}, {"cp", true, true, true}, {"update", true, true, true},
		{"sh", true, false, false}, {"env", true, true, false}, {"ask_user", true, true, false},
		{"ask", false, false, true}, {"act", false, false, true}, {"startRun", false, false, true}, {"run/resolve", false, false, true}, {"run/abort", false, false, true},
		{"getRuns", false, false, true}, {"getModels", false, false, true}, {"getEntries", false, false, true},
	} {
		_, client := methods[c.name]
		if slices.Contains(act, c.name) != c.act || slices.Contains(ask, c.name) != c.ask || client != c.client {
			t.Errorf("%s: a model has it in act: %v, in ask: %v; a client: %v", c.name, slices.Contains(act, c.name), slices.Contains(ask, c.name), client)
		}
	}
}
