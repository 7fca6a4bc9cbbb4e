package policy

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestLocal(t *testing.T) {
	tool := sdk.Tool{Grants: []string{sdk.GrantProject}}
	for given, want := range map[string]string{
		`{"path":"/workspace/src/main.go"}`:                           `{"path":"src/main.go"}`,
		`{"path":"/home/me/p/src/main.go","limit":10000000000000001}`: `{"limit":10000000000000001,"path":"src/main.go"}`,
		`{"path":"/workspace"}`:                                       `{"path":"."}`,
		`{"path":"/workspace/"}`:                                      `{"path":"."}`,
		`{"path":"/workspace//a"}`:                                    `{"path":"a"}`,
		`{"file_path":"/workspace/a","content":"/workspace/a <b>"}`:   `{"content":"/workspace/a <b>","file_path":"a"}`,
		`{"paths":["/workspace/a","b"]}`:                              `{"paths":["a","b"]}`,
		`{"files":{"/workspace/a":"/workspace/x","b":"y"}}`:           `{"files":{"a":"/workspace/x","b":"y"}}`,
		`{"files":{"/workspace/a":1,"a":2}}`:                          `{"files":{"/workspace/a":1,"a":2}}`,
		`{"edits":[{"path":"/workspace/a","new":"/workspace"}]}`:      `{"edits":[{"new":"/workspace","path":"a"}]}`,
		`{"path":"/workspace/../etc/passwd"}`:                         `{"path":"../etc/passwd"}`, // and is refused as that
		`{"path":"/workspaces/a"}`:                                    "",
		`{"path":"/home/me/p2"}`:                                      "",
		`{"path":"/etc/passwd"}`:                                      "",
		`{"path":"src/a"}`:                                            "",
		`{"command":"cat /workspace/a"}`:                              "",
		`{"path":7}`:                                                  "",
		`[]`:                                                          "",
		`{`:                                                           "",
	} {
		if got := string(Local(tool, "/home/me/p", json.RawMessage(given))); got != want {
			// A change of a call with two names of one path is a change without a difference.
			if !(want == given && got == given) {
				t.Errorf("%s: got %s, want %s", given, got, want)
			}
		}
		if got := Local(sdk.Tool{}, "/home/me/p", json.RawMessage(given)); got != nil {
			t.Errorf("%s of a tool without the project: got %s", given, got)
		}
	}
}

// TestLocalOnce: what was written anew has nothing more to write anew.
func TestLocalOnce(t *testing.T) {
	tool := sdk.Tool{Grants: []string{sdk.GrantProject}}
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.StringMatching(`(/workspace|/p|/|\.\.|a|b){1,6}`).Draw(rt, "path")
		given, err := json.Marshal(map[string]string{"path": at})
		if err != nil {
			rt.Fatal(err)
		}
		once := Local(tool, "/p", given)
		if once == nil {
			return
		}
		var now struct{ Path string }
		if err := json.Unmarshal(once, &now); err != nil || len(now.Path) > 0 && now.Path[0] == '/' {
			rt.Fatalf("%q became %s, %v", at, once, err)
		}
	})
}
