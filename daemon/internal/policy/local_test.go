package policy

import (
	"encoding/json"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestLocal(t *testing.T) {
	inProject := sdk.Tool{Grants: []string{sdk.GrantProject}}
	shell := sdk.Tool{ToolSpec: sdk.ToolSpec{Command: "command"}, Grants: []string{sdk.GrantProject, sdk.GrantSandbox}}
	for given, want := range map[string]string{
		`{"path":"/workspace/src/main.go"}`:                           `{"path":"src/main.go"}`,
		`{"path":"/home/me/p/src/main.go","limit":10000000000000001}`: `{"limit":10000000000000001,"path":"src/main.go"}`,
		`{"path":"/workspace"}`:                                       `{"path":"."}`,
		`{"path":"/workspace/"}`:                                      `{"path":"."}`,
		`{"path":"/workspace//a"}`:                                    `{"path":"a"}`,
		`{"file_path":"/workspace/a","content":"/workspace/a <b>"}`:   `{"content":"/workspace/a <b>","file_path":"a"}`,
		`{"paths":["/workspace/a","b"]}`:                              `{"paths":["a","b"]}`,
		`{"files":{"/workspace/a":{"path":"/workspace/x"},"b":"y"}}`:  `{"files":{"a":{"path":"/workspace/x"},"b":"y"}}`,
		`{"files":{"/workspace/a":1,"a":2}}`:                          "",
		`{"files":{"/workspace/a":1,"/workspace//a":2}}`:              `{"files":{"/workspace/a":1,"a":2}}`,
		`{"edits":[{"path":"/workspace/a","new":"/workspace"}]}`:      `{"edits":[{"new":"/workspace","path":"a"}]}`,
		`{"path":"/workspace/../etc/passwd"}`:                         `{"path":"../etc/passwd"}`, // and is refused as that
		`{"path":"/workspaces/a"}`:                                    "",
		`{"path":"/home/me/p2"}`:                                      "",
		`{"path":"/etc/passwd"}`:                                      "",
		`{"path":"src/a"}`:                                            "",
		`{"text":"/workspace/a"}`:                                     "",
		`{"path":7}`:                                                  "",
		`[]`:                                                          "",
		`{`:                                                           "",
	} {
		got := string(Local(inProject, "/home/me/p", "project", json.RawMessage(given)))
		if got != want && !(want == "" && same(t, got, given)) {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
		for name, tool := range map[string]sdk.Tool{"without the project": {}, "that runs commands": shell} {
			if got := Local(tool, "/home/me/p", "project", json.RawMessage(given)); got != nil {
				t.Errorf("%s of a tool %s: got %s", given, name, got)
			}
		}
	}
}

// same says whether two texts are the same JSON.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	first, err := json.Marshal(x)
	second, err2 := json.Marshal(y)
	return err == nil && err2 == nil && string(first) == string(second)
}

// TestLocalKnowsThePlace: a path that could stand for two folders stands for neither.
func TestLocalKnowsThePlace(t *testing.T) {
	tool := sdk.Tool{Grants: []string{sdk.GrantProject}}
	for _, c := range []struct{ project, place, path, want string }{
		{"/p", "private", "/workspace/a", ""}, {"/p", "private", "/p/a", "a"}, {"/p", "direct", "/workspace/a", "a"}, {"/p", "", "/workspace/a", "a"},
		{"/workspace", "project", "/workspace/a", "a"}, {"/workspace", "private", "/workspace/a", ""},
		{"/workspace/p", "project", "/workspace/p/a", ""}, {"/workspace/p", "project", "/workspace/a", ""},
		{"/", "project", "/workspace/a", ""}, {"", "project", "/workspace/a", ""},
	} {
		given, err := json.Marshal(map[string]string{"path": c.path})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.want != "" {
			want = `{"path":"` + c.want + `"}`
		}
		if got := string(Local(tool, c.project, c.place, given)); got != want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestLocalOnce: what was written anew has nothing more to write anew, and no name is lost.
func TestLocalOnce(t *testing.T) {
	tool := sdk.Tool{Grants: []string{sdk.GrantProject}}
	at := rapid.StringMatching(`(/workspace|/p|/|\.\.|a|b){1,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		files := rapid.MapOf(at, rapid.Int()).Draw(rt, "files")
		given, err := json.Marshal(map[string]any{"path": at.Draw(rt, "path"), "files": files})
		if err != nil {
			rt.Fatal(err)
		}
		once := Local(tool, "/p", "project", given)
		if once == nil {
			return
		}
		var now struct {
			Path  string
			Files map[string]int
		}
		if err := json.Unmarshal(once, &now); err != nil || len(now.Files) != len(files) {
			rt.Fatalf("%s became %s, %v", given, once, err)
		}
		if left := maps.Clone(now.Files); len(left) == len(files) && now.Path != "" && now.Path[0] == '/' {
			var l localizer
			l.tops = []string{workspace, "/p"}
			if l.path(now.Path); l.changed {
				rt.Fatalf("%s became %s", given, once)
			}
		}
	})
}

// TestRulesSeeBothForms: a rule that denies or proposes catches a path in whichever form
// the rule or the model writes it; one that allows speaks of what the tool gets.
func TestRulesSeeBothForms(t *testing.T) {
	write := tool("write_file", true, destructive, sdk.GrantProject)
	decide := func(path string, r sdk.PolicyRule) sdk.Decision {
		r.Name, r.Source = "r", "f:1"
		request := callOf(write, map[string]any{"path": path})
		request.Project, request.Mode, request.Attended = "/p", sdk.ModeInteractive, true
		return New(Settings{Rules: []sdk.PolicyRule{r}}).Decide(request)
	}
	for _, path := range []string{"secret/a", "/workspace/secret/a", "/p/secret/a"} {
		for name, r := range map[string]sdk.PolicyRule{
			"paths": {Verdict: sdk.Deny, Paths: []string{"secret/**"}}, "arguments": {Verdict: sdk.Deny, Arguments: map[string]string{"path": "secret/*"}},
		} {
			if d := decide(path, r); d.Verdict != sdk.Deny || d.Rule != "r" {
				t.Errorf("%s, a rule of %s: %+v", path, name, d)
			}
		}
		if d := decide(path, sdk.PolicyRule{Verdict: sdk.Deny, Arguments: map[string]string{"path": path}}); d.Rule != "r" {
			t.Errorf("%s as it is written: %+v", path, d)
		}
		for name, r := range map[string]sdk.PolicyRule{
			"paths": {Verdict: sdk.Allow, Paths: []string{"secret/**"}}, "arguments": {Verdict: sdk.Allow, Arguments: map[string]string{"path": "secret/*"}},
		} {
			if d := decide(path, r); d.Verdict != sdk.Allow {
				t.Errorf("%s, an allow rule of %s: %+v", path, name, d)
			}
		}
	}
	for path, want := range map[string]sdk.Verdict{
		"/workspace/.bothy/config.hcl": sdk.Deny, "/p/.git/config": sdk.Deny, "/workspace/../etc/passwd": sdk.Deny, "/p/../q": sdk.Deny, "/etc/passwd": sdk.Deny, "/workspace": sdk.Deny,
		"/workspace/a": sdk.Propose, "/p/.vscode/tasks.json": sdk.Propose,
	} {
		if d := decide(path, sdk.PolicyRule{Verdict: sdk.Deny, Tools: []string{"other"}}); d.Verdict != want {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

// TestLinesKnowTheProjectsOwnPath: a command line that names the project as the host has it
// names what lies at /workspace.
func TestLinesKnowTheProjectsOwnPath(t *testing.T) {
	decide := func(set Settings, mode sdk.Mode, arguments map[string]any, project string) sdk.Decision {
		request := callOf(commands(tool("bash", true, destructive, sdk.GrantSandbox, sdk.GrantProject)), arguments)
		request.Project, request.Mode, request.Attended = project, mode, true
		return New(set).Decide(request)
	}
	secret := Settings{Rules: []sdk.PolicyRule{{Name: "r", Source: "f:1", Verdict: sdk.Deny, Paths: []string{"secrets/**"}}}}
	for _, arguments := range []map[string]any{
		{"command": "cat secrets/k"}, {"command": "cat /workspace/secrets/k"}, {"command": "cat /srv/u/p/secrets/k"}, {"command": "cat k", "dir": "/srv/u/p/secrets"},
		{"command": "cat secrets/k", "dir": "/srv/u/p"}, {"command": "cd /srv/u/p && cat secrets/k"}, {"command": "cat --file=/srv/u/p/secrets/k"},
	} {
		if d := decide(secret, sdk.ModeFull, arguments, "/srv/u/p"); d.Verdict != sdk.Deny || d.Rule != "r" {
			t.Errorf("%v: %+v", arguments, d)
		}
	}
	for line, want := range map[string]sdk.Verdict{
		"ls /srv/u/p/src": sdk.Allow, "cat /srv/u/p/f": sdk.Allow, "cat /srv/u/q/f": sdk.Propose, "cat /srv/u/p2/f": sdk.Propose, "cat /srv/u/p/../f": sdk.Propose,
		"rm -rf /srv/u/p": sdk.Deny, "rm -rf /srv/u/p/*": sdk.Deny, "rm -rf /srv/u": sdk.Deny, "cat /srv/u/p/.env": sdk.Propose, "cd /srv/u/p && cat f": sdk.Allow,
	} {
		if d := decide(Settings{}, sdk.ModeRestricted, map[string]any{"command": line}, "/srv/u/p"); d.Verdict != want {
			t.Errorf("%s: %+v", line, d)
		}
	}
	for place, project := range map[string]string{"private": "/srv/u/p", "project": "/home/bothy/p"} {
		if d := decide(Settings{Workspace: place}, sdk.ModeRestricted, map[string]any{"command": "cat " + project + "/f"}, project); d.Verdict == sdk.Allow {
			t.Errorf("%s, %s: %+v", place, project, d)
		}
	}
}

// TestProjectsThatHoldTheContainersOwn have no path of their own inside: what lies in the
// home of a run is not taken for the project.
func TestProjectsThatHoldTheContainersOwn(t *testing.T) {
	for project, want := range map[string]bool{
		"/srv/p": true, "/tmp/p": true, "/usr/src/p": true, "/home/u/p": true,
		"": false, "/": false, "/home": false, "/tmp": false, "/usr": false, "/home/bothy": false, "/home/bothy/p": false, "/workspace/p": false, "/run/user/1/p": false,
	} {
		if got := ownPath(project); got != want {
			t.Errorf("%q: %v", project, got)
		}
	}
	request := callOf(commands(tool("bash", true, destructive, sdk.GrantSandbox, sdk.GrantProject)), map[string]any{"command": "rm -rf /home/bothy"})
	request.Project, request.Mode = "/home", sdk.ModeFull
	if d := New(Settings{}).Decide(request); d.Verdict != sdk.Deny {
		t.Errorf("got %+v", d)
	}
}
