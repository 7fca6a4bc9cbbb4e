package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// jsonCalls is how each verb of a daemon is called by TestJSON.
var jsonCalls = map[string]string{
	"run": "x", "chat": "", "acp": "", "runs list": "", "runs show": "r1", "runs abort": "r1", "runs resume": "r1", "runs compact": "r1", "runs fork": "r1", "runs diff": "r1", "runs undo": "r1 --yes", "runs redo": "r1 --yes",
	"runs reset": "r1", "runs rm": "r1 --yes", "runs rename": "r1 r2", "runs config": "r1", "runs inject": "r1 go", "entries ls": "--run r1", "entries get": "--run r1 known://a", "entries set": "--run r1 known://a x", "entries rm": "--run r1 known://a", "entries cp": "--run r1 known://a known://b", "entries mv": "--run r1 known://a known://b", "memory ls": "", "memory search": "x", "memory show": "town", "memory add": "town Utrecht", "memory edit": "town Utrecht", "memory rm": "town", "memory export": "", "memory log": "", "memory off": "--agent a", "memory on": "", "project init": "", "project files": "", "project constrain": "", "journal": "", "proposals list": "", "proposals show": "1a2b3c4d", "proposals accept": "1a2b3c4d --yes",
	"proposals reject": "1a2b3c4d", "proposals answer": "2a2b3c4d --cancel", "proposals edit": "1a2b3c4d", "notify": "", "policy rules": "", "policy forget": "3f2a", "explain": "1a2b3c4d", "audit list": "", "audit verify": "", "audit export": "",
	"tools list": "", "tools info": "bash", "tools call": "bash {}", "web fetch": "https://example.org/", "agents ls": "", "plan new": "tidy up", "agents show": "default", "skills list": "", "skills reload": "", "skills info": "pdf", "skills paths": "", "skills enable": "pdf", "skills disable": "pdf", "skills match": "x",
	"skills explain": "pdf", "skills create": "pdf", "trust": "", "mcp list": "", "mcp serve": "", "mcp tools": "notes", "mcp read": "notes note://1", "mcp prompt": "notes", "mcp login": "notes", "mcp logout": "notes", "plugins list": "", "plugins reload": "bash", "plugins dev": "bothy-plugin-x", "channels ls": "", "channels pair": "chat", "channels rm": "chat/12", "hooks": "", "models list": "", "models pull": "qwen3", "usage": "", "status": "",
	"auth list": "", "auth login": "K", "auth logout": "K", "config reload": "", "backup": "", "version": "", "completion": "bash", "man": "",
	"stop": "",
}

// TestJSON: every verb that takes --json prints JSON and nothing else to standard output,
// or refuses it. A new verb wants a line above.
func TestJSON(t *testing.T) {
	parser, err := kong.New(&cli{}, verbs.Vars())
	if err != nil {
		t.Fatal(err)
	}
	refuse := map[string]bool{"completion": true, "man": true, "acp": true, "mcp serve": true, "plugins dev": true}
	seen := map[string]bool{}
	for _, n := range parser.Model.Leaves(true) {
		verb := strings.Join(verbWords(n), " ")
		if strings.HasPrefix(n.Target.Type().Name(), "offline[") {
			continue // bothyd prints it
		}
		args, known := jsonCalls[verb]
		if !known {
			t.Errorf("bothy %s is not called here", verb)
			continue
		}
		seen[verb] = true
		t.Run(strings.ReplaceAll(verb, " ", "_"), func(t *testing.T) {
			if verb == "stop" { // which waits for the process, and that is this one
				b := newBench(t)
				if b.want(t, exitOK, "stop", "--json"); !json.Valid([]byte(b.out.String())) {
					t.Error(b.out.String())
				}
				return
			}
			b := withDaemon(t, twoTurns)
			b.c.in = strings.NewReader("one\ntwo\n")
			b.daemon.detail.root, b.daemon.detail.runs = b.project, []sdk.Run{{ID: 7, Alias: "r1", Project: 1, Status: sdk.StatusOK}}
			b.daemon.keys.list = rpc.Keys{Keys: []rpc.Key{{Name: "K", UsedBy: []string{"provider p"}}}}
			b.daemon.changes = rpc.Changes{Run: "r1", Project: b.project}
			b.daemon.policy.propose(waiting("1a2b3c4d", "r1", time.Minute))
			code := b.run(append([]string{"--json"}, strings.Fields(verb+" "+args)...)...)
			values := 0
			for dec := json.NewDecoder(strings.NewReader(b.out.String())); ; values++ {
				var v any
				if err := dec.Decode(&v); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%v: %s", err, b.out.String())
				}
			}
			switch {
			case refuse[verb] && (code != exitUsage || values != 0 || !strings.Contains(b.err.String(), "there is no JSON of this")):
				t.Errorf("exit %d: %s%s", code, b.out.String(), b.err.String())
			case !refuse[verb] && code == exitUsage && strings.Contains(b.err.String(), "unexpected argument"):
				t.Errorf("it was not called: %s", b.err.String())
			case !refuse[verb] && code == exitOK && values == 0 && verb != "journal" && !strings.HasPrefix(verb, "audit "):
				t.Errorf("it printed nothing: %s", b.err.String())
			}
		})
	}
	for verb := range jsonCalls {
		if !seen[verb] {
			t.Errorf("there is no verb %s", verb)
		}
	}
}
